#include <cstring>

#include "acl/acl_rt.h"
#include "runtime/allocator.h"
#include "runtime/api.h"
#include "runtime/check.h"
#include "runtime/context.h"
#include "runtime/host_pages.h"
#include "runtime/place.h"
#include "runtime/log.h"

using aclemu::Api;
using aclemu::Fail;
using aclemu::FailNull;

namespace aclemu {
namespace {

struct Copy {
    void *dst;
    size_t dstPitch;
    const void *src;
    size_t srcPitch;
    size_t width;
    size_t height;

    bool IsEmpty() const { return width == 0 || height == 0; }
    size_t DstSpan() const { return (height - 1) * dstPitch + width; }
    size_t SrcSpan() const { return (height - 1) * srcPitch + width; }

    void Run() const
    {
        for (size_t row = 0; row < height; ++row) {
            std::memmove(static_cast<char *>(dst) + row * dstPitch,
                         static_cast<const char *>(src) + row * srcPitch, width);
        }
    }
};

bool KindFits(aclrtMemcpyKind kind, bool toDevice, bool fromDevice)
{
    switch (kind) {
        case ACL_MEMCPY_HOST_TO_HOST:
            return !toDevice && !fromDevice;
        case ACL_MEMCPY_HOST_TO_DEVICE:
        case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
            return toDevice && !fromDevice;
        case ACL_MEMCPY_DEVICE_TO_HOST:
            return !toDevice && fromDevice;
        case ACL_MEMCPY_DEVICE_TO_DEVICE:
            return toDevice && fromDevice;
        default:
            return true;
    }
}

aclError CheckKind(aclrtMemcpyKind kind)
{
    if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
        return Fail(ACL_ERROR_INVALID_PARAM, "parameter kind is %d; it must be from %d to %d", kind,
                    ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE);
    }
    return ACL_SUCCESS;
}

aclError FailEmpty(const Copy &copy)
{
    return Fail(ACL_ERROR_INVALID_PARAM, "%zu rows of %zu bytes are nothing to copy; there must be 1 or more of each",
                copy.height, copy.width);
}

// The direction follows from the addresses. A kind that says otherwise is an error of an asynchronous copy
// only.
aclError CheckPlaces(const Copy &copy, aclrtMemcpyKind kind, bool async, bool *pageable)
{
    Place dst = Place::HOST;
    Place src = Place::HOST;
    aclError status = Locate("dst", copy.dst, copy.DstSpan(), &dst);
    if (status == ACL_SUCCESS) {
        status = Locate("src", copy.src, copy.SrcSpan(), &src);
    }
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (dst != Place::DEVICE && !IsWritable(copy.dst, copy.DstSpan())) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "%zu bytes at dst %p are not memory that this process can write",
                    copy.DstSpan(), copy.dst);
    }
    if (src != Place::DEVICE && !IsReadable(copy.src, copy.SrcSpan())) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "%zu bytes at src %p are not memory that this process can read",
                    copy.SrcSpan(), copy.src);
    }
    *pageable = dst == Place::HOST || src == Place::HOST;
    if (KindFits(kind, dst == Place::DEVICE, src == Place::DEVICE)) {
        return ACL_SUCCESS;
    }
    if (async) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID,
                    "parameter kind is %d, but dst %p is %s memory and src %p is %s memory", kind, copy.dst,
                    NameOf(dst), copy.src, NameOf(src));
    }
    if (LogEnabled(LogLevel::WARNING, "RUNTIME")) {
        WriteLog(LogLevel::WARNING, "RUNTIME",
                 "memcpy kind " + std::to_string(kind) + " contradicts the addresses: " + NameOf(src) +
                     " to " + NameOf(dst) + " is copied");
    }
    return ACL_SUCCESS;
}

aclError RunNow(const Copy &copy, aclrtMemcpyKind kind)
{
    if (RequireContext() == nullptr) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    if (copy.IsEmpty()) {
        return FailEmpty(copy);
    }
    bool pageable = false;
    aclError status = CheckPlaces(copy, kind, false, &pageable);
    if (status == ACL_SUCCESS) {
        status = CheckUnused("dst", copy.dst, copy.DstSpan(), true);
    }
    if (status == ACL_SUCCESS) {
        status = CheckUnused("src", copy.src, copy.SrcSpan(), false);
    }
    if (status == ACL_SUCCESS) {
        copy.Run();
    }
    return status;
}

