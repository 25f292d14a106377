// Calls aclnnHcPost, a custom operator, once and prints a digest of its output: b 2, s 64, 4 streams, d 4096, BF16.
//
//   aclnn-py cc --run hc_post.cpp          finds the flags; or, in one line,
//   g++ -std=c++17 -I$ROOT/include -I$VENDOR/op_api/include hc_post.cpp -L$ROOT/lib64 -L$VENDOR/op_api/lib -lcust_opapi
//       -lopapi -lnnopbase -lascendcl -Wl,-rpath,$ROOT/lib64:$VENDOR/op_api/lib -o hc_post && ./hc_post
//
// $ROOT is an Ascend toolkit root or this package's emulator, $VENDOR the folder of the custom package: in the emulator
// $ROOT/opp/vendors/aclnn_py. ../hc_post.py prints the same line with --digest.

#include "sample.h"

#include "aclnn_hc_post.h"

namespace {

constexpr int64_t B = 2, S = 64, N = 4, D = 4096;

void Run()
{
    using namespace sample;
    AtExit exit;
    aclrtStream stream = Start(exit);
    const Tensor x = MakeUniform(exit, "x", {B, S, D}, ACL_BF16, 0, 2);
    const Tensor residual = MakeUniform(exit, "residual", {B, S, N, D}, ACL_BF16, 1, 2);
    const Tensor post = MakeUniform(exit, "post", {B, S, N}, ACL_FLOAT, 2, 2);
    const Tensor comb = MakeUniform(exit, "comb", {B, S, N, N}, ACL_FLOAT, 3);
    const Tensor y = MakeTensor(exit, "y", {B, S, N, D}, ACL_BF16);

    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    Check(aclnnHcPostGetWorkspaceSize(x.handle, residual.handle, post.handle, comb.handle, y.handle, &size, &executor),
          "aclnnHcPostGetWorkspaceSize");
    Check(aclnnHcPost(MakeWorkspace(exit, size), size, executor, stream), "aclnnHcPost");
    Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    PrintDigest(y);
}

} // namespace

int main()
{
    return sample::Main("hc_post", Run);
}
