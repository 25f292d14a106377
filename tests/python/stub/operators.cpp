// libopapi.so of the stub: operators that record, copy, fail, take time or fault.
#include "stub.h"

#include <cstdio>
#include <cstring>
#include <sstream>

static std::string record;

static void Numbers(std::ostream &out, const std::vector<int64_t> &values) {
    out << '[';
    for (size_t i = 0; i < values.size(); ++i) out << (i ? "," : "") << values[i];
    out << ']';
}

static void Put(std::ostream &out, const aclTensor *t) {
    if (!t) { out << "null"; return; }
    out << "{\"shape\":";
    Numbers(out, t->shape);
    out << ",\"strides\":";
    Numbers(out, t->strides);
    out << ",\"storage\":";
    Numbers(out, t->storage);
    out << ",\"offset\":" << t->offset << ",\"dtype\":" << t->dtype << ",\"format\":" << t->format
        << ",\"address\":" << reinterpret_cast<uint64_t>(t->address) << '}';
}

static void Put(std::ostream &out, const aclScalar *s) {
    if (!s) { out << "null"; return; }
    out << "{\"dtype\":" << s->dtype << ",\"bytes\":";
    Numbers(out, {s->bytes.begin(), s->bytes.end()});
    out << '}';
}

template <class T> static void PutList(std::ostream &out, const T *list) {
    if (!list) { out << "null"; return; }
    out << '[';
    for (size_t i = 0; i < list->values.size(); ++i) {
        if (i) out << ',';
        Put(out, list->values[i]);
    }
    out << ']';
}

template <class T> static void PutArray(std::ostream &out, const T *array) {
    if (!array) { out << "null"; return; }
    out << '[';
    for (size_t i = 0; i < array->values.size(); ++i) {
        char text[40];
        snprintf(text, sizeof text, "%s%.17g", i ? "," : "", static_cast<double>(array->values[i]));
        out << text;
    }
    out << ']';
}

static int Finish(aclOpExecutor executor, uint64_t size, uint64_t *workspaceSize, aclOpExecutor **out) {
    stubCount("executor", 1);
    *workspaceSize = size;
    *out = new aclOpExecutor(std::move(executor));
    return 0;
}

static int Launch(void *workspace, uint64_t size, aclOpExecutor *executor, void *stream) {
    int code = !executor || (size && !workspace) ? 161001 : executor->launchStatus;
    if (!code) code = stubEnqueue(stream, *executor, workspace);
    stubCount("executor", -1);
    delete executor;
    return code;
}

#define PHASE2(name)                                                                                                \
    EXPORT int name(void *workspace, uint64_t size, aclOpExecutor *executor, void *stream) {                       \
        return Launch(workspace, size, executor, stream);                                                          \
    }

EXPORT const char *stubRecord() { return record.c_str(); }

// `flag` is declared bool in the header; taken as an int here to see the byte that came.
EXPORT int aclnnStubRecordGetWorkspaceSize(const aclTensor *self, const aclTensor *weightOptional, const aclScalar *alpha,
    int64_t big, int8_t cubeMathType, int32_t small, uint32_t count, uint64_t huge, double eps, float scale, int flag,
    char *layout, const char *mode, int dtype, const aclIntArray *dims, const aclFloatArray *factors,
    const aclBoolArray *mask, const aclTensorList *parts, const aclScalarList *weights, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    std::ostringstream s;
    char number[64];
    s << "{\"self\":"; Put(s, self);
    s << ",\"weightOptional\":"; Put(s, weightOptional);
    s << ",\"alpha\":"; Put(s, alpha);
    s << ",\"big\":" << big << ",\"cubeMathType\":" << int(cubeMathType) << ",\"small\":" << small;
    s << ",\"count\":" << count << ",\"huge\":" << huge;
    snprintf(number, sizeof number, "\"%a\"", eps); s << ",\"eps\":" << number;
    snprintf(number, sizeof number, "\"%a\"", double(scale)); s << ",\"scale\":" << number;
    s << ",\"flag\":" << (flag & 0xff);
    s << ",\"layout\":" << (layout ? '"' + std::string(layout) + '"' : "null");
    s << ",\"mode\":" << (mode ? '"' + std::string(mode) + '"' : "null");
    s << ",\"dtype\":" << dtype;
    s << ",\"dims\":"; PutArray(s, dims);
    s << ",\"factors\":"; PutArray(s, factors);
    s << ",\"mask\":"; PutArray(s, mask);
    s << ",\"parts\":"; PutList(s, parts);
    s << ",\"weights\":"; PutList(s, weights);
    s << ",\"out\":"; Put(s, out);
    s << '}';
    record = s.str();
    return Finish({[](void *) { return 0; }}, 0, workspaceSize, executor);
}
PHASE2(aclnnStubRecord)

// Copies x to out by way of the workspace, when the stream is waited for.
EXPORT int aclnnStubCopyGetWorkspaceSize(const aclTensor *x, int64_t workspace, aclTensor *out, uint64_t *workspaceSize,
                                         aclOpExecutor **executor) {
    if (!x || !out) {
        stubReport("EZ1001: argument x or out is NULL");
        return 161001;
    }
    size_t bytes = stubElementSize(x->dtype);
    for (int64_t n : x->shape) bytes *= n;
    const void *from = x->address;
    void *to = out->address;
    auto work = [=](void *scratch) {
        if (bytes && scratch) memcpy(scratch, from, bytes);
        if (bytes) memcpy(to, scratch ? scratch : from, bytes);
        return 0;
    };
    return Finish({work}, workspace, workspaceSize, executor);
}
PHASE2(aclnnStubCopy)

EXPORT int aclnnStubFailGetWorkspaceSize(const aclTensor *x, int64_t code, int64_t phase, uint64_t *workspaceSize,
                                         aclOpExecutor **executor) {
    if (x) stubReport("EZ1001: [PID: 7] the stub refuses x, expected nothing");
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
