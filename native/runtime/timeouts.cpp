#include "runtime/timeouts.h"

#include <atomic>

#include "acl/acl_rt.h"
#include "runtime/api.h"

using aclemu::Api;

namespace aclemu {
namespace {

std::atomic<uint64_t> g_operator{0};
std::atomic<int64_t> g_wait{-1};

} // namespace

uint64_t OperatorTimeout()
{
    return g_operator.load(std::memory_order_relaxed);
}

int64_t WaitTimeout()
{
    return g_wait.load(std::memory_order_relaxed);
}

} // namespace aclemu

aclError aclrtSetOpWaitTimeout(uint32_t timeout)
{
    return Api("aclrtSetOpWaitTimeout", [=]() -> aclError {
        aclemu::g_wait = timeout == 0 ? -1 : int64_t{timeout} * 1000; // seconds; 0 waits for ever
        return ACL_SUCCESS;
    });
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout)
{
    return Api("aclrtSetOpExecuteTimeOut", [=]() -> aclError {
        aclemu::g_operator = uint64_t{timeout} * 1000; // seconds
        return ACL_SUCCESS;
    });
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout)
{
    return Api("aclrtSetOpExecuteTimeOutWithMs", [=]() -> aclError {
        aclemu::g_operator = timeout;
        return ACL_SUCCESS;
    });
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout)
{
    return Api("aclrtSetOpExecuteTimeOutV2", [=]() -> aclError {
        if (actualTimeout == nullptr) {
            return aclemu::FailNull("actualTimeout");
        }
        const uint64_t milliseconds = timeout / 1000 + (timeout % 1000 != 0 ? 1 : 0); // given in microseconds
        aclemu::g_operator = milliseconds;
        *actualTimeout = milliseconds * 1000;
        return ACL_SUCCESS;
    });
}

aclError aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs)
{
    return Api("aclrtGetOpExecuteTimeout", [=]() -> aclError {
        if (timeoutMs == nullptr) {
            return aclemu::FailNull("timeoutMs");
        }
        *timeoutMs = static_cast<uint32_t>(aclemu::OperatorTimeout());
        return ACL_SUCCESS;
    });
}
