// Calls aclnnBSASelectBlockMask once and prints a digest of the mask: 1 sequence, 4 heads, FP16, blocks of 128 x 128 tokens.
//
//   g++ -std=c++17 -I$ROOT/include bsa_select_block_mask.cpp -L$ROOT/lib64 -lascendcl -lnnopbase -lopapi
//       -Wl,-rpath,$ROOT/lib64 -o bsa_select_block_mask        (one line)
//   ./bsa_select_block_mask [--tokens N] [--sparsity S] [--print N]
//
// $ROOT is an Ascend toolkit root or this package's emulator, which is laid out alike. On a toolkit that splits the
// operator library, link -lopapi_transformer instead of -lopapi.
//
// Query and key are made by MakeInput, as ../bsa_select_block_mask.py makes them; both programs print the same lines
// (there with --digest).

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/opdev/fp16_t.h"
#include "aclnnop/aclnn_bsa_select_block_mask.h"

namespace {

constexpr int64_t BATCH = 1, HEADS = 4, HEAD_DIM = 128, BLOCK = 128;
constexpr uint64_t TOPICS = 7, TOPIC_TOKENS = 512;

struct Options {
    int64_t tokens = 16 * 1024;
    double sparsity = 0.25;
    int64_t print = 8;
};

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

// 64 well mixed bits for element `index` of input number `which`; a counter rather than a state, so that a NumPy
// program can make all elements at once.
uint64_t Mixed(uint64_t which, uint64_t index)
{
    uint64_t z = ((which << 40) + index + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// One of 16 numbers around 0, in steps of 2.
int Level(uint64_t which, uint64_t index)
{
    return static_cast<int>(Mixed(which, index) >> 40 & 15) * 2 - 15;
}

// Every 512 tokens are about one of seven topics, which differs from head to head; a token is its topic and noise.
// All values are exact in FP16.
std::vector<op::fp16_t> MakeInput(uint64_t which, uint64_t tokens)
{
    std::vector<op::fp16_t> values;
    values.reserve(HEADS * tokens * HEAD_DIM);
    for (uint64_t head = 0; head < HEADS; ++head) {
        for (uint64_t token = 0; token < tokens; ++token) {
            const uint64_t topic = token / TOPIC_TOKENS * (head + 1) % TOPICS;
            for (uint64_t d = 0; d < HEAD_DIM; ++d) {
                const int level = 2 * Level(2, topic * HEAD_DIM + d) + Level(which, (head * tokens + token) * HEAD_DIM + d);
                values.push_back(op::fp16_t(static_cast<float>(level) / 32.0f));
            }
        }
    }
    return values;
}

// A device buffer and its descriptor.
struct Tensor {
    void *address = nullptr;
    aclTensor *handle = nullptr;
};

Tensor MakeTensor(AtExit &exit, const std::vector<int64_t> &shape, aclDataType type, size_t bytes, const void *host)
{
    Tensor tensor;
    Check(aclrtMalloc(&tensor.address, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    exit.Add([address = tensor.address] { aclrtFree(address); });
    if (host != nullptr) {
        Check(aclrtMemcpy(tensor.address, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    }
    tensor.handle = aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND, shape.data(), shape.size(),
                                    tensor.address);
    if (tensor.handle == nullptr) {
        throw std::runtime_error("aclCreateTensor made nothing");
    }
    exit.Add([handle = tensor.handle] { aclDestroyTensor(handle); });
    return tensor;
}

// A line per head: how many blocks were chosen, the sum of their indices, and the first ones.
void PrintDigest(const std::vector<int8_t> &mask, int64_t blocks, int64_t first)
{
    std::printf("blockSparseMaskOut [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]\n", BATCH, HEADS, blocks, blocks);
    for (int64_t head = 0; head < HEADS; ++head) {
        int64_t ones = 0, sum = 0;
        std::string shown;
        for (int64_t i = 0; i < blocks * blocks; ++i) {
            if (mask[static_cast<size_t>(head * blocks * blocks + i)] != 0) {
                shown += ones < first ? " " + std::to_string(i) : "";
                ++ones;
                sum += i;
            }
        }
        std::printf("head %" PRId64 " ones %" PRId64 " sum of indices %" PRId64 " first%s\n", head, ones, sum, shown.c_str());
    }
}

void Run(const Options &options)
{
    AtExit exit;
    Check(aclInit(nullptr), "aclInit");
    exit.Add([] { aclFinalize(); });
    Check(aclrtSetDevice(0), "aclrtSetDevice");
    exit.Add([] { aclrtResetDevice(0); });
    aclrtStream stream = nullptr;
    Check(aclrtCreateStream(&stream), "aclrtCreateStream");
    exit.Add([stream] { aclrtDestroyStream(stream); });

    const int64_t blocks = (options.tokens + BLOCK - 1) / BLOCK;
    const std::vector<int64_t> shape{BATCH, HEADS, options.tokens, HEAD_DIM};
    const size_t bytes = static_cast<size_t>(BATCH * HEADS * options.tokens * HEAD_DIM) * sizeof(op::fp16_t);
    std::vector<int8_t> result(static_cast<size_t>(BATCH * HEADS * blocks * blocks));
    const Tensor query =
        MakeTensor(exit, shape, ACL_FLOAT16, bytes, MakeInput(0, static_cast<uint64_t>(options.tokens)).data());
    const Tensor key = MakeTensor(exit, shape, ACL_FLOAT16, bytes, MakeInput(1, static_cast<uint64_t>(options.tokens)).data());
    const Tensor mask = MakeTensor(exit, {BATCH, HEADS, blocks, blocks}, ACL_INT8, result.size(), nullptr);
    const int64_t blockShapeValues[] = {BLOCK, BLOCK};
    aclIntArray *blockShape = aclCreateIntArray(blockShapeValues, 2);
    exit.Add([blockShape] { aclDestroyIntArray(blockShape); });

    char layout[] = "BNSD";
    uint64_t workspaceSize = 0;
    aclOpExecutor *executor = nullptr;
    Check(aclnnBSASelectBlockMaskGetWorkspaceSize(query.handle, key.handle, blockShape, nullptr, nullptr, nullptr, nullptr,
                                                  nullptr, layout, layout, HEADS, 0.0, options.sparsity, mask.handle,
                                                  &workspaceSize, &executor),
          "aclnnBSASelectBlockMaskGetWorkspaceSize");
    void *workspace = nullptr;
    if (workspaceSize > 0) {
        Check(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        exit.Add([workspace] { aclrtFree(workspace); });
    }
    Check(aclnnBSASelectBlockMask(workspace, workspaceSize, executor, stream), "aclnnBSASelectBlockMask");
    Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    Check(aclrtMemcpy(result.data(), result.size(), mask.address, result.size(), ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
    PrintDigest(result, blocks, options.print);
}

bool Parse(int argc, char **argv, Options *options)
{
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        if (i + 1 == argc) {
            return false;
        }
        char *end = nullptr;
        if (name == "--sparsity") {
            options->sparsity = std::strtod(argv[i + 1], &end);
        } else if (name == "--tokens") {
            options->tokens = std::strtoll(argv[i + 1], &end, 10);
        } else if (name == "--print") {
            options->print = std::strtoll(argv[i + 1], &end, 10);
        } else {
            return false;
        }
        if (end == argv[i + 1] || *end != '\0' || options->tokens < 1 || options->print < 0) {
            return false;
        }
    }
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    Options options;
    if (!Parse(argc, argv, &options)) {
        std::fprintf(stderr, "usage: %s [--tokens N] [--sparsity S] [--print N]\n", argv[0]);
        return 2;
    }
    try {
        Run(options);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "bsa_select_block_mask: %s\n", error.what());
        return 1;
    }
    return 0;
}
