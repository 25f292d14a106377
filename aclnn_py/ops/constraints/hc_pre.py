"""What aclnnHcPre accepts."""

from ._hc_pre import hc_pre_rules

RULES = hc_pre_rules("aclnnHcPre", v2=False)
