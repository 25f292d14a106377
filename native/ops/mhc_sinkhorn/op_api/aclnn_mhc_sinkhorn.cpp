// The two C functions of MhcSinkhorn: checks in the documented order, the plan, the launch.
#include "aclnnop/aclnn_mhc_sinkhorn.h"

#include "aclnn/opdev/op_errno.h"
#include "ascendc/twin/registry.h"
#include "ops/common/checks.h"
#include "ops/common/kernel_plan.h"
#include "ops/mhc_sinkhorn/op_host/mhc_sinkhorn_tiling.h"

namespace {

using ops::Checks;
using ops::Shape;

constexpr const char *kOp = "aclnnMhcSinkhorn";
constexpr int64_t kMostIters = 100;
constexpr int64_t kLanes = 8; // floats of a row of normOut and sumOut

struct Arguments {
    const aclTensor *x;
    const aclTensor *output;
    const aclTensor *normOut; // this one and the next: both or neither
    const aclTensor *sumOut;
    float eps;
    int64_t numIters;
};

// The product of all axes but the last two.
int64_t Tokens(const Shape &x)
{
    int64_t tokens = 1;
    for (size_t i = 0; i + 2 < x.size(); ++i) {
        tokens *= x[i];
    }
    return tokens;
}

aclnnStatus CheckSlots(const Checks &check, const Arguments &a)
{
    if ((a.normOut == nullptr) != (a.sumOut == nullptr)) {
        const bool norm = a.normOut == nullptr;
        return check.Fail(ACLNN_ERR_PARAM_INVALID, std::string(norm ? "normOut" : "sumOut") + " is not given and " +
                                                       (norm ? "sumOut" : "normOut") + " is, expected both or neither.");
    }
    if (a.normOut == nullptr) {
        return ACLNN_SUCCESS;
    }
    OPS_RETURN_IF_ERROR(check.Rank("normOut", a.normOut, {1}));
    OPS_RETURN_IF_ERROR(check.Rank("sumOut", a.sumOut, {1}));
    const Shape &x = a.x->viewShape;
    if (x.empty()) {
        return ACLNN_SUCCESS; // refused below
    }
    const int64_t n = x.back();
    // Products with a numIters that is refused below may be too large for an int64_t.
    __extension__ using Wide = __int128;
    const Wide rows = Wide{2} * a.numIters * Tokens(x) * kLanes;
    const auto sized = [&](const char *name, const aclTensor *tensor, Wide expected, const char *rule) {
        if (tensor->viewShape[0] == expected) {
            return ACLNN_SUCCESS;
        }
        const bool known = expected >= 0 && expected <= INT64_MAX;
        return check.Fail(ACLNN_ERR_PARAM_INVALID,
                          std::string(name) + " has shape " + nnop::ToString(tensor->viewShape) + ", expected " +
                              (known ? "[" + std::to_string(static_cast<int64_t>(expected)) + "] = " : std::string()) + rule +
                              " for x of shape " + nnop::ToString(x) + " and numIters " + std::to_string(a.numIters) + ".");
    };
    OPS_RETURN_IF_ERROR(sized("normOut", a.normOut, rows * n, "[2*numIters * T * n * 8]"));
    return sized("sumOut", a.sumOut, rows, "[2*numIters * T * 8]");
}

aclnnStatus CheckDTypes(const Checks &check, const Arguments &a)
{
    OPS_RETURN_IF_ERROR(check.DType("x", a.x, {ACL_FLOAT}));
    OPS_RETURN_IF_ERROR(check.DType("output", a.output, {ACL_FLOAT}));
    if (a.normOut != nullptr) {
        OPS_RETURN_IF_ERROR(check.DType("normOut", a.normOut, {ACL_FLOAT}));
        OPS_RETURN_IF_ERROR(check.DType("sumOut", a.sumOut, {ACL_FLOAT}));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckShapes(const Checks &check, const Arguments &a)
{
    const Shape &x = a.x->viewShape;
    OPS_RETURN_IF_ERROR(check.HasShape("output", a.output, x, "the shape of x"));
    if (a.numIters < 1 || a.numIters > kMostIters) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID,
                          "numIters is " + std::to_string(a.numIters) + ", expected a value from 1 to 100.");
    }
    OPS_RETURN_IF_ERROR(check.Rank("x", a.x, {3, 4}));
    const int64_t n = x.back();
    if (x[x.size() - 2] != n || (n != 4 && n != 6 && n != 8)) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID,
                          "x has shape " + nnop::ToString(x) + ", expected its last two axes to be equal and 4, 6 or 8.");
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckFormats(const Checks &check, const Arguments &a)
{
    OPS_RETURN_IF_ERROR(check.PublicFormat("x", a.x));
    OPS_RETURN_IF_ERROR(check.PublicFormat("output", a.output));
    if (a.output->format != a.x->format) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "output has format " + nnop::ToString(a.output->format) +
                                                       ", expected the format of x, " + nnop::ToString(a.x->format) + ".");
    }
    if (a.normOut != nullptr) {
        OPS_RETURN_IF_ERROR(check.PublicFormat("normOut", a.normOut));
        OPS_RETURN_IF_ERROR(check.PublicFormat("sumOut", a.sumOut));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus PlanChecked(const Checks &check, Arguments a, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    OPS_RETURN_IF_ERROR(check.NotNull("x", a.x));
    OPS_RETURN_IF_ERROR(check.NotNull("output", a.output));
    for (const auto &[name, slot] : {std::pair{"normOut", &a.normOut}, std::pair{"sumOut", &a.sumOut}}) {
        if (*slot != nullptr) {
            OPS_RETURN_IF_ERROR(check.NotNull(name, *slot));
            *slot = (*slot)->Size() == 1 ? nullptr : *slot; // how a framework leaves an output out
        }
    }
    OPS_RETURN_IF_ERROR(check.Addressable("x", a.x));
    OPS_RETURN_IF_ERROR(CheckSlots(check, a));
    OPS_RETURN_IF_ERROR(CheckDTypes(check, a));
    OPS_RETURN_IF_ERROR(CheckShapes(check, a));
    OPS_RETURN_IF_ERROR(CheckFormats(check, a));
    OPS_RETURN_IF_ERROR(check.NotEmpty("x", a.x));
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    if (!ops::On950()) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID,
                          std::string("x is on ") + platform.soc + ", expected Ascend 950: this operator exists only there.");
    }

    const Shape &x = a.x->viewShape;
    ops::MhcSinkhornArguments arguments{};
    arguments.tokens = static_cast<uint64_t>(Tokens(x));
    arguments.streams = static_cast<uint64_t>(x.back());
    arguments.numIters = static_cast<uint32_t>(a.numIters);
    arguments.eps = a.eps;
    arguments.slots = a.normOut != nullptr;
    arguments.key = ops::ForcedTilingKey();
    const auto tiling = ops::TileMhcSinkhorn(arguments, ops::ToTilingPlatform(platform));
    if (!tiling.error.empty()) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, "tiling failed for x: " + tiling.error + ".");
    }
    const ascendc::KernelVariant *kernel = ascendc::FindKernel("mhc_sinkhorn", "float", platform.npuArch);
    if (kernel == nullptr) {
        return check.Fail(ACLNN_ERR_INNER_NULLPTR, std::string("no kernel was built for ") + platform.soc + ".");
    }
    nnop::Plan plan;
    plan.opName = kOp;
    const ops::KernelLaunch launch{"mhc_sinkhorn", ascendc::TaskType::AIV_ONLY, tiling.blockDim, tiling.key};
    ops::PlanKernel(&plan,
                    {{"x", a.x, true},
                     {"output", a.output, false},
                     {"normOut", a.normOut, false},
                     {"sumOut", a.sumOut, false}},
                    tiling.workspaceSize, launch, ops::EntryCall<4>(kernel->entry),
                    std::make_shared<MhcSinkhornTilingData>(tiling.data));
    return nnop::Publish(std::move(plan), workspaceSize, executor);
}

} // namespace

aclnnStatus aclnnMhcSinkhornGetWorkspaceSize(const aclTensor *x, float eps, int64_t numIters, aclTensor *output,
                                             aclTensor *normOut, aclTensor *sumOut, uint64_t *workspaceSize,
                                             aclOpExecutor **executor)
{
    const Checks check(kOp);
    OPS_RETURN_IF_ERROR(check.NotNull("workspaceSize", workspaceSize));
    OPS_RETURN_IF_ERROR(check.NotNull("executor", executor));
    return ops::Guarded(check, [&] {
        return PlanChecked(check, {x, output, normOut, sumOut, eps, numIters}, workspaceSize, executor);
    });
}

aclnnStatus aclnnMhcSinkhorn(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    return nnop::Run(kOp, workspace, workspaceSize, executor, stream);
}
