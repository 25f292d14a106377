#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/context.h"
#include "runtime/counters.h"
#include "runtime/event.h"
#include "runtime/timeouts.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace aclemu {
namespace {

aclError CreateEvent(aclrtEvent *event, uint32_t flag)
{
    const uint32_t known = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE |
                           ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_EXTERNAL | ACL_EVENT_IPC;
    if (event == nullptr) {
        return FailNull("event");
    }
    if ((flag & ~known) != 0) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "parameter flag is 0x%x; known flags are 0x%x", flag, known);
    }
    if (RequireContext() == nullptr) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    void *handle = NewHandle();
    Events().Insert(handle, std::make_shared<Event>((flag & ACL_EVENT_TIME_LINE) != 0));
    CountObject(Kind::EVENT, 1);
    *event = handle;
    return ACL_SUCCESS;
}

std::shared_ptr<Event> RequireEvent(const char *parameter, aclrtEvent handle, aclError *status)
{
    if (handle == nullptr) {
        *status = FailNull(parameter);
        return nullptr;
    }
    std::shared_ptr<Event> event = Events().Find(handle);
    if (event == nullptr) {
        *status = Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p is not alive", parameter, handle);
    }
    return event;
}

// What record, reset and wait share: both handles must be good.
template <typename Function>
aclError WithStream(aclrtEvent eventHandle, aclrtStream streamHandle, Function function)
{
    aclError status = ACL_SUCCESS;
    const auto event = RequireEvent("event", eventHandle, &status);
    if (event == nullptr) {
        return status;
    }
    const auto stream = RequireStream(streamHandle, &status);
    return stream == nullptr ? status : function(*event, stream->queue);
}

aclError Synchronize(aclrtEvent handle, int64_t timeoutMs)
{
    aclError status = ACL_SUCCESS;
    const auto event = RequireEvent("event", handle, &status);
    if (event != nullptr && !event->Synchronize(timeoutMs)) {
        return Fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "event %u was not reached within %lld ms", event->Id(),
                    static_cast<long long>(timeoutMs));
    }
    return status;
}

aclError CheckTimeout(int32_t timeout)
{
    if (timeout < -1) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID,
                    "parameter timeout is %d; it must be -1 or a number of milliseconds", timeout);
    }
    return ACL_SUCCESS;
}

// The only flag there is marks events that captured graphs share.
aclError CheckFlag(uint32_t flag, uint32_t external)
{
    if (flag == 0) {
        return ACL_SUCCESS;
    }
    return Fail(flag == external ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_ERROR_RT_PARAM_INVALID,
                "parameter flag is %u; it must be 0, as the emulator captures no graphs", flag);
}

aclError ReadTime(const char *parameter, aclrtEvent handle, uint64_t *nanoseconds)
{
    aclError status = ACL_SUCCESS;
    const auto event = RequireEvent(parameter, handle, &status);
    if (event == nullptr) {
        return status;
    }
    if (!event->Timed()) {
        return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "%s was made without ACL_EVENT_TIME_LINE",
                    parameter);
    }
    if (!event->Timestamp(nanoseconds)) {
        return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "%s is not recorded, or not reached yet",
                    parameter);
    }
    return ACL_SUCCESS;
}

} // namespace
} // namespace aclemu

