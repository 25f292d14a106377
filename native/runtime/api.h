// What every C function of the runtime does around its work.
#pragma once

#include <exception>
#include <new>

#include "acl/acl_base_rt.h"
#include "runtime/call_log.h"
#include "runtime/export.h"

namespace aclemu {

// Reports why the current call is refused (printf-like), remembers `code` as the thread's last error and
// returns it.
__attribute__((format(printf, 2, 3))) aclError Fail(aclError code, const char *format, ...);

// 100000 for a parameter that must not be NULL.
aclError FailNull(const char *parameter);

// Marks that this process uses devices, so that its forks cannot.
void MarkUsed();
// In the child of such a fork: nothing of the parent's threads and locks can be used.
ACLEMU_API bool IsForkedChild();
ACLEMU_API aclError FailForked();

// Names the call for the messages made inside, and lets no exception out.
class ACLEMU_API Call {
public:
    explicit Call(const char *name);
    ~Call();
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;

private:
    const char *outer_;
};

template <typename Function>
aclError Api(const char *name, Function function) noexcept
{
    try {
        const Call call(name);
        if (IsForkedChild()) {
            return FailForked();
        }
        aclError code = ACL_SUCCESS;
        try {
            code = function();
        } catch (const std::bad_alloc &) {
            code = Fail(ACL_ERROR_BAD_ALLOC, "host memory is exhausted");
        } catch (const std::exception &error) {
            code = Fail(ACL_ERROR_INTERNAL_ERROR, "%s", error.what());
        }
        if (CallsLogged()) {
            LogCall(name, code);
        }
        return code;
    } catch (...) {
        return ACL_ERROR_BAD_ALLOC; // not even the message could be made
    }
}

} // namespace aclemu
