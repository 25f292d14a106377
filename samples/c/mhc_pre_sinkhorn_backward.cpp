// Calls aclnnMhcPreSinkhorn and aclnnMhcPreSinkhornBackward once and prints a digest of the gradients: b 1, s 64, n 4,
// c 4096, BF16.
//
//   g++ -std=c++17 -I$ROOT/include mhc_pre_sinkhorn_backward.cpp -L$ROOT/lib64 -lascendcl -lnnopbase -lopapi
//       -Wl,-rpath,$ROOT/lib64 -o mhc_pre_sinkhorn_backward && ./mhc_pre_sinkhorn_backward        (one line)
//
// $ROOT is an Ascend toolkit root or this package's emulator, which is laid out alike. ../mhc_pre_sinkhorn_backward.py prints
// the same lines with --digest.

#include "sample.h"

#include "aclnnop/aclnn_mhc_pre_sinkhorn.h"
#include "aclnnop/aclnn_mhc_pre_sinkhorn_backward.h"

namespace {

constexpr int64_t B = 1, S = 64, N = 4, C = 4096;
constexpr int64_t MIX = N * N + 2 * N;
constexpr int64_t NUM_ITERS = 20;
constexpr double HC_EPS = 1e-6, NORM_EPS = 1e-6;

void Run()
{
    using namespace sample;
    AtExit exit;
    aclrtStream stream = Start(exit);
    const Tensor x = MakeUniform(exit, "x", {B, S, N, C}, ACL_BF16, 0, 2);
    const Tensor phi = MakeUniform(exit, "phi", {MIX, N * C}, ACL_FLOAT, 1, 1.0f / 128); // 1 / sqrt(n * c)
    const Tensor alpha = MakeUniform(exit, "alpha", {3}, ACL_FLOAT, 2, 2);
    const Tensor bias = MakeUniform(exit, "bias", {MIX}, ACL_FLOAT, 3);
    const Tensor hin = MakeTensor(exit, "hin", {B, S, C}, ACL_BF16);
    const Tensor hPost = MakeTensor(exit, "hPost", {B, S, N}, ACL_FLOAT);
    const Tensor hRes = MakeTensor(exit, "hRes", {B, S, N * N}, ACL_FLOAT);
    const Tensor hPre = MakeTensor(exit, "hPre", {B, S, N}, ACL_FLOAT);
    const Tensor hcBeforeNorm = MakeTensor(exit, "hcBeforeNorm", {B, S, MIX}, ACL_FLOAT);
    const Tensor invRms = MakeTensor(exit, "invRms", {B, S, 1}, ACL_FLOAT);
    const Tensor sumOut = MakeTensor(exit, "sumOut", {2 * NUM_ITERS, B, S, N}, ACL_FLOAT);
    const Tensor normOut = MakeTensor(exit, "normOut", {2 * NUM_ITERS, B, S, N, N}, ACL_FLOAT);

    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    Check(aclnnMhcPreSinkhornGetWorkspaceSize(x.handle, phi.handle, alpha.handle, bias.handle, N, NUM_ITERS, HC_EPS,
                                              NORM_EPS, true, hin.handle, hPost.handle, hRes.handle, hPre.handle,
                                              hcBeforeNorm.handle, invRms.handle, sumOut.handle, normOut.handle, &size,
                                              &executor),
          "aclnnMhcPreSinkhornGetWorkspaceSize");
    Check(aclnnMhcPreSinkhorn(MakeWorkspace(exit, size), size, executor, stream), "aclnnMhcPreSinkhorn");

    const Tensor gradHin = MakeUniform(exit, "gradHin", {B, S, C}, ACL_BF16, 4);
    const Tensor gradHPost = MakeUniform(exit, "gradHPost", {B, S, N}, ACL_FLOAT, 5);
    const Tensor gradHRes = MakeUniform(exit, "gradHRes", {B, S, N * N}, ACL_FLOAT, 6);
    const Tensor gradX = MakeTensor(exit, "gradX", {B, S, N, C}, ACL_BF16);
    const Tensor gradPhi = MakeTensor(exit, "gradPhi", {MIX, N * C}, ACL_FLOAT);
    const Tensor gradAlpha = MakeTensor(exit, "gradAlpha", {3}, ACL_FLOAT);
    const Tensor gradBias = MakeTensor(exit, "gradBias", {MIX}, ACL_FLOAT);
    Check(aclnnMhcPreSinkhornBackwardGetWorkspaceSize(
              gradHin.handle, gradHPost.handle, gradHRes.handle, x.handle, phi.handle, alpha.handle, bias.handle,
              hPre.handle, hcBeforeNorm.handle, invRms.handle, sumOut.handle, normOut.handle, HC_EPS, gradX.handle,
              gradPhi.handle, gradAlpha.handle, gradBias.handle, &size, &executor),
          "aclnnMhcPreSinkhornBackwardGetWorkspaceSize");
    Check(aclnnMhcPreSinkhornBackward(MakeWorkspace(exit, size), size, executor, stream), "aclnnMhcPreSinkhornBackward");

    Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    for (const Tensor *tensor : {&gradX, &gradPhi, &gradAlpha, &gradBias}) {
        PrintDigest(*tensor);
    }
}

} // namespace

int main()
{
    return sample::Main("mhc_pre_sinkhorn_backward", Run);
}