aclError aclrtCreateEvent(aclrtEvent *event)
{
    return Api("aclrtCreateEvent",
               [=] { return aclemu::CreateEvent(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE); });
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
    return Api("aclrtCreateEventWithFlag", [=] { return aclemu::CreateEvent(event, flag); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    return Api("aclrtCreateEventExWithFlag", [=] { return aclemu::CreateEvent(event, flag); });
}

aclError aclrtDestroyEvent(aclrtEvent event)
{
    return Api("aclrtDestroyEvent", [=]() -> aclError {
        if (event == nullptr) {
            return FailNull("event");
        }
        if (aclemu::Events().Remove(event) == nullptr) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID, "event %p is not alive", event);
        }
        aclemu::CountObject(aclemu::Kind::EVENT, -1);
        return ACL_SUCCESS;
    });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    return Api("aclrtRecordEvent", [=] {
        return aclemu::WithStream(event, stream,
                                  [](auto &found, const auto &queue) { return found.Record(queue); });
    });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream)
{
    return Api("aclrtResetEvent", [=] {
        return aclemu::WithStream(event, stream,
                                  [](auto &found, const auto &queue) { return found.Reset(queue); });
    });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    return Api("aclrtStreamWaitEvent", [=] {
        return aclemu::WithStream(event, stream,
                                  [](auto &found, const auto &queue) {
                                      return found.MakeWait(queue, aclemu::WaitTimeout());
                                  });
    });
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag)
{
    return Api("aclrtRecordEventWithFlag", [=]() -> aclError {
        const aclError status = aclemu::CheckFlag(flag, ACL_EVENT_RECORD_EXTERNAL);
        return status != ACL_SUCCESS
                   ? status
                   : aclemu::WithStream(event, stream,
                                        [](auto &found, const auto &queue) { return found.Record(queue); });
    });
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t flag)
{
    return Api("aclrtStreamWaitEventWithFlag", [=]() -> aclError {
        const aclError status = aclemu::CheckFlag(flag, ACL_EVENT_WAIT_EXTERNAL);
        if (status != ACL_SUCCESS) {
            return status;
        }
        return aclemu::WithStream(event, stream, [timeout](auto &found, const auto &queue) {
            return found.MakeWait(queue, timeout == 0 ? aclemu::WaitTimeout() : timeout);
        });
    });
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
    return Api("aclrtStreamWaitEventWithTimeout", [=]() -> aclError {
        const aclError status = aclemu::CheckTimeout(timeout);
        if (status != ACL_SUCCESS) {
            return status;
        }
        return aclemu::WithStream(event, stream, [timeout](auto &found, const auto &queue) {
            return found.MakeWait(queue, timeout);
        });
    });
}

aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    return Api("aclrtSynchronizeEvent", [=] { return aclemu::Synchronize(event, -1); });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
{
    return Api("aclrtSynchronizeEventWithTimeout", [=]() -> aclError {
        const aclError status = aclemu::CheckTimeout(timeout);
        return status != ACL_SUCCESS ? status : aclemu::Synchronize(event, timeout);
    });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status)
{
    return Api("aclrtQueryEvent", [=]() -> aclError {
        if (status == nullptr) {
            return FailNull("status");
        }
        aclError code = ACL_SUCCESS;
        const auto found = aclemu::RequireEvent("event", event, &code);
        if (found != nullptr) {
            *status = found->Complete() ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
        }
        return code;
    });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    return Api("aclrtQueryEventStatus", [=]() -> aclError {
        if (status == nullptr) {
            return FailNull("status");
        }
        aclError code = ACL_SUCCESS;
        const auto found = aclemu::RequireEvent("event", event, &code);
        if (found != nullptr) {
            *status =
                found->Complete() ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
        }
        return code;
    });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status)
{
    return Api("aclrtQueryEventWaitStatus", [=]() -> aclError {
        if (status == nullptr) {
            return FailNull("status");
        }
        aclError code = ACL_SUCCESS;
        const auto found = aclemu::RequireEvent("event", event, &code);
        if (found != nullptr) {
            *status =
                found->WaitsComplete() ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
        }
        return code;
    });
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent)
{
    return Api("aclrtEventElapsedTime", [=]() -> aclError {
        if (ms == nullptr) {
            return FailNull("ms");
        }
        uint64_t start = 0;
        uint64_t end = 0;
        aclError status = aclemu::ReadTime("startEvent", startEvent, &start);
        if (status == ACL_SUCCESS) {
            status = aclemu::ReadTime("endEvent", endEvent, &end);
        }
        if (status != ACL_SUCCESS) {
            return status;
        }
        if (end < start) {
            return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, "endEvent was reached before startEvent");
        }
        *ms = static_cast<float>(static_cast<double>(end - start) / 1e6);
        return ACL_SUCCESS;
    });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp)
{
    return Api("aclrtEventGetTimestamp", [=]() -> aclError {
        if (timestamp == nullptr) {
            return FailNull("timestamp");
        }
        uint64_t nanoseconds = 0;
        const aclError status = aclemu::ReadTime("event", event, &nanoseconds);
        if (status == ACL_SUCCESS) {
            *timestamp = nanoseconds / 1000;
        }
        return status;
    });
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId)
{
    return Api("aclrtGetEventId", [=]() -> aclError {
        if (eventId == nullptr) {
            return FailNull("eventId");
        }
        aclError code = ACL_SUCCESS;
        const auto found = aclemu::RequireEvent("event", event, &code);
        if (found != nullptr) {
            *eventId = found->Id();
        }
        return code;
    });
}
