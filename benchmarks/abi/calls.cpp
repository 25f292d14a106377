// What a call costs from C++: both phases with an empty tensor, and the smallest real operator plus a synchronise.
//   g++ -O2 -std=c++17 calls.cpp -I <root>/include -L <root>/lib64 -lascendcl -lnnopbase -lopapi -Wl,-rpath,<root>/lib64
// Prints "name microseconds", the median of many rounds. On CANN it runs as well.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_mhc_pre_sinkhorn.h"

namespace {

void Require(int code, const char *what)
{
    if (code != 0) {
        const char *text = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s returned %d: %s\n", what, code, text != nullptr ? text : "");
        std::exit(1);
    }
}

#define REQUIRE(call) Require(call, #call)

struct Buffer {
    void *address = nullptr;
    aclTensor *tensor = nullptr;
};

Buffer Make(std::vector<int64_t> shape, aclDataType type)
{
    size_t bytes = aclDataTypeSize(type);
    for (const int64_t dim : shape) {
        bytes *= static_cast<size_t>(dim);
    }
    Buffer made;
    REQUIRE(aclrtMalloc(&made.address, std::max<size_t>(bytes, 32), ACL_MEM_MALLOC_HUGE_FIRST));
    REQUIRE(aclrtMemset(made.address, std::max<size_t>(bytes, 32), 0, std::max<size_t>(bytes, 32)));
    made.tensor = aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                                  shape.size(), made.address);
    return made;
}

// MhcPreSinkhorn of `tokens` tokens of 4 streams of 128.
class Operator {
public:
    explicit Operator(int64_t tokens)
        : x_(Make({1, tokens, 4, 128}, ACL_BF16)), phi_(Make({24, 512}, ACL_FLOAT)), alpha_(Make({3}, ACL_FLOAT)),
          bias_(Make({24}, ACL_FLOAT)), hin_(Make({1, tokens, 128}, ACL_BF16)), hPost_(Make({1, tokens, 4}, ACL_FLOAT)),
          hRes_(Make({1, tokens, 16}, ACL_FLOAT))
    {
        REQUIRE(aclrtMalloc(&workspace_, size_t{64} << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    }

    void Call(aclrtStream stream) const
    {
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        REQUIRE(aclnnMhcPreSinkhornGetWorkspaceSize(x_.tensor, phi_.tensor, alpha_.tensor, bias_.tensor, 4, 20, 1e-6, 1e-6,
                                                    false, hin_.tensor, hPost_.tensor, hRes_.tensor, nullptr, nullptr,
                                                    nullptr, nullptr, nullptr, &size, &executor));
        REQUIRE(aclnnMhcPreSinkhorn(size > 0 ? workspace_ : nullptr, size, executor, stream));
    }

private:
    Buffer x_, phi_, alpha_, bias_, hin_, hPost_, hRes_;
    void *workspace_ = nullptr;
};

template <typename Function>
double Median(int rounds, int calls, Function function)
{
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) {
        const auto start = Clock::now();
        for (int j = 0; j < calls; ++j) {
            function();
        }
        times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

} // namespace

int main()
{
    REQUIRE(aclInit(nullptr));
    REQUIRE(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    REQUIRE(aclrtCreateStream(&stream));
    const Operator empty(0);
    const Operator smallest(1);
    std::printf("empty_call_us %.3f\n", Median(200, 1000, [&] { empty.Call(stream); }));
    std::printf("smallest_call_and_synchronize_us %.1f\n", Median(500, 1, [&] {
                    smallest.Call(stream);
                    REQUIRE(aclrtSynchronizeStream(stream));
                }));
    std::printf("synchronize_idle_us %.3f\n", Median(200, 1000, [&] { REQUIRE(aclrtSynchronizeStream(stream)); }));
    void *address = nullptr;
    std::printf("malloc_free_us %.3f\n", Median(200, 1000, [&] {
                    REQUIRE(aclrtMalloc(&address, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
                    REQUIRE(aclrtFree(address));
                }));
    return 0;
}
