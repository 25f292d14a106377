// Calls aclnnMhcSinkhorn once and prints a digest of its outputs: b 2, s 100, n 4, 20 iterations. Ascend 950 only.
//
//   g++ -std=c++17 -I$ROOT/include mhc_sinkhorn.cpp -L$ROOT/lib64 -lascendcl -lnnopbase -lopapi
//       -Wl,-rpath,$ROOT/lib64 -o mhc_sinkhorn && ./mhc_sinkhorn        (one line)
//
// $ROOT is an Ascend toolkit root or this package's emulator, which is laid out alike. ../mhc_sinkhorn.py prints the same
// lines with --digest.

#include <cstdlib>

#include "sample.h"

#include "aclnnop/aclnn_mhc_sinkhorn.h"

namespace {

constexpr int64_t B = 2, S = 100, N = 4, ITERS = 20;
constexpr float EPS = 1e-6f; // float, not double: a double would be passed in another way

void Run()
{
    using namespace sample;
    setenv("ACLEMU_SOC", "Ascend950PR_9579", 0); // the emulator's default chip lacks this operator; CANN does not look here
    AtExit exit;
    aclrtStream stream = Start(exit);
    const Tensor x = MakeUniform(exit, "x", {B, S, N, N}, ACL_FLOAT, 0, 4);
    const Tensor output = MakeTensor(exit, "output", {B, S, N, N}, ACL_FLOAT);
    // On the emulator in slots of [T][n][8] and [T][8].
    const Tensor normOut = MakeTensor(exit, "normOut", {2 * ITERS * B * S * N * 8}, ACL_FLOAT);
    const Tensor sumOut = MakeTensor(exit, "sumOut", {2 * ITERS * B * S * 8}, ACL_FLOAT);

    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    Check(aclnnMhcSinkhornGetWorkspaceSize(x.handle, EPS, ITERS, output.handle, normOut.handle, sumOut.handle, &size,
                                           &executor),
          "aclnnMhcSinkhornGetWorkspaceSize");
    Check(aclnnMhcSinkhorn(MakeWorkspace(exit, size), size, executor, stream), "aclnnMhcSinkhorn");
    Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    for (const Tensor *tensor : {&output, &normOut, &sumOut}) {
        PrintDigest(*tensor);
    }
}

} // namespace

int main()
{
    return sample::Main("mhc_sinkhorn", Run);
}
