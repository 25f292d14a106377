// Calls aclnnMhcPreSinkhorn once and prints a digest of its eight outputs: bs 2, seq_len 128, n 4, c 4096, BF16.
//
//   g++ -std=c++17 -I$ROOT/include mhc_pre_sinkhorn.cpp -L$ROOT/lib64 -lascendcl -lnnopbase -lopapi
//       -Wl,-rpath,$ROOT/lib64 -o mhc_pre_sinkhorn        (one line)
//   ./mhc_pre_sinkhorn [--input FILE] [--print N]
//
// $ROOT is an Ascend toolkit root or this package's emulator, which is laid out alike. On a toolkit that splits the
// operator library, link -lopapi_transformer instead of -lopapi.
//
// FILE holds the raw little-endian values of x (bfloat16), phi, alpha and bias (float32), one after the other, without
// a header. If none is given the inputs are made by MakeInput, as ../mhc_pre_sinkhorn.py makes them. From the same
// input both programs print the same lines (there with --digest).

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_mhc_pre_sinkhorn.h"

namespace {

constexpr int64_t BS = 2, SEQ_LEN = 128, N = 4, C = 4096;
constexpr int64_t MIX = N * N + 2 * N;
constexpr int64_t NUM_ITERS = 20;
constexpr double HC_EPS = 1e-6, NORM_EPS = 1e-6;

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

void Check(int32_t status, const char *call)
{
    if (status == 0) {
        return;
    }
    const char *text = aclGetRecentErrMsg();
    throw std::runtime_error(std::string(call) + " returned " + std::to_string(status) +
                             (text != nullptr ? std::string("\n") + text : std::string()));
}

int64_t Count(const Shape &shape)
{
    int64_t count = 1;
    for (const int64_t dim : shape) {
        count *= dim;
    }
    return count;
}

// A device buffer and its descriptor.
struct Tensor {
    std::string name;
    Shape shape;
    aclDataType type = ACL_FLOAT;
    void *address = nullptr;
    aclTensor *handle = nullptr;

    size_t Bytes() const { return static_cast<size_t>(Count(shape)) * (type == ACL_FLOAT ? 4 : 2); }
};

Tensor MakeTensor(AtExit &exit, const char *name, const Shape &shape, aclDataType type, const void *host = nullptr)
{
    Tensor tensor{name, shape, type};
    Check(aclrtMalloc(&tensor.address, tensor.Bytes(), ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    exit.Add([address = tensor.address] { aclrtFree(address); });
    if (host != nullptr) {
        Check(aclrtMemcpy(tensor.address, tensor.Bytes(), host, tensor.Bytes(), ACL_MEMCPY_HOST_TO_DEVICE),
              "aclrtMemcpy");
    }
    tensor.handle = aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                                    shape.size(), tensor.address);
    if (tensor.handle == nullptr) {
        throw std::runtime_error("aclCreateTensor made nothing for " + tensor.name);
    }
    exit.Add([handle = tensor.handle] { aclDestroyTensor(handle); });
    return tensor;
}

struct Input {
    std::vector<uint16_t> x = std::vector<uint16_t>(BS * SEQ_LEN * N * C); // bfloat16 bit patterns
    std::vector<float> phi = std::vector<float>(MIX * N * C);
    std::vector<float> alpha = std::vector<float>(3);
    std::vector<float> bias = std::vector<float>(MIX);
};

// 64 well mixed bits for element `index` of input number `which`; a counter rather than a state, so that a NumPy
// program can make all elements at once.
uint64_t Mixed(uint64_t which, uint64_t index)
{
    uint64_t z = ((which << 40) + index + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// In [-1, 1), exact in float32.
float Uniform(uint64_t which, uint64_t index)
{
    return static_cast<float>(Mixed(which, index) >> 40) / 8388608.0f - 1.0f;
}

uint16_t ToBfloat16(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16); // nearest, ties to even
}

Input MakeInput()
{
    Input input;
    for (size_t i = 0; i < input.x.size(); ++i) {
        // Four uniform numbers add up to nearly a normal one; 37837 is the standard deviation of the sum.
        const uint64_t bits = Mixed(0, i);
        const uint64_t sum = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48);
        input.x[i] = ToBfloat16((static_cast<float>(sum) - 131070.0f) / 37837.0f);
    }
    for (size_t i = 0; i < input.phi.size(); ++i) {
        input.phi[i] = Uniform(1, i) / 128.0f; // 1 / sqrt(n * c)
    }
    for (size_t i = 0; i < input.alpha.size(); ++i) {
        input.alpha[i] = 1.0f + Uniform(2, i) / 2.0f;
    }
    for (size_t i = 0; i < input.bias.size(); ++i) {
        input.bias[i] = Uniform(3, i);
    }
    return input;
}

Input ReadInput(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error("cannot open " + path);
    }
    Input input;
    const auto read = [&](auto &values) {
        const size_t bytes = values.size() * sizeof(values[0]);
        file.read(reinterpret_cast<char *>(values.data()), static_cast<std::streamsize>(bytes));
    };
    read(input.x);
    read(input.phi);
    read(input.alpha);
    read(input.bias);
    if (!file || file.peek() != std::ifstream::traits_type::eof()) {
        const size_t bytes = input.x.size() * 2 + (input.phi.size() + input.alpha.size() + input.bias.size()) * 4;
        throw std::runtime_error(path + " must hold exactly " + std::to_string(bytes) + " bytes");
    }
    return input;
}

// One line: name, shape, the first values, and the float64 sum of all in order.
void PrintDigest(const Tensor &tensor, size_t first)
{
    std::vector<uint8_t> bytes(tensor.Bytes());
    Check(aclrtMemcpy(bytes.data(), bytes.size(), tensor.address, bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST),
          "aclrtMemcpy");
    const size_t count = static_cast<size_t>(Count(tensor.shape));
    const auto value = [&](size_t i) {
        uint32_t bits = 0;
        if (tensor.type == ACL_FLOAT) {
            std::memcpy(&bits, &bytes[i * 4], 4);
        } else {
            uint16_t half;
            std::memcpy(&half, &bytes[i * 2], 2);
            bits = static_cast<uint32_t>(half) << 16;
        }
        float result;
        std::memcpy(&result, &bits, 4);
        return static_cast<double>(result);
    };
    std::printf("%s [", tensor.name.c_str());
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
        std::printf(i == 0 ? "%" PRId64 : ", %" PRId64, tensor.shape[i]);
    }
    std::printf("]");
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
        if (i < first) {
            std::printf(" %.9g", value(i));
        }
        sum += value(i);
    }
    std::printf(" sum %.17g\n", sum);
}

