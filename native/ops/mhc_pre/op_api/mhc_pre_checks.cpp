#include "ops/mhc_pre/op_api/mhc_pre_checks.h"

#include <vector>

#include "aclnn/opdev/op_errno.h"
#include "runtime/platform.h"

namespace ops {
namespace {

constexpr int64_t kTailStep = 128;
constexpr int64_t kTailStep950 = 16;
constexpr int64_t kTailLargest = 100000;
constexpr int64_t kTailLargest950 = 16384;

struct NamedTensor {
    const char *name;
    const aclTensor *tensor;
};

std::vector<NamedTensor> Group(const MhcPreTensors &t)
{
    return {{"invRmsOptional", t.invRmsOptional}, {"hMixOptional", t.hMixOptional}, {"hPreOptional", t.hPreOptional}};
}

aclnnStatus CheckNotNull(const Checks &check, const MhcPreTensors &t)
{
    OPS_RETURN_IF_ERROR(check.NotNull("x", t.x));
    OPS_RETURN_IF_ERROR(check.NotNull("phi", t.phi));
    OPS_RETURN_IF_ERROR(check.NotNull("alpha", t.alpha));
    OPS_RETURN_IF_ERROR(check.NotNull("bias", t.bias));
    OPS_RETURN_IF_ERROR(check.NotNull("hIn", t.hIn));
    OPS_RETURN_IF_ERROR(check.NotNull("hPost", t.hPost));
    if (t.gammaOptional != nullptr) { // a live tensor?
        OPS_RETURN_IF_ERROR(check.NotNull("gammaOptional", t.gammaOptional));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckInputRanks(const Checks &check, const MhcPreTensors &t)
{
    OPS_RETURN_IF_ERROR(check.NotEmpty("x", t.x));
    OPS_RETURN_IF_ERROR(check.NotEmpty("phi", t.phi));
    OPS_RETURN_IF_ERROR(check.NotEmpty("alpha", t.alpha));
    OPS_RETURN_IF_ERROR(check.NotEmpty("bias", t.bias));
    OPS_RETURN_IF_ERROR(check.Rank("x", t.x, {3, 4}));
    OPS_RETURN_IF_ERROR(check.Addressable("x", t.x)); // with it n > 0 and D > 0
    OPS_RETURN_IF_ERROR(check.Rank("phi", t.phi, {2}));
    OPS_RETURN_IF_ERROR(check.Rank("alpha", t.alpha, {1}));
    OPS_RETURN_IF_ERROR(check.Rank("bias", t.bias, {1}));
    if (t.gammaOptional != nullptr) {
        OPS_RETURN_IF_ERROR(check.Rank("gammaOptional", t.gammaOptional, {2}));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckGroup(const Checks &check, const MhcPreTensors &t)
{
    std::string missing;
    size_t count = 0;
    for (const NamedTensor &output : Group(t)) {
        if (output.tensor == nullptr) {
            missing += (count++ == 0 ? "" : ", ") + std::string(output.name);
        }
    }
    if (count != 0 && count != 3) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID,
                          "invRmsOptional, hMixOptional and hPreOptional must all be given or all be nullptr; nullptr: " +
                              missing + ".");
    }
    for (const NamedTensor &output : Group(t)) {
        if (output.tensor != nullptr) {
            OPS_RETURN_IF_ERROR(check.NotNull(output.name, output.tensor)); // a live tensor?
        }
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckOutputRanks(const Checks &check, const MhcPreTensors &t)
{
    const size_t rank = t.x->viewShape.size();
    OPS_RETURN_IF_ERROR(check.Rank("hIn", t.hIn, {rank - 1}));
    OPS_RETURN_IF_ERROR(check.Rank("hPost", t.hPost, {rank - 1}));
    if (t.HasRes()) {
        OPS_RETURN_IF_ERROR(check.Rank("hRes", t.hRes, {rank}));
    }
    OPS_RETURN_IF_ERROR(CheckGroup(check, t));
    if (t.HasOptional()) {
        OPS_RETURN_IF_ERROR(check.Rank("invRmsOptional", t.invRmsOptional, {rank - 2}));
        OPS_RETURN_IF_ERROR(check.Rank("hMixOptional", t.hMixOptional, {rank - 1}));
        OPS_RETURN_IF_ERROR(check.Rank("hPreOptional", t.hPreOptional, {rank - 1}));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckStreams(const Checks &check, const MhcPreTensors &t)
{
    const aclemu::Platform &platform = aclemu::CurrentPlatform();
    const Shape &x = t.x->viewShape;
    const int64_t n = x[x.size() - 2];
    const int64_t d = x.back();
    const bool goodN = n == 4 || (On950() && (n == 6 || n == 8));
    if (!goodN) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "x has shape " + nnop::ToString(x) + ", n = " + std::to_string(n) +
                                                       ", expected n " + (On950() ? "4, 6 or 8" : "4") + " on " +
                                                       platform.soc + ".");
    }
    const int64_t step = On950() ? kTailStep950 : kTailStep;
    if (d % step != 0) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "x has tail axis D = " + std::to_string(d) +
                                                       ", expected a multiple of " + std::to_string(step) + " on " +
                                                       platform.soc + ".");
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckShapes(const Checks &check, const MhcPreTensors &t)
{
    const Shape &x = t.x->viewShape;
    const int64_t n = x[x.size() - 2];
    const int64_t d = x.back();
    const int64_t rows = t.HasRes() ? n * n + 2 * n : 2 * n;
    const char *rowsRule = t.HasRes() ? "[n*n + 2n, n*D] with an alpha of 3" : "[2n, n*D] with an alpha of 2";
    OPS_RETURN_IF_ERROR(check.HasShape("phi", t.phi, {rows, n * d}, rowsRule));
    OPS_RETURN_IF_ERROR(check.HasShape("bias", t.bias, {rows},
                                       t.HasRes() ? "[n*n + 2n] with an alpha of 3" : "[2n] with an alpha of 2"));
    if (t.gammaOptional != nullptr) {
        OPS_RETURN_IF_ERROR(check.HasShape("gammaOptional", t.gammaOptional, {n, d}, "[n, D]"));
    }

    const auto tokensThen = [&x](const Shape &after) { return AroundTokens(x, {}, after); };
    OPS_RETURN_IF_ERROR(check.HasShape("hIn", t.hIn, tokensThen({d}), "the token axes of x, then D"));
    OPS_RETURN_IF_ERROR(check.HasShape("hPost", t.hPost, tokensThen({n}), "the token axes of x, then n"));
    if (t.HasRes()) {
        OPS_RETURN_IF_ERROR(check.HasShape("hRes", t.hRes, tokensThen({n, n}), "the token axes of x, then n, n"));
    }
    if (t.HasOptional()) {
        OPS_RETURN_IF_ERROR(check.HasShape("invRmsOptional", t.invRmsOptional, tokensThen({}), "the token axes of x"));
        OPS_RETURN_IF_ERROR(check.HasShape("hMixOptional", t.hMixOptional, tokensThen({rows}),
                                           "the token axes of x, then the rows of phi"));
        OPS_RETURN_IF_ERROR(check.HasShape("hPreOptional", t.hPreOptional, tokensThen({n}), "the token axes of x, then n"));
    }
    return ACLNN_SUCCESS;
}

// All tensors but x and hIn; those that are not given, and hRes when it is not looked at, are left out.
std::vector<NamedTensor> FloatTensors(const MhcPreTensors &t, bool inputs)
{
    std::vector<NamedTensor> all;
    if (inputs) {
        all = {{"phi", t.phi}, {"alpha", t.alpha}, {"bias", t.bias}};
        if (t.gammaOptional != nullptr) {
            all.push_back({"gammaOptional", t.gammaOptional});
        }
        return all;
    }
    all = {{"hPost", t.hPost}};
    if (t.HasRes()) {
        all.push_back({"hRes", t.hRes});
    }
    if (t.HasOptional()) {
        for (const NamedTensor &output : Group(t)) {
            all.push_back(output);
        }
    }
    return all;
}

aclnnStatus CheckDTypes(const Checks &check, const MhcPreTensors &t)
{
    OPS_RETURN_IF_ERROR(check.DType("x", t.x, {ACL_FLOAT16, ACL_BF16}));
    for (const NamedTensor &input : FloatTensors(t, true)) {
        OPS_RETURN_IF_ERROR(check.DType(input.name, input.tensor, {ACL_FLOAT}));
    }
    OPS_RETURN_IF_ERROR(check.SameDType("hIn", t.hIn, "x", t.x));
    for (const NamedTensor &output : FloatTensors(t, false)) {
        OPS_RETURN_IF_ERROR(check.DType(output.name, output.tensor, {ACL_FLOAT}));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckFormats(const Checks &check, const MhcPreTensors &t)
{
    OPS_RETURN_IF_ERROR(check.PublicFormat("x", t.x));
    for (const NamedTensor &input : FloatTensors(t, true)) {
        OPS_RETURN_IF_ERROR(check.PublicFormat(input.name, input.tensor));
    }
    OPS_RETURN_IF_ERROR(check.PublicFormat("hIn", t.hIn));
    for (const NamedTensor &output : FloatTensors(t, false)) {
        OPS_RETURN_IF_ERROR(check.PublicFormat(output.name, output.tensor));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckMode(const Checks &check, int64_t mode)
{
    if (mode != 0 && mode != 1) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "opImplMode is " + std::to_string(mode) +
                                                       ", expected 0 (FP32) or 1 (HF32).");
    }
    if (mode == 1 && !On950()) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, std::string("opImplMode is 1, expected 0 on ") + aclemu::CurrentPlatform().soc +
                                                       ": HF32 is supported on Ascend 950 only.");
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckTail(const Checks &check, const MhcPreTensors &t)
{
    const int64_t d = t.x->viewShape.back();
    const int64_t most = On950() ? kTailLargest950 : kTailLargest;
    if (d > most) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "x has tail axis D = " + std::to_string(d) + ", expected at most " +
                                                       std::to_string(most) + " on " + aclemu::CurrentPlatform().soc + ".");
    }
    return ACLNN_SUCCESS;
}

} // namespace

aclnnStatus CheckMhcPre(const Checks &check, const MhcPreTensors &tensors, const MhcPreAttributes &attributes)
{
    OPS_RETURN_IF_ERROR(CheckNotNull(check, tensors));
    OPS_RETURN_IF_ERROR(CheckInputRanks(check, tensors));
    const int64_t scales = tensors.alpha->viewShape[0];
    if (scales != 2 && scales != 3) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "alpha has shape " + nnop::ToString(tensors.alpha->viewShape) +
                                                       ", expected [3], or [2] for no hRes.");
    }
    if (tensors.HasRes()) {
        OPS_RETURN_IF_ERROR(check.NotNull("hRes", tensors.hRes));
    }
    OPS_RETURN_IF_ERROR(CheckOutputRanks(check, tensors));
    OPS_RETURN_IF_ERROR(CheckStreams(check, tensors));
    OPS_RETURN_IF_ERROR(CheckShapes(check, tensors));
    OPS_RETURN_IF_ERROR(CheckDTypes(check, tensors));
    OPS_RETURN_IF_ERROR(CheckFormats(check, tensors));
    OPS_RETURN_IF_ERROR(CheckMode(check, attributes.opImplMode));
    return CheckTail(check, tensors);
}

} // namespace ops
