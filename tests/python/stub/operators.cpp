// libopapi.so of the stub: operators that record, copy, fail, take time or fault.
#include "operator.h"

#include <cstdlib>

static std::string record;

EXPORT const char *stubRecord() { return record.c_str(); }

// `flag` is declared bool in the header; taken as an int here to see the byte that came.
EXPORT int aclnnStubRecordGetWorkspaceSize(const aclTensor *self, const aclTensor *weightOptional, const aclScalar *alpha,
    int64_t big, int8_t cubeMathType, int32_t small, uint32_t count, uint64_t huge, double eps, float scale, int flag,
    char *layout, const char *mode, int dtype, const aclIntArray *dims, const aclFloatArray *factors,
    const aclBoolArray *mask, const aclTensorList *parts, const aclScalarList *weights, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    Recorder all;
    all.Add("self", self).Add("weightOptional", weightOptional).Add("alpha", alpha).Add("big", big).Add("cubeMathType", cubeMathType)
        .Add("small", small).Add("count", count).Add("huge", huge).Add("eps", eps).Add("scale", scale)
        .Add("flag", flag & 0xff).Add("layout", static_cast<const char *>(layout)).Add("mode", mode).Add("dtype", dtype)
        .Add("dims", dims).Add("factors", factors).Add("mask", mask).Add("parts", parts).Add("weights", weights)
        .Add("out", static_cast<const aclTensor *>(out));
    record = all.Text();
    return Finish({[](void *) { return 0; }}, 0, workspaceSize, executor);
}
PHASE2(aclnnStubRecord)

// Copies x to out by way of the workspace, when the stream is waited for. With a workspace of 13 bytes it is one of the
// operators that cannot be made repeatable.
EXPORT int aclnnStubCopyGetWorkspaceSize(const aclTensor *x, int64_t workspace, aclTensor *out, uint64_t *workspaceSize,
                                         aclOpExecutor **executor) {
    if (!x || !out) {
        stubReport("EZ1001: argument x or out is NULL");
        return 161001;
    }
    aclOpExecutor made;
    made.prepare = [=]() -> std::function<int(void *)> {
        size_t bytes = stubElementSize(x->dtype);
        for (int64_t n : x->shape) bytes *= n;
        auto *from = static_cast<const char *>(x->address) + x->offset * stubElementSize(x->dtype);
        void *to = out->address;
        return [=](void *scratch) {
            if (bytes && scratch) memcpy(scratch, from, bytes);
            if (bytes) memcpy(to, scratch ? scratch : from, bytes);
            return 0;
        };
    };
    made.refuses = workspace == 13;
    return Finish(made, workspace, workspaceSize, executor);
}
PHASE2(aclnnStubCopy)

// Says STUB_MESSAGE, if that is set, as the reason.
EXPORT int aclnnStubFailGetWorkspaceSize(const aclTensor *x, int64_t code, int64_t phase, uint64_t *workspaceSize,
                                         aclOpExecutor **executor) {
    const char *message = getenv("STUB_MESSAGE");
    if (message && *message) stubReport(message);
    else if (x && !message) stubReport("EZ1001: [PID: 7] the stub refuses x, expected nothing");
    if (phase == 1) return int(code);
    return Finish({[](void *) { return 0; }, 0, int(code)}, 0, workspaceSize, executor);
}
PHASE2(aclnnStubFail)

// Takes `milliseconds`, then reports `code` to whoever waits for the stream.
EXPORT int aclnnStubWorkGetWorkspaceSize(int64_t milliseconds, int64_t code, uint64_t *workspaceSize,
                                         aclOpExecutor **executor) {
    return Finish({[=](void *) { return int(code); }, milliseconds, 0}, 0, workspaceSize, executor);
}
PHASE2(aclnnStubWork)

EXPORT int aclnnStubHalfGetWorkspaceSize(uint64_t *, aclOpExecutor **) { return 0; }
EXPORT int aclnnStubNoHeaderGetWorkspaceSize(uint64_t *, aclOpExecutor **) { return 161002; }
PHASE2(aclnnStubNoHeader)

// Copies each tensor of x to the one of out at its place.
EXPORT int aclnnStubCopyListGetWorkspaceSize(const aclTensorList *x, const aclTensorList *out, uint64_t *workspaceSize,
                                             aclOpExecutor **executor) {
    if (!x || !out || x->values.size() != out->values.size()) return 161002;
    aclOpExecutor made;
    made.prepare = [=]() -> std::function<int(void *)> {
        std::vector<std::function<void()>> copies;
        for (size_t i = 0; i < x->values.size(); ++i) {
            size_t bytes = stubElementSize(x->values[i]->dtype);
            for (int64_t n : x->values[i]->shape) bytes *= n;
            const void *from = x->values[i]->address;
            void *to = out->values[i]->address;
            copies.push_back([=] { memcpy(to, from, bytes); });
        }
        return [=](void *) {
            for (const auto &copy : copies) copy();
            return 0;
        };
    };
    return Finish(made, 0, workspaceSize, executor);
}
PHASE2(aclnnStubCopyList)

EXPORT int aclnnStubCopyGetMaxWorkspaceSize(const aclTensor *, int64_t workspace, aclTensor *, uint64_t *workspaceSize,
                                            aclOpExecutor **executor) {
    *workspaceSize = 2 * workspace;
    *executor = nullptr;
    return 0;
}
