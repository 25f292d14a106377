"""What aclnnMhcPre accepts."""

from ._mhc_pre import rules

RULES = rules("aclnnMhcPre", mode=False)
