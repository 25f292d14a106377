// libnnopbase.so of the stub: the objects that operators take.
#include "stub.h"

#include <cstring>

EXPORT size_t stubElementSize(int dtype) {
    switch (dtype) {
        case 2: case 4: case 12: case 34: case 35: case 36: case 37: return 1;
        case 1: case 6: case 7: case 27: return 2;
        case 9: case 10: case 11: case 16: return 8;
        case 17: return 16;
        default: return 4;
    }
}

template <class T> static int Destroy(const char *kind, const T *object) {
    if (object) stubCount(kind, -1);
    delete object;
    return 0;
}

template <class A, class T> static A *Create(const char *kind, const T *values, uint64_t size) {
    auto *made = new A;
    if (values) made->values.assign(values, values + size);
    stubCount(kind, 1);
    return made;
}

EXPORT aclTensor *aclCreateTensor(const int64_t *dims, uint64_t rank, int dtype, const int64_t *strides, int64_t offset,
                                  int format, const int64_t *storage, uint64_t storageRank, void *address) {
    stubCount("tensor", 1);
    return new aclTensor{{dims, dims + rank}, {strides, strides + rank}, {storage, storage + storageRank},
                         offset, dtype, format, address};
}
EXPORT int aclDestroyTensor(const aclTensor *t) { return Destroy("tensor", t); }

EXPORT aclScalar *aclCreateScalar(void *value, int dtype) {
    stubCount("scalar", 1);
    auto *bytes = static_cast<uint8_t *>(value);
    return new aclScalar{dtype, {bytes, bytes + stubElementSize(dtype)}};
}
EXPORT int aclDestroyScalar(const aclScalar *s) { return Destroy("scalar", s); }

EXPORT aclIntArray *aclCreateIntArray(const int64_t *v, uint64_t n) { return Create<aclIntArray>("array", v, n); }
EXPORT aclFloatArray *aclCreateFloatArray(const float *v, uint64_t n) { return Create<aclFloatArray>("array", v, n); }
EXPORT aclBoolArray *aclCreateBoolArray(const bool *v, uint64_t n) { return Create<aclBoolArray>("array", v, n); }
EXPORT int aclDestroyIntArray(const aclIntArray *a) { return Destroy("array", a); }
EXPORT int aclDestroyFloatArray(const aclFloatArray *a) { return Destroy("array", a); }
EXPORT int aclDestroyBoolArray(const aclBoolArray *a) { return Destroy("array", a); }

EXPORT aclTensorList *aclCreateTensorList(const aclTensor *const *v, uint64_t n) {
    return Create<aclTensorList>("list", v, n);
}
EXPORT aclScalarList *aclCreateScalarList(const aclScalar *const *v, uint64_t n) {
    return Create<aclScalarList>("list", v, n);
}
// As in CANN, a list takes its elements with it.
EXPORT int aclDestroyTensorList(const aclTensorList *list) {
    for (const auto *t : list->values) aclDestroyTensor(t);
    return Destroy("list", list);
}
EXPORT int aclDestroyScalarList(const aclScalarList *list) {
    for (const auto *s : list->values) aclDestroyScalar(s);
    return Destroy("list", list);
}

EXPORT int aclDestroyAclOpExecutor(aclOpExecutor *executor) {
    if (!executor) return 561103;
    stubCount("executor", -1);
    delete executor;
    return 0;
}

EXPORT int aclSetAclOpExecutorRepeatable(aclOpExecutor *executor) {
    if (!executor) return 561103;
    if (executor->refuses) return 561000;
    executor->repeatable = true;
    return 0;
}

EXPORT int aclSetRawTensorAddr(aclTensor *tensor, void *address) {
    if (!tensor) return 161001;
    tensor->address = address;
    return 0;
}

static std::vector<size_t> indices; // of the addresses set so far
EXPORT long stubLastIndex() { return indices.empty() ? -1 : static_cast<long>(indices.back()); }

EXPORT int aclSetTensorAddr(aclOpExecutor *executor, size_t index, aclTensor *tensor, void *address) {
    if (!executor || !tensor || !executor->repeatable) return 561103;
    indices.push_back(index);
    tensor->address = address;
    return 0;
}

EXPORT int aclSetDynamicTensorAddr(aclOpExecutor *executor, size_t index, size_t i, aclTensorList *list, void *address) {
    if (!executor || !list || !executor->repeatable) return 561103;
    if (i >= list->values.size()) return 161002;
    indices.push_back(index);
    const_cast<aclTensor *>(list->values[i])->address = address;
    return 0;
}
