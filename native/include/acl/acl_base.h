/* Kept for programs written before the basics moved to acl_base_rt.h. */
#ifndef ACL_ACL_BASE_H
#define ACL_ACL_BASE_H

#include "acl/acl_base_rt.h"

#endif
