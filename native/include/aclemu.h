/* The emulator's own controls. CANN has none of these; look them up with dlsym in programs that run on both.
   Those that return aclError return 0, or 100000 with a text for aclGetRecentErrMsg. */
#ifndef ACLEMU_H
#define ACLEMU_H

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Objects of a kind that are alive in this process: "tensor", "scalar", "array", "list", "executor", "stream",
   "context", "event", "notify", "device_memory", "host_memory". -1 for another kind. */
ACL_FUNC_VISIBILITY int64_t aclemuLiveObjects(const char *kind);

/* Writes what is alive, a line per kind and per tensor, operator or allocation, to `text` (at most `size` bytes with the final 0; NULL with 0
   asks for the length). Returns the length without the final 0; 0 when nothing is alive. */
ACL_FUNC_VISIBILITY size_t aclemuLeakReport(char *text, size_t size);

/* Turns on the checks of a list, the others off; NULL or "" turns all off. As ACLEMU_CHECK does at the start.
   memory  Red zones around every later allocation and poison in freed ones. Damage faults the stream of the task
           after which it is found (507015), fails a synchronise (507015) or a free (207002, which still frees).
   sync    Memory that the host copies, fills or frees while a task that is not finished uses it: 107000.
   leaks   aclFinalize writes the leak report to standard error. */
ACL_FUNC_VISIBILITY aclError aclemuSetChecks(const char *list);

/* "async" or "delayed": streams made later run at once, or only when something waits. As ACLEMU_STREAM does. */
ACL_FUNC_VISIBILITY aclError aclemuSetStreamMode(const char *mode);

/* Writes a line per call, "time thread function code", to the end of a file; NULL ends it. As ACLEMU_CALLS does. */
ACL_FUNC_VISIBILITY aclError aclemuLogCalls(const char *path);

/* Faults. ACLEMU_FAULTS sets them at the start: "allocation=3,synchronize=507015,aclnnX.1=561103". */
/* The nth allocation of device memory from now on fails with 207001; 0 takes that back. */
ACL_FUNC_VISIBILITY aclError aclemuFailAllocation(uint64_t nth);
/* Phase 1 or 2 of an operator returns `code` where it would succeed, until it is set to 0. */
ACL_FUNC_VISIBILITY aclError aclemuFailOperator(const char *op, int phase, int32_t code);
/* The next synchronise finds that its stream has faulted with `code`; 0 takes that back. */
ACL_FUNC_VISIBILITY aclError aclemuFailSynchronize(aclError code);

#ifdef __cplusplus
}
#endif

#endif
