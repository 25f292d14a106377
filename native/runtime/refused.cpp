// Functions of acl/acl_rt.h that make no sense without an NPU: they say so and do nothing.
#include <cstring>

#include "runtime/api.h"

// The prototypes are left out on purpose: with C linkage the symbol is the name alone, and the calling
// conventions of x86-64 and aarch64 let a function ignore what it is passed. tests/abi compares the headers.

namespace aclemu {
namespace {

constexpr const char *BRANCHES = "a stream of the emulator runs its tasks in order, without labels or branches";
constexpr const char *CORES = "cores cannot be shared out; ACLEMU_AICORES sets how many there are";
constexpr const char *DUMPS = "the emulator writes no dumps and no profiles";
constexpr const char *ENGINES = "the emulator has no copy, reduce, random number or cache engine to program";
constexpr const char *GRAPHS = "the emulator captures no tasks into graphs; launch them one by one";
constexpr const char *HARDWARE = "there is no hardware behind the emulator that has such a property";
constexpr const char *LIMITS = "the emulator has no such limited resource to count";
constexpr const char *MAPPING = "device memory of the emulator cannot be mapped by hand; use aclrtMalloc";
constexpr const char *OVERFLOW = "the emulator keeps infinities and NaN instead of an overflow status";
constexpr const char *PROGRAMS = "the emulator runs the operators it was built with; it loads no device binaries";
constexpr const char *QUEUES = "the emulator has no message queues";
constexpr const char *SHARING = "device memory and notifies of the emulator are private to the process";
constexpr const char *SNAPSHOTS = "the emulator takes no snapshots of a process";
constexpr const char *STOPPING = "a running task of the emulator cannot be interrupted; aclrtStreamAbort drops the rest";
constexpr const char *VERSIONS = "there is no CANN package of that name to ask";

aclError Refuse(const char *function, const char *why)
{
    const bool runtime = std::strncmp(function, "aclrt", 5) == 0;
    return Api(function, [=] {
        return Fail(runtime ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_ERROR_FEATURE_UNSUPPORTED,
                    "%s is not available: %s", function, why);
    });
}

} // namespace
} // namespace aclemu

#define REFUSED(function, why)                              \
    extern "C" ACLEMU_API aclError function()               \
    {                                                       \
        return aclemu::Refuse(#function, aclemu::why);      \
    }
// The same for functions that return an object.
#define REFUSED_OBJECT(function, why)                       \
    extern "C" ACLEMU_API void *function()                  \
    {                                                       \
        aclemu::Refuse(#function, aclemu::why);             \
        return nullptr;                                     \
    }
#include "runtime/refused.def"
