#include <system_error>

#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/context.h"
#include "runtime/counters.h"
#include "runtime/state_callback.h"
#include "runtime/stream.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace aclemu {

aclError Enqueue(aclrtStream handle, std::string name, std::function<TaskResult()> task, Uses uses)
{
    if (IsForkedChild()) {
        return FailForked();
    }
    aclError status = ACL_SUCCESS;
    const auto stream = RequireStream(handle, &status);
    return stream == nullptr ? status : PushTo(*stream, {std::move(name), std::move(task), false, true, std::move(uses)}, nullptr);
}

aclError PushTo(const Stream &stream, TaskQueue::Task task, uint64_t *number)
{
    uint64_t pushed = 0;
    try {
        pushed = stream.queue->Push(std::move(task));
    } catch (const std::system_error &error) {
        return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "no thread for stream %d: %s", stream.id, error.what());
    }
    if (pushed == 0) {
        return Fail(ACL_ERROR_RT_STREAM_CONTEXT, "stream %d is being destroyed", stream.id);
    }
    if (number != nullptr) {
        *number = pushed;
    }
    return ACL_SUCCESS;
}

namespace {

aclError CreateStream(aclrtStream *stream, uint32_t priority, uint32_t flags)
{
    if (stream == nullptr) {
        return FailNull("stream");
    }
    const auto context = RequireContext();
    if (context == nullptr) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    *stream = NewStream(context, priority, flags)->handle;
    CountObject(Kind::STREAM, 1);
    TellStreamState(*stream, ACL_RT_STREAM_STATE_CREATE_POST);
    return ACL_SUCCESS;
}

aclError DestroyStream(aclrtStream handle, bool drop)
{
    if (handle == nullptr) {
        return FailNull("stream");
    }
    aclError status = ACL_SUCCESS;
    const auto stream = RequireStream(handle, &status);
    if (stream == nullptr) {
        return status;
    }
    if (stream->isDefault) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "stream %p is the default stream of its context", handle);
    }
    TellStreamState(handle, ACL_RT_STREAM_STATE_DESTROY_PRE);
    if (Streams().Remove(handle) == nullptr) { // another thread was faster
        return Fail(ACL_ERROR_RT_STREAM_CONTEXT, "stream %p is not alive", handle);
    }
    CountObject(Kind::STREAM, -1);
    EndStream(*stream, drop);
    return ACL_SUCCESS;
}

aclError Synchronize(aclrtStream handle, int64_t timeoutMs)
{
    aclError status = ACL_SUCCESS;
    const auto stream = RequireStream(handle, &status);
    return stream == nullptr ? status : WaitFor(*stream, stream->queue->Last(), timeoutMs);
}

} // namespace
} // namespace aclemu

aclError aclrtCreateStream(aclrtStream *stream)
{
    return Api("aclrtCreateStream", [=] { return aclemu::CreateStream(stream, 0, 0); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    return Api("aclrtCreateStreamWithConfig", [=]() -> aclError {
        const uint32_t known = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_PERSISTENT |
                               ACL_STREAM_HUGE | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;
        if (priority > 7) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID, "parameter priority is %u; it must be from 0 to 7",
                        priority);
        }
        if ((flag & ~known) != 0) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID, "parameter flag is 0x%x; known flags are 0x%x", flag,
                        known);
        }
        return aclemu::CreateStream(stream, priority, flag);
    });
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    return Api("aclrtDestroyStream", [=] { return aclemu::DestroyStream(stream, false); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream)
{
    return Api("aclrtDestroyStreamForce", [=] { return aclemu::DestroyStream(stream, true); });
}

aclError aclrtSynchronizeStream(aclrtStream stream)
{
    return Api("aclrtSynchronizeStream", [=] { return aclemu::Synchronize(stream, -1); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
    return Api("aclrtSynchronizeStreamWithTimeout", [=]() -> aclError {
        if (timeout < -1) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID,
                        "parameter timeout is %d; it must be -1 or a number of milliseconds", timeout);
        }
        return aclemu::Synchronize(stream, timeout);
    });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status)
{
    return Api("aclrtStreamQuery", [=]() -> aclError {
        if (status == nullptr) {
            return FailNull("status");
        }
        aclError code = ACL_SUCCESS;
        const auto found = aclemu::RequireStream(stream, &code);
        if (found == nullptr) {
            return code;
        }
        *status = found->queue->Idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
        return ACL_SUCCESS;
    });
}
