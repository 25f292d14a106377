// Calls aclnnHcPre, a custom operator, once and prints a digest of its outputs: T 16, 4 streams, d 4096.
//
//   aclnn-py cc --run hc_pre.cpp          finds the flags; or, in one line,
//   g++ -std=c++17 -I$ROOT/include -I$VENDOR/op_api/include hc_pre.cpp -L$ROOT/lib64 -L$VENDOR/op_api/lib -lcust_opapi
//       -lnnopbase -lascendcl -Wl,-rpath,$ROOT/lib64:$VENDOR/op_api/lib -o hc_pre && ./hc_pre
//
// $ROOT is an Ascend toolkit root or this package's emulator, $VENDOR the folder of the custom package: in the emulator
// $ROOT/opp/vendors/aclnn_py. ../hc_pre_v2.py prints the same lines with --digest.

#include "sample.h"

#include "aclnn_hc_pre.h"

namespace {

constexpr int64_t T = 16, N = 4, D = 4096, MIX = N * N + 2 * N;
constexpr double HC_EPS = 1e-6, NORM_EPS = 1e-6;

void Run()
{
    using namespace sample;
    AtExit exit;
    aclrtStream stream = Start(exit);
    const Tensor x = MakeUniform(exit, "x", {T, N, D}, ACL_BF16, 0, 2);
    const Tensor hcFn = MakeUniform(exit, "hc_fn", {MIX, N * D}, ACL_FLOAT, 1, 1.0f / 64);
    const Tensor hcScale = MakeUniform(exit, "hc_scale", {3}, ACL_FLOAT, 2);
    const Tensor hcBase = MakeUniform(exit, "hc_base", {MIX}, ACL_FLOAT, 3);
    const Tensor y = MakeTensor(exit, "y", {T, D}, ACL_BF16);
    const Tensor post = MakeTensor(exit, "post", {T, N}, ACL_FLOAT);
    const Tensor combFrag = MakeTensor(exit, "comb_frag", {T, N, N}, ACL_FLOAT);

    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    Check(aclnnHcPreGetWorkspaceSize(x.handle, hcFn.handle, hcScale.handle, hcBase.handle, N, 20, HC_EPS, NORM_EPS, y.handle,
                                     post.handle, combFrag.handle, &size, &executor),
          "aclnnHcPreGetWorkspaceSize");
    Check(aclnnHcPre(MakeWorkspace(exit, size), size, executor, stream), "aclnnHcPre");
    Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    PrintDigest(y);
    PrintDigest(post);
    PrintDigest(combFrag);
}

} // namespace

int main()
{
    return sample::Main("hc_pre", Run);
}