void Run(const Input &input, size_t first)
{
    AtExit exit;
    Check(aclInit(nullptr), "aclInit");
    exit.Add([] { aclFinalize(); });
    Check(aclrtSetDevice(0), "aclrtSetDevice");
    exit.Add([] { aclrtResetDevice(0); });
    aclrtContext context = nullptr;
    Check(aclrtCreateContext(&context, 0), "aclrtCreateContext");
    exit.Add([context] { aclrtDestroyContext(context); });
    Check(aclrtSetCurrentContext(context), "aclrtSetCurrentContext");
    aclrtStream stream = nullptr;
    Check(aclrtCreateStream(&stream), "aclrtCreateStream");
    exit.Add([stream] { aclrtDestroyStream(stream); });

    const Tensor x = MakeTensor(exit, "x", {BS, SEQ_LEN, N, C}, ACL_BF16, input.x.data());
    const Tensor phi = MakeTensor(exit, "phi", {MIX, N * C}, ACL_FLOAT, input.phi.data());
    const Tensor alpha = MakeTensor(exit, "alpha", {3}, ACL_FLOAT, input.alpha.data());
    const Tensor bias = MakeTensor(exit, "bias", {MIX}, ACL_FLOAT, input.bias.data());
    const Tensor hin = MakeTensor(exit, "hin", {BS, SEQ_LEN, C}, ACL_BF16);
    const Tensor hPost = MakeTensor(exit, "hPost", {BS, SEQ_LEN, N}, ACL_FLOAT);
    const Tensor hRes = MakeTensor(exit, "hRes", {BS, SEQ_LEN, N * N}, ACL_FLOAT);
    const Tensor hPre = MakeTensor(exit, "hPre", {BS, SEQ_LEN, N}, ACL_FLOAT);
    const Tensor hcBeforeNorm = MakeTensor(exit, "hcBeforeNorm", {BS, SEQ_LEN, MIX}, ACL_FLOAT);
    const Tensor invRms = MakeTensor(exit, "invRms", {BS, SEQ_LEN, 1}, ACL_FLOAT);
    const Tensor sumOut = MakeTensor(exit, "sumOut", {2 * NUM_ITERS, BS, SEQ_LEN, N}, ACL_FLOAT);
    const Tensor normOut = MakeTensor(exit, "normOut", {2 * NUM_ITERS, BS, SEQ_LEN, N, N}, ACL_FLOAT);

    uint64_t workspaceSize = 0;
    aclOpExecutor *executor = nullptr;
    Check(aclnnMhcPreSinkhornGetWorkspaceSize(x.handle, phi.handle, alpha.handle, bias.handle, N, NUM_ITERS, HC_EPS,
                                              NORM_EPS, true, hin.handle, hPost.handle, hRes.handle, hPre.handle,
                                              hcBeforeNorm.handle, invRms.handle, sumOut.handle, normOut.handle,
                                              &workspaceSize, &executor),
          "aclnnMhcPreSinkhornGetWorkspaceSize");
    void *workspace = nullptr;
    if (workspaceSize > 0) {
        Check(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        exit.Add([workspace] { aclrtFree(workspace); });
    }
    Check(aclnnMhcPreSinkhorn(workspace, workspaceSize, executor, stream), "aclnnMhcPreSinkhorn");
    Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");

    for (const Tensor *tensor : {&hin, &hPost, &hRes, &hPre, &hcBeforeNorm, &invRms, &sumOut, &normOut}) {
        PrintDigest(*tensor, first);
    }
}

} // namespace

int main(int argc, char **argv)
{
    std::string path;
    long first = 4;
    for (int i = 1; i < argc; i += 2) {
        const std::string option = argv[i];
        char *end = nullptr;
        if (option == "--input" && i + 1 < argc) {
            path = argv[i + 1];
        } else if (option == "--print" && i + 1 < argc && (first = std::strtol(argv[i + 1], &end, 10)) >= 0 &&
                   end != argv[i + 1] && *end == '\0') {
            continue;
        } else {
            std::fprintf(stderr, "usage: %s [--input FILE] [--print N]\n", argv[0]);
            return 2;
        }
    }
    try {
        Run(path.empty() ? MakeInput() : ReadInput(path), static_cast<size_t>(first));
    } catch (const std::exception &error) {
        std::fprintf(stderr, "mhc_pre_sinkhorn: %s\n", error.what());
        return 1;
    }
    return 0;
}
