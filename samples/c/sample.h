// What the sample programs share: clean-up, error checks, device tensors, inputs that NumPy can make as well, digests.
#pragma once

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

namespace sample {

using Shape = std::vector<int64_t>;

// Runs what was added, last first, when the scope is left in whichever way.
class AtExit {
public:
    ~AtExit()
    {
        while (!steps_.empty()) {
            steps_.back()();
            steps_.pop_back();
        }
    }
    void Add(std::function<void()> step) { steps_.push_back(std::move(step)); }

private:
    std::vector<std::function<void()>> steps_;
};

inline void Check(int32_t status, const char *call)
{
    if (status == 0) {
        return;
    }
    const char *text = aclGetRecentErrMsg();
    throw std::runtime_error(std::string(call) + " returned " + std::to_string(status) +
                             (text != nullptr ? std::string("\n") + text : std::string()));
}

// Device 0 and a stream, until `exit` undoes it.
inline aclrtStream Start(AtExit &exit)
{
    Check(aclInit(nullptr), "aclInit");
    exit.Add([] { aclFinalize(); });
    Check(aclrtSetDevice(0), "aclrtSetDevice");
    exit.Add([] { aclrtResetDevice(0); });
    aclrtStream stream = nullptr;
    Check(aclrtCreateStream(&stream), "aclrtCreateStream");
    exit.Add([stream] { aclrtDestroyStream(stream); });
    return stream;
}

// A device buffer and its descriptor.
struct Tensor {
    std::string name;
    Shape shape;
    aclDataType type = ACL_FLOAT;
    void *address = nullptr;
    aclTensor *handle = nullptr;

    size_t Size() const
    {
        size_t count = 1;
        for (const int64_t dim : shape) {
            count *= static_cast<size_t>(dim);
        }
        return count;
    }
    size_t Bytes() const { return Size() * (type == ACL_FLOAT ? 4 : 2); }
};

inline Tensor MakeTensor(AtExit &exit, const char *name, const Shape &shape, aclDataType type, const void *host = nullptr)
{
    Tensor tensor{name, shape, type};
    Check(aclrtMalloc(&tensor.address, tensor.Bytes(), ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    exit.Add([address = tensor.address] { aclrtFree(address); });
    if (host != nullptr) {
        Check(aclrtMemcpy(tensor.address, tensor.Bytes(), host, tensor.Bytes(), ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    }
    tensor.handle = aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND, shape.data(), shape.size(),
                                    tensor.address);
    if (tensor.handle == nullptr) {
        throw std::runtime_error("aclCreateTensor made nothing for " + tensor.name);
    }
    exit.Add([handle = tensor.handle] { aclDestroyTensor(handle); });
    return tensor;
}

// The workspace that a first phase asked for; nullptr for none.
inline void *MakeWorkspace(AtExit &exit, uint64_t size)
{
    void *workspace = nullptr;
    if (size > 0) {
        Check(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        exit.Add([workspace] { aclrtFree(workspace); });
    }
    return workspace;
}

// 64 well mixed bits for element `index` of input number `which`; a counter rather than a state, so that a NumPy program can
// make all elements at once.
inline uint64_t Mixed(uint64_t which, uint64_t index)
{
    uint64_t z = ((which << 40) + index + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

inline uint16_t ToBfloat16(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16); // nearest, ties to even
}

// Input number `which` on the device: uniform in [-scale, scale), exact in float32, then rounded to the type. scale is a
// power of two.
inline Tensor MakeUniform(AtExit &exit, const char *name, const Shape &shape, aclDataType type, uint64_t which,
                          float scale = 1)
{
    Tensor host{name, shape, type};
    std::vector<uint8_t> bytes(host.Bytes());
    for (size_t i = 0; i < host.Size(); ++i) {
        const float value = (static_cast<float>(Mixed(which, i) >> 40) / 8388608.0f - 1.0f) * scale;
        if (type == ACL_FLOAT) {
            std::memcpy(&bytes[i * 4], &value, 4);
        } else {
            const uint16_t narrow = ToBfloat16(value);
            std::memcpy(&bytes[i * 2], &narrow, 2);
        }
    }
    return MakeTensor(exit, name, shape, type, bytes.data());
}

// One line: name, shape, the first values, and the float64 sum of all in order. FLOAT and BF16.
inline void PrintDigest(const Tensor &tensor, size_t first = 4)
{
    std::vector<uint8_t> bytes(tensor.Bytes());
    Check(aclrtMemcpy(bytes.data(), bytes.size(), tensor.address, bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
    std::printf("%s [", tensor.name.c_str());
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
        std::printf(i == 0 ? "%" PRId64 : ", %" PRId64, tensor.shape[i]);
    }
    std::printf("]");
    double sum = 0;
    for (size_t i = 0; i < tensor.Size(); ++i) {
        uint32_t bits = 0;
        if (tensor.type == ACL_FLOAT) {
            std::memcpy(&bits, &bytes[i * 4], 4);
        } else {
            uint16_t narrow;
            std::memcpy(&narrow, &bytes[i * 2], 2);
            bits = static_cast<uint32_t>(narrow) << 16;
        }
        float value;
        std::memcpy(&value, &bits, 4);
        if (i < first) {
            std::printf(" %.9g", static_cast<double>(value));
        }
        sum += static_cast<double>(value);
    }
    std::printf(" sum %.17g\n", sum);
}

// Runs `body`; what it throws becomes a line on stderr and exit code 1.
inline int Main(const char *name, const std::function<void()> &body)
{
    try {
        body();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        return 1;
    }
    return 0;
}

} // namespace sample
