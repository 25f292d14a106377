// Calls aclnnMhcPostBackward once and prints a digest of the gradients: t 128, n 4, D 2560, BF16.
//
//   g++ -std=c++17 -I$ROOT/include mhc_post_backward.cpp -L$ROOT/lib64 -lascendcl -lnnopbase -lopapi
//       -Wl,-rpath,$ROOT/lib64 -o mhc_post_backward && ./mhc_post_backward        (one line)
//
// $ROOT is an Ascend toolkit root or this package's emulator, which is laid out alike. ../mhc_post_backward.py prints the
// same lines with --digest.

#include "sample.h"

#include "aclnnop/aclnn_mhc_post_backward.h"

namespace {

constexpr int64_t T = 128, N = 4, D = 2560;

void Run()
{
    using namespace sample;
    AtExit exit;
    aclrtStream stream = Start(exit);
    const Tensor gradOutput = MakeUniform(exit, "gradOutput", {T, N, D}, ACL_BF16, 0);
    const Tensor x = MakeUniform(exit, "x", {T, N, D}, ACL_BF16, 1, 2);
    const Tensor hRes = MakeUniform(exit, "hRes", {T, N, N}, ACL_FLOAT, 2);
    const Tensor hOut = MakeUniform(exit, "hOut", {T, D}, ACL_BF16, 3, 2);
    const Tensor hPost = MakeUniform(exit, "hPost", {T, N}, ACL_FLOAT, 4, 2);
    const Tensor gradX = MakeTensor(exit, "gradX", {T, N, D}, ACL_BF16);
    const Tensor gradHres = MakeTensor(exit, "gradHres", {T, N, N}, ACL_FLOAT);
    const Tensor gradHout = MakeTensor(exit, "gradHout", {T, D}, ACL_BF16);
    const Tensor gradHpost = MakeTensor(exit, "gradHpost", {T, N}, ACL_FLOAT);

    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    Check(aclnnMhcPostBackwardGetWorkspaceSize(gradOutput.handle, x.handle, hRes.handle, hOut.handle, hPost.handle,
                                               gradX.handle, gradHres.handle, gradHout.handle, gradHpost.handle, &size,
                                               &executor),
          "aclnnMhcPostBackwardGetWorkspaceSize");
    Check(aclnnMhcPostBackward(MakeWorkspace(exit, size), size, executor, stream), "aclnnMhcPostBackward");
    Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    for (const Tensor *tensor : {&gradX, &gradHres, &gradHout, &gradHpost}) {
        PrintDigest(*tensor);
    }
}

} // namespace

int main()
{
    return sample::Main("mhc_post_backward", Run);
}
