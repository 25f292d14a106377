// Calls aclnnMhcPreV2 once in HF32 mode and prints a digest of its six outputs: T 2048, n 4, D 2560, FP16, gamma.
//
//   g++ -std=c++17 -I$ROOT/include mhc_pre_v2.cpp -L$ROOT/lib64 -lascendcl -lnnopbase -lopapi
//       -Wl,-rpath,$ROOT/lib64 -o mhc_pre_v2        (one line)
//   ./mhc_pre_v2 [--v1] [--input FILE | --ones] [--print N]
//
// $ROOT is an Ascend toolkit root or this package's emulator, which is laid out alike. On a toolkit that splits the
// operator library, link -lopapi_transformer instead of -lopapi. HF32 needs an Ascend 950: the emulator is one unless
// ACLEMU_SOC says otherwise.
//
// FILE holds the raw little-endian values of x (float16), phi, alpha, bias and gamma (float32), one after the other,
// without a header. --ones makes all of them 1, as the published example of the operator means to. Otherwise the inputs
// are made by MakeInput, as ../mhc_pre_v2.py makes them. From the same input both programs print the same lines (there
// with --digest). --v1 calls aclnnMhcPre instead, the first version, which multiplies in FP32.

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
#include "aclnnop/aclnn_mhc_pre.h"
#include "aclnnop/aclnn_mhc_pre_v2.h"

namespace {

constexpr int64_t T = 2048, N = 4, D = 2560;
constexpr int64_t ROWS = N * N + 2 * N; // of phi
constexpr int64_t HF32 = 1;
constexpr double NORM_EPS = 1e-6, HC_EPS = 1e-6; // this operator takes them in this order

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
    std::vector<aclFloat16> x = std::vector<aclFloat16>(T * N * D);
    std::vector<float> phi = std::vector<float>(ROWS * N * D);
    std::vector<float> alpha = std::vector<float>(3);
    std::vector<float> bias = std::vector<float>(ROWS);
    std::vector<float> gamma = std::vector<float>(N * D);
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

Input MakeInput()
{
    Input input;
    for (size_t i = 0; i < input.x.size(); ++i) {
        // Four uniform numbers add up to nearly a normal one; 37837 is the standard deviation of the sum.
        const uint64_t bits = Mixed(0, i);
        const uint64_t sum = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48);
        input.x[i] = aclFloatToFloat16((static_cast<float>(sum) - 131070.0f) / 37837.0f);
    }
    for (size_t i = 0; i < input.phi.size(); ++i) {
        input.phi[i] = Uniform(1, i) / 128.0f;
    }
    for (size_t i = 0; i < input.alpha.size(); ++i) {
        input.alpha[i] = 1.0f + Uniform(2, i) / 2.0f;
    }
    for (size_t i = 0; i < input.bias.size(); ++i) {
        input.bias[i] = Uniform(3, i);
    }
    for (size_t i = 0; i < input.gamma.size(); ++i) {
        input.gamma[i] = 1.0f + Uniform(4, i) / 2.0f;
    }
    return input;
}

