// Calls aclnnMhcPost once and prints a digest of its output: b 2, s 64, n 4, D 2560, BF16.
//
//   g++ -std=c++17 -I$ROOT/include mhc_post.cpp -L$ROOT/lib64 -lascendcl -lnnopbase -lopapi
//       -Wl,-rpath,$ROOT/lib64 -o mhc_post && ./mhc_post        (one line)
//
// $ROOT is an Ascend toolkit root or this package's emulator, which is laid out alike. ../mhc_post.py prints the same line
// with --digest.

#include "sample.h"

#include "aclnnop/aclnn_mhc_post.h"

namespace {

constexpr int64_t B = 2, S = 64, N = 4, D = 2560;

void Run()
{
    using namespace sample;
    AtExit exit;
    aclrtStream stream = Start(exit);
    const Tensor x = MakeUniform(exit, "x", {B, S, N, D}, ACL_BF16, 0, 2);
    const Tensor hRes = MakeUniform(exit, "hRes", {B, S, N, N}, ACL_FLOAT, 1);
    const Tensor hOut = MakeUniform(exit, "hOut", {B, S, D}, ACL_BF16, 2, 2);
    const Tensor hPost = MakeUniform(exit, "hPost", {B, S, N}, ACL_FLOAT, 3, 2);
    const Tensor out = MakeTensor(exit, "out", {B, S, N, D}, ACL_BF16);

    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    Check(aclnnMhcPostGetWorkspaceSize(x.handle, hRes.handle, hOut.handle, hPost.handle, out.handle, &size, &executor),
          "aclnnMhcPostGetWorkspaceSize");
    Check(aclnnMhcPost(MakeWorkspace(exit, size), size, executor, stream), "aclnnMhcPost");
    Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    PrintDigest(out);
}

} // namespace

int main()
{
    return sample::Main("mhc_post", Run);
}
