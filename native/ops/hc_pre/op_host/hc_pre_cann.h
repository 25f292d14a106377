// What the definitions of HcPre and HcPreV2 for CANN share; see tiling_adapter.h.
#ifndef HC_PRE_CANN_H
#define HC_PRE_CANN_H

#include "ops/common/cann/tiling_adapter.h"
#include "ops/hc_pre/op_host/hc_pre_tiling.h"

namespace optiling {

constexpr int64_t kHcMult = 4;
constexpr int64_t kMix = kHcMult * kHcMult + 2 * kHcMult;
constexpr int64_t kIters = 20;

// Attributes: hc_mult, hc_sinkhorn_iters, hc_eps, norm_eps. v2: there is an output hc_pre; preMix: the input pre_mix is given.
inline ge::graphStatus TileHcPreFor(gert::TilingContext *context, bool v2, bool preMix)
{
    const gert::Shape *x = InputShape(context, 0);
    if (x == nullptr || (x->GetDimNum() != 3 && x->GetDimNum() != 4)) {
        return ge::GRAPH_FAILED;
    }
    const int64_t d = FromEnd(*x, 1);
    const gert::Shape weights = ge::TokensThen(*x, 2, {kHcMult});
    const bool known = FromEnd(*x, 2) == kHcMult && (d == 4096 || d == 5120 || d == 7168);
    const bool inputs = InputIs(context, 1, {kMix, kHcMult * d}) && InputIs(context, 2, {3}) && InputIs(context, 3, {kMix}) &&
                        (!preMix || InputIs(context, 4, weights));
    const bool outputs = OutputIs(context, 0, ge::TokensThen(*x, 2, {d})) && OutputIs(context, 1, weights) &&
                         OutputIs(context, 2, ge::TokensThen(*x, 2, {kHcMult, kHcMult})) &&
                         (!v2 || OutputIs(context, 3, weights));
    const bool attributes = IntAttr(context, 0, kHcMult) == kHcMult && IntAttr(context, 1, kIters) == kIters;
    if (!known || !inputs || !outputs || !attributes) {
        return ge::GRAPH_FAILED;
    }
    ops::HcPreArguments arguments{};
    arguments.tokens = Rows(*x, 2);
    arguments.tail = static_cast<uint64_t>(d);
    arguments.iters = static_cast<uint32_t>(kIters);
    arguments.hcEps = FloatAttr(context, 2, 1e-6f);
    arguments.normEps = FloatAttr(context, 3, 1e-6f);
    arguments.preMix = preMix;
    const auto tiling = ops::TileHcPre(arguments, ReadPlatform(context));
    return StoreTiling(context, tiling, tiling.key == 1);
}

} // namespace optiling

namespace ge {

// y, post, comb_frag and, for V2, hc_pre.
inline graphStatus InferHcPreShapes(gert::InferShapeContext *context, bool v2)
{
    const gert::Shape *x = context->GetInputShape(0);
    if (x != nullptr && RankIsUnknown(*x)) {
        return LeaveRanksUnknown(context, v2 ? 4 : 3);
    }
    if (x == nullptr || x->GetDimNum() < 3) {
        return GRAPH_FAILED;
    }
    *context->GetOutputShape(0) = TokensThen(*x, 2, {x->GetDim(x->GetDimNum() - 1)});
    *context->GetOutputShape(1) = TokensThen(*x, 2, {optiling::kHcMult});
    *context->GetOutputShape(2) = TokensThen(*x, 2, {optiling::kHcMult, optiling::kHcMult});
    if (v2) {
        *context->GetOutputShape(3) = TokensThen(*x, 2, {optiling::kHcMult});
    }
    return GRAPH_SUCCESS;
}

inline graphStatus InferHcPreTypes(gert::InferDataTypeContext *context, bool v2)
{
    context->SetOutputDataType(0, context->GetInputDataType(0));
    for (size_t output = 1; output < (v2 ? 4 : 3); ++output) {
        context->SetOutputDataType(output, DT_FLOAT);
    }
    return GRAPH_SUCCESS;
}

} // namespace ge

#endif // HC_PRE_CANN_H