Input MakeOnes()
{
    Input input;
    input.x.assign(input.x.size(), aclFloatToFloat16(1.0f)); // aclFloat16(1.0f) would be the integer 1: 6e-8
    for (std::vector<float> *values : {&input.phi, &input.alpha, &input.bias, &input.gamma}) {
        values->assign(values->size(), 1.0f);
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
    read(input.gamma);
    if (!file || file.peek() != std::ifstream::traits_type::eof()) {
        const size_t floats = input.phi.size() + input.alpha.size() + input.bias.size() + input.gamma.size();
        const size_t bytes = input.x.size() * 2 + floats * 4;
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
        if (tensor.type == ACL_FLOAT) {
            float result;
            std::memcpy(&result, &bytes[i * 4], 4);
            return static_cast<double>(result);
        }
        aclFloat16 half;
        std::memcpy(&half, &bytes[i * 2], 2);
        return static_cast<double>(aclFloat16ToFloat(half));
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

void Run(const Input &input, size_t first, bool v1)
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

    const Tensor x = MakeTensor(exit, "x", {T, N, D}, ACL_FLOAT16, input.x.data());
    const Tensor phi = MakeTensor(exit, "phi", {ROWS, N * D}, ACL_FLOAT, input.phi.data());
    const Tensor alpha = MakeTensor(exit, "alpha", {3}, ACL_FLOAT, input.alpha.data());
    const Tensor bias = MakeTensor(exit, "bias", {ROWS}, ACL_FLOAT, input.bias.data());
    const Tensor gamma = MakeTensor(exit, "gamma", {N, D}, ACL_FLOAT, input.gamma.data());
    const Tensor hIn = MakeTensor(exit, "hIn", {T, D}, ACL_FLOAT16);
    const Tensor hPost = MakeTensor(exit, "hPost", {T, N}, ACL_FLOAT);
    const Tensor hRes = MakeTensor(exit, "hRes", {T, N, N}, ACL_FLOAT);
    const Tensor invRms = MakeTensor(exit, "invRms", {T}, ACL_FLOAT);
    const Tensor hMix = MakeTensor(exit, "hMix", {T, ROWS}, ACL_FLOAT);
    const Tensor hPre = MakeTensor(exit, "hPre", {T, N}, ACL_FLOAT);

    uint64_t workspaceSize = 0;
    aclOpExecutor *executor = nullptr;
    if (v1) {
        Check(aclnnMhcPreGetWorkspaceSize(x.handle, phi.handle, alpha.handle, bias.handle, gamma.handle, NORM_EPS,
                                          HC_EPS, hIn.handle, hPost.handle, hRes.handle, invRms.handle, hMix.handle,
                                          hPre.handle, &workspaceSize, &executor),
              "aclnnMhcPreGetWorkspaceSize");
    } else {
        Check(aclnnMhcPreV2GetWorkspaceSize(x.handle, phi.handle, alpha.handle, bias.handle, gamma.handle, NORM_EPS,
                                            HC_EPS, HF32, hIn.handle, hPost.handle, hRes.handle, invRms.handle,
                                            hMix.handle, hPre.handle, &workspaceSize, &executor),
              "aclnnMhcPreV2GetWorkspaceSize");
    }
    void *workspace = nullptr;
    if (workspaceSize > 0) {
        Check(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        exit.Add([workspace] { aclrtFree(workspace); });
    }
    const auto run = v1 ? aclnnMhcPre : aclnnMhcPreV2;
    Check(run(workspace, workspaceSize, executor, stream), v1 ? "aclnnMhcPre" : "aclnnMhcPreV2");
    Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");

    for (const Tensor *tensor : {&hIn, &hPost, &hRes, &invRms, &hMix, &hPre}) {
        PrintDigest(*tensor, first);
    }
}

} // namespace

int main(int argc, char **argv)
{
    setenv("ACLEMU_SOC", "Ascend950PR_9579", 0); // for the emulator; a device does not look
    std::string path;
    bool ones = false;
    bool v1 = false;
    long first = 4;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        char *end = nullptr;
        if (option == "--ones") {
            ones = true;
        } else if (option == "--v1") {
            v1 = true;
        } else if (option == "--input" && i + 1 < argc) {
            path = argv[++i];
        } else if (option == "--print" && i + 1 < argc && (first = std::strtol(argv[i + 1], &end, 10)) >= 0 &&
                   end != argv[i + 1] && *end == '\0') {
            ++i;
        } else {
            std::fprintf(stderr, "usage: %s [--v1] [--input FILE | --ones] [--print N]\n", argv[0]);
            return 2;
        }
    }
    try {
        Run(ones ? MakeOnes() : path.empty() ? MakeInput() : ReadInput(path), static_cast<size_t>(first), v1);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "mhc_pre_v2: %s\n", error.what());
        return 1;
    }
    return 0;
}
