// The two C functions of HcPost: checks in the documented order, the plan.
#include "aclnn_hc_post.h"

#include "aclnn/opdev/op_errno.h"
#include "ascendc/twin/registry.h"
#include "ops/common/checks.h"
#include "ops/common/kernel_plan.h"
#include "ops/hc_post/op_host/hc_post_tiling.h"

namespace {

using ops::Checks;
using ops::Shape;

constexpr const char *kOp = "aclnnHcPost";
constexpr int64_t kStreams = 4;
constexpr int64_t kLargestTail = int64_t{1} << 30; // the gap between streams is a 32-bit number of bytes

struct Tensors {
    const aclTensor *x;
    const aclTensor *residual;
    const aclTensor *post;
    const aclTensor *comb;
    const aclTensor *out;
};

aclnnStatus CheckShapes(const Checks &check, const Tensors &t)
{
    OPS_RETURN_IF_ERROR(check.Rank("x", t.x, {2, 3}));
    OPS_RETURN_IF_ERROR(check.Addressable("x", t.x));
    OPS_RETURN_IF_ERROR(check.NotEmpty("x", t.x));
    const int64_t d = t.x->viewShape.back();
    const auto withTail = [&t](const Shape &tail) {
        Shape shape(t.x->viewShape.begin(), t.x->viewShape.end() - 1);
        shape.insert(shape.end(), tail.begin(), tail.end());
        return shape;
    };
    OPS_RETURN_IF_ERROR(check.HasShape("residual", t.residual, withTail({kStreams, d}), "the token axes of x, then 4, d"));
    OPS_RETURN_IF_ERROR(check.HasShape("post", t.post, withTail({kStreams}), "the token axes of x, then 4"));
    OPS_RETURN_IF_ERROR(check.HasShape("comb", t.comb, withTail({kStreams, kStreams}), "the token axes of x, then 4, 4"));
    OPS_RETURN_IF_ERROR(check.HasShape("out", t.out, t.residual->viewShape, "the shape of residual"));
    if (d > kLargestTail) {
        return check.Fail(ACLNN_ERR_INNER_TILING_ERROR, "x has d = " + std::to_string(d) + ", expected at most 2^30.");
    }
    OPS_RETURN_IF_ERROR(check.DenseInput("x", t.x));
    OPS_RETURN_IF_ERROR(check.DenseInput("residual", t.residual));
    OPS_RETURN_IF_ERROR(check.DenseInput("post", t.post));
    OPS_RETURN_IF_ERROR(check.DenseInput("comb", t.comb));
    return check.Dense("out", t.out);
}

aclnnStatus Check(const Checks &check, const Tensors &t)
{
    OPS_RETURN_IF_ERROR(check.NotNull("x", t.x));
    OPS_RETURN_IF_ERROR(check.NotNull("residual", t.residual));
    OPS_RETURN_IF_ERROR(check.NotNull("post", t.post));
    OPS_RETURN_IF_ERROR(check.NotNull("comb", t.comb));
    OPS_RETURN_IF_ERROR(check.NotNull("out", t.out));
    OPS_RETURN_IF_ERROR(check.DType("x", t.x, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}));
    OPS_RETURN_IF_ERROR(check.SameDType("residual", t.residual, "x", t.x));
    OPS_RETURN_IF_ERROR(check.DType("post", t.post, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}));
    OPS_RETURN_IF_ERROR(check.SameDType("comb", t.comb, "post", t.post));
    OPS_RETURN_IF_ERROR(check.SameDType("out", t.out, "x", t.x));
    OPS_RETURN_IF_ERROR(check.PublicFormat("x", t.x));
    OPS_RETURN_IF_ERROR(check.PublicFormat("residual", t.residual));
    OPS_RETURN_IF_ERROR(check.PublicFormat("post", t.post));
    OPS_RETURN_IF_ERROR(check.PublicFormat("comb", t.comb));
    OPS_RETURN_IF_ERROR(check.PublicFormat("out", t.out));
    return CheckShapes(check, t);
}

uint32_t PostType(aclDataType type)
{
    return type == ACL_FLOAT ? 0 : type == ACL_FLOAT16 ? 1 : 2;
}

aclnnStatus Plan(const Checks &check, const Tensors &t, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    OPS_RETURN_IF_ERROR(Check(check, t));
    ops::HcPostArguments arguments{};
    arguments.tail = static_cast<uint64_t>(t.x->viewShape.back());
    arguments.tokens = static_cast<uint64_t>(t.x->Size()) / arguments.tail;
    arguments.xBytes = static_cast<uint32_t>(nnop::TypeSize(t.x->dataType));
    arguments.postType = PostType(t.post->dataType);
    arguments.key = ops::ForcedTilingKey();
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const auto tiling = ops::TileHcPost(arguments, ops::ToTilingPlatform(platform));
    if (!tiling.error.empty()) {
        return check.Fail(ACLNN_ERR_INNER_TILING_ERROR, "tiling failed: " + tiling.error + ".");
    }
    const ascendc::KernelVariant *kernel =
        ascendc::FindKernel("hc_post", ops::KernelDType(t.x->dataType), platform.npuArch);
    if (kernel == nullptr) {
        return check.Fail(ACLNN_ERR_INNER_FIND_KERNEL_ERROR,
                          "no kernel was built for " + nnop::ToString(t.x->dataType) + " on " + platform.soc + ".");
    }
    nnop::Plan plan;
    plan.opName = kOp;
    plan.generated = true;
    const ops::KernelLaunch launch{"hc_post", ascendc::TaskType::AIV_ONLY, tiling.blockDim, tiling.key};
    ops::PlanKernel(&plan,
                    {{"x", t.x, true},
                     {"residual", t.residual, true},
                     {"post", t.post, true},
                     {"comb", t.comb, true},
                     {"out", t.out, false}},
                    tiling.workspaceSize, launch, ops::EntryCall<5>(kernel->entry),
                    std::make_shared<HcPostTilingData>(tiling.data));
    return nnop::Publish(std::move(plan), workspaceSize, executor);
}

} // namespace

aclnnStatus aclnnHcPostGetWorkspaceSize(const aclTensor *x, const aclTensor *residual, const aclTensor *post,
                                        const aclTensor *comb, const aclTensor *out, uint64_t *workspaceSize,
                                        aclOpExecutor **executor)
{
    const Checks check = Checks::Generated(kOp);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));
    return ops::Guarded(check, [&] { return Plan(check, {x, residual, post, comb, out}, workspaceSize, executor); });
}

aclnnStatus aclnnHcPost(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}
