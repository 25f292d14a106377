"""What aclnnMhcPreV2 accepts."""

from ._mhc_pre import rules

RULES = rules("aclnnMhcPreV2", mode=True)
