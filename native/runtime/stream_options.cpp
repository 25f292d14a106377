// How a stream is made and what can be set on it.
#include <cstring>
#include <memory>

#include "acl/acl_rt.h"
#include "runtime/api.h"
#include "runtime/context.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace aclemu {
namespace {

constexpr uint32_t kLeastPriority = 7; // 0 is the most urgent

template <typename Function>
aclError WithStream(const char *name, aclrtStream handle, Function function)
{
    return Api(name, [&]() -> aclError {
        aclError status = ACL_SUCCESS;
        const auto stream = RequireStream(handle, &status);
        return stream == nullptr ? status : function(*stream);
    });
}

aclError SetFailureMode(const Stream &stream, uint64_t mode)
{
    if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID,
                    "parameter mode is %llu; it must be ACL_CONTINUE_ON_FAILURE or ACL_STOP_ON_FAILURE",
                    static_cast<unsigned long long>(mode));
    }
    stream.queue->StopOnFault(mode == ACL_STOP_ON_FAILURE);
    return ACL_SUCCESS;
}

// Switches that are always off here.
aclError SetOff(const char *what, uint32_t value)
{
    if (value > 1) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s is %u; it must be 0 or 1", what, value);
    }
    return value == 0 ? ACL_SUCCESS
                      : Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s is 1, which the emulator does not offer", what);
}

aclError SetAttribute(Stream &stream, aclrtStreamAttr attribute, const aclrtStreamAttrValue &value)
{
    switch (attribute) {
        case ACL_STREAM_ATTR_FAILURE_MODE:
            return SetFailureMode(stream, value.failureMode);
        case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
            return SetOff("value->overflowSwitch", value.overflowSwitch);
        case ACL_STREAM_ATTR_CACHE_OP_INFO:
            return SetOff("value->cacheOpInfoSwitch", value.cacheOpInfoSwitch);
        case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
            stream.tag = value.userCustomTag;
            return ACL_SUCCESS;
        case ACL_STREAM_ATTR_PRIORITY:
            if (value.streamPriority > kLeastPriority) {
                return Fail(ACL_ERROR_RT_PARAM_INVALID, "value->streamPriority is %u; it must be from 0 to %u",
                            value.streamPriority, kLeastPriority);
            }
            stream.priority = value.streamPriority;
            return ACL_SUCCESS;
    }
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "parameter stmAttrType is %d; it must be from %d to %d", attribute,
                ACL_STREAM_ATTR_FAILURE_MODE, ACL_STREAM_ATTR_PRIORITY);
}

aclError GetAttribute(const Stream &stream, aclrtStreamAttr attribute, aclrtStreamAttrValue *value)
{
    aclrtStreamAttrValue found = {};
    switch (attribute) {
        case ACL_STREAM_ATTR_FAILURE_MODE:
            found.failureMode = stream.queue->StopsOnFault() ? ACL_STOP_ON_FAILURE : ACL_CONTINUE_ON_FAILURE;
            break;
        case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        case ACL_STREAM_ATTR_CACHE_OP_INFO:
            break;
        case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
            found.userCustomTag = stream.tag;
            break;
        case ACL_STREAM_ATTR_PRIORITY:
            found.streamPriority = stream.priority;
            break;
        default:
            return Fail(ACL_ERROR_RT_PARAM_INVALID, "parameter stmAttrType is %d; it must be from %d to %d",
                        attribute, ACL_STREAM_ATTR_FAILURE_MODE, ACL_STREAM_ATTR_PRIORITY);
    }
    *value = found;
    return ACL_SUCCESS;
}

// Copies a setting of exactly the size it must have.
template <typename T>
aclError Take(const void *from, size_t size, T *to)
{
    if (size != sizeof(T)) {
        return Fail(ACL_ERROR_INVALID_PARAM, "parameter valueSize is %zu; it must be %zu for this attribute", size,
                    sizeof(T));
    }
    std::memcpy(to, from, size);
    return ACL_SUCCESS;
}

} // namespace
} // namespace aclemu

aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId)
{
    return aclemu::WithStream("aclrtStreamGetId", stream, [=](aclemu::Stream &found) -> aclError {
        if (streamId == nullptr) {
            return FailNull("streamId");
        }
        *streamId = found.id;
        return ACL_SUCCESS;
    });
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority)
{
    return aclemu::WithStream("aclrtStreamGetPriority", stream, [=](aclemu::Stream &found) -> aclError {
        if (priority == nullptr) {
            return FailNull("priority");
        }
        *priority = found.priority;
        return ACL_SUCCESS;
    });
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags)
{
    return aclemu::WithStream("aclrtStreamGetFlags", stream, [=](aclemu::Stream &found) -> aclError {
        if (flags == nullptr) {
            return FailNull("flags");
        }
        *flags = found.flags;
        return ACL_SUCCESS;
    });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode)
{
    return aclemu::WithStream("aclrtSetStreamFailureMode", stream,
                              [=](aclemu::Stream &found) { return aclemu::SetFailureMode(found, mode); });
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag)
{
    return aclemu::WithStream("aclrtSetStreamOverflowSwitch", stream,
                              [=](aclemu::Stream &) { return aclemu::SetOff("parameter flag", flag); });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag)
{
    return aclemu::WithStream("aclrtGetStreamOverflowSwitch", stream, [=](aclemu::Stream &) -> aclError {
        if (flag == nullptr) {
            return FailNull("flag");
        }
        *flag = 0;
        return ACL_SUCCESS;
    });
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value)
{
    return aclemu::WithStream("aclrtSetStreamAttribute", stream, [=](aclemu::Stream &found) -> aclError {
        return value == nullptr ? FailNull("value") : aclemu::SetAttribute(found, stmAttrType, *value);
    });
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value)
{
    return aclemu::WithStream("aclrtGetStreamAttribute", stream, [=](aclemu::Stream &found) -> aclError {
        return value == nullptr ? FailNull("value") : aclemu::GetAttribute(found, stmAttrType, value);
    });
}

aclError aclrtStreamAbort(aclrtStream stream)
{
    return aclemu::WithStream("aclrtStreamAbort", stream, [](aclemu::Stream &found) -> aclError {
        found.queue->Clear();
        return ACL_SUCCESS;
    });
}

aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle()
{
    aclrtStreamConfigHandle *handle = nullptr;
    Api("aclrtCreateStreamConfigHandle", [&]() -> aclError {
        handle = new aclrtStreamConfigHandle();
        return ACL_SUCCESS;
    });
    return handle;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle)
{
    return Api("aclrtDestroyStreamConfigHandle", [=]() -> aclError {
        if (handle == nullptr) {
            return FailNull("handle");
        }
        delete handle;
        return ACL_SUCCESS;
    });
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr, const void *attrValue,
                                 size_t valueSize)
{
    return Api("aclrtSetStreamConfigOpt", [=]() -> aclError {
        if (handle == nullptr) {
            return FailNull("handle");
        }
        if (attrValue == nullptr) {
            return FailNull("attrValue");
        }
        switch (attr) {
            case ACL_RT_STREAM_WORK_ADDR_PTR:
                return aclemu::Take(attrValue, valueSize, &handle->workptr);
            case ACL_RT_STREAM_WORK_SIZE:
                return aclemu::Take(attrValue, valueSize, &handle->workSize);
            case ACL_RT_STREAM_FLAG: {
                uint32_t flag = 0;
                if (valueSize == sizeof(handle->flag)) {
                    return aclemu::Take(attrValue, valueSize, &handle->flag);
                }
                const aclError status = aclemu::Take(attrValue, valueSize, &flag);
                handle->flag = status == ACL_SUCCESS ? flag : handle->flag;
                return status;
            }
            case ACL_RT_STREAM_PRIORITY:
                return aclemu::Take(attrValue, valueSize, &handle->priority);
        }
        return Fail(ACL_ERROR_INVALID_PARAM, "parameter attr is %d; it must be from %d to %d", attr,
                    ACL_RT_STREAM_WORK_ADDR_PTR, ACL_RT_STREAM_PRIORITY);
    });
}

aclError aclrtCreateStreamV2(aclrtStream *stream, const aclrtStreamConfigHandle *handle)
{
    if (handle == nullptr) {
        return Api("aclrtCreateStreamV2", [] { return FailNull("handle"); });
    }
    // The work area is for the device's own bookkeeping; the emulator keeps its own.
    return aclrtCreateStreamWithConfig(stream, handle->priority, static_cast<uint32_t>(handle->flag));
}

aclError aclrtSetTsDevice(aclrtTsId tsId)
{
    return Api("aclrtSetTsDevice", [=]() -> aclError {
        if (tsId == ACL_TS_ID_AICORE) {
            return ACL_SUCCESS;
        }
        return Fail(tsId == ACL_TS_ID_AIVECTOR ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_ERROR_INVALID_PARAM,
                    "parameter tsId is %d; these chips have one task scheduler, ACL_TS_ID_AICORE", tsId);
    });
}
