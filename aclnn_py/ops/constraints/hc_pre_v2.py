"""What aclnnHcPreV2 accepts."""

from ._hc_pre import hc_pre_rules

RULES = hc_pre_rules("aclnnHcPreV2", v2=True)