// Registered memory may have been unmapped since the call.
TaskResult RunLater(const Copy &copy)
{
    if ((!InDeviceRange(copy.dst) && !IsWritable(copy.dst, copy.DstSpan())) ||
        (!InDeviceRange(copy.src) && !IsReadable(copy.src, copy.SrcSpan()))) {
        return {ACL_ERROR_RT_INTERNAL_ERROR, "the host memory of this copy is not there any more"};
    }
    copy.Run();
    return {};
}

aclError RunOn(aclrtStream handle, const Copy &copy, aclrtMemcpyKind kind)
{
    aclError status = ACL_SUCCESS;
    const auto stream = RequireStream(handle, &status);
    if (stream == nullptr) {
        return status;
    }
    if (copy.IsEmpty()) {
        return FailEmpty(copy);
    }
    bool pageable = false;
    status = CheckPlaces(copy, kind, true, &pageable);
    if (status != ACL_SUCCESS) {
        return status;
    }
    uint64_t number = 0;
    status = PushTo(*stream,
                    {"memcpy",
                     [copy] { return RunLater(copy); },
                     false, false,
                     {{"dst", copy.dst, copy.DstSpan(), true}, {"src", copy.src, copy.SrcSpan(), false}}},
                    &number);
    // Memory that is not page-locked may go away when the call returns, so the copy keeps its place in the
    // stream but is waited for.
    if (status == ACL_SUCCESS && pageable) {
        stream->queue->Wait(number, -1);
    }
    return status;
}

aclError CheckCopy(const void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
    if (dst == nullptr) {
        return FailNull("dst");
    }
    if (src == nullptr) {
        return FailNull("src");
    }
    const aclError status = CheckKind(kind);
    return status != ACL_SUCCESS ? status : CheckCount("destMax", destMax, count);
}

aclError CheckCopy2d(const Copy &copy, aclrtMemcpyKind kind, bool deviceToDevice)
{
    if (copy.dst == nullptr) {
        return FailNull("dst");
    }
    if (copy.src == nullptr) {
        return FailNull("src");
    }
    if (copy.width > copy.dstPitch || copy.width > copy.srcPitch) {
        return Fail(ACL_ERROR_INVALID_PARAM,
                    "parameter width is %zu; it must not exceed dpitch %zu and spitch %zu", copy.width,
                    copy.dstPitch, copy.srcPitch);
    }
    const bool known = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_HOST ||
                       kind == ACL_MEMCPY_DEFAULT || (deviceToDevice && kind == ACL_MEMCPY_DEVICE_TO_DEVICE);
    if (!known) {
        return Fail(
            ACL_ERROR_INVALID_PARAM,
            "parameter kind is %d; a two-dimensional copy takes host to device, device to host%s or default",
            kind, deviceToDevice ? ", device to device" : "");
    }
    return ACL_SUCCESS;
}

} // namespace
} // namespace aclemu

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
    return Api("aclrtMemcpy", [=]() -> aclError {
        const aclError status = aclemu::CheckCopy(dst, destMax, src, count, kind);
        return status != ACL_SUCCESS ? status : aclemu::RunNow({dst, 0, src, 0, count, 1}, kind);
    });
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream)
{
    return Api("aclrtMemcpyAsync", [=]() -> aclError {
        const aclError status = aclemu::CheckCopy(dst, destMax, src, count, kind);
        return status != ACL_SUCCESS ? status : aclemu::RunOn(stream, {dst, 0, src, 0, count, 1}, kind);
    });
}

aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind)
{
    return Api("aclrtMemcpy2d", [=]() -> aclError {
        const aclemu::Copy copy = {dst, dpitch, src, spitch, width, height};
        const aclError status = aclemu::CheckCopy2d(copy, kind, false);
        return status != ACL_SUCCESS ? status : aclemu::RunNow(copy, kind);
    });
}

aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream)
{
    return Api("aclrtMemcpy2dAsync", [=]() -> aclError {
        const aclemu::Copy copy = {dst, dpitch, src, spitch, width, height};
        const aclError status = aclemu::CheckCopy2d(copy, kind, true);
        return status != ACL_SUCCESS ? status : aclemu::RunOn(stream, copy, kind);
    });
}

aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax, const void *src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream)
{
    // The condition is whether host memory is pinned; a plain asynchronous copy looks at that already.
    return aclrtMemcpyAsync(dst, destMax, src, count, kind, stream);
}
