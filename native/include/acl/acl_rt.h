/* Devices, contexts, streams, events and memory. */
#ifndef ACL_ACL_RT_H
#define ACL_ACL_RT_H

#include "acl/rt/base.h"
#include "acl/rt/device.h"
#include "acl/rt/event.h"
#include "acl/rt/kernel.h"
#include "acl/rt/memory.h"
#include "acl/rt/memory_sharing.h"
#include "acl/rt/model.h"
#include "acl/rt/stream.h"

#endif
