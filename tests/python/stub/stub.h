// A small stand-in for CANN's libraries, built by the tests. It records what really arrives at the C ABI.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

struct aclTensor {
    std::vector<int64_t> shape, strides, storage;
    int64_t offset;
    int dtype, format;
    void *address;
};
struct aclScalar {
    int dtype;
    std::vector<uint8_t> bytes;
};
template <class T> struct Values {
    std::vector<T> values;
};
struct aclIntArray : Values<int64_t> {};
struct aclFloatArray : Values<float> {};
struct aclBoolArray : Values<uint8_t> {};
struct aclTensorList : Values<const aclTensor *> {};
struct aclScalarList : Values<const aclScalar *> {};

struct aclOpExecutor {
    std::function<int(void *workspace)> work; // runs when the stream is waited for; returns a status code
    int64_t milliseconds = 0;                 // how long the work takes
    int launchStatus = 0;                     // what phase 2 returns
    std::function<std::function<int(void *workspace)>()> prepare; // if set, phase 2 makes the work with it
    bool repeatable = false, refuses = false; // refuses: cannot be made repeatable
};

EXPORT void stubReport(const char *text);          // adds to this thread's error text
EXPORT void stubCount(const char *what, int delta); // live objects by kind
EXPORT int stubEnqueue(void *stream, const aclOpExecutor &task, void *workspace);
EXPORT size_t stubElementSize(int dtype);
