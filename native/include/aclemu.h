/* The emulator's own controls. CANN has none of these; look them up with dlsym in programs that run on both. */
#ifndef ACLEMU_H
#define ACLEMU_H

#include <stdint.h>

#include "acl/acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Objects of a kind that are alive in this process: "tensor", "scalar", "array", "list", "executor", "stream",
   "context", "event", "device_memory", "host_memory". -1 for another kind. */
ACL_FUNC_VISIBILITY int64_t aclemuLiveObjects(const char *kind);

#ifdef __cplusplus
}
#endif

#endif
