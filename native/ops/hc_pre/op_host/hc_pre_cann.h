// What the definitions of HcPre and HcPreV2 for CANN share; see tiling_adapter.h.
#ifndef HC_PRE_CANN_H
#define HC_PRE_CANN_H

#include "ops/common/cann/tiling_adapter.h"
#include "ops/hc_pre/op_host/hc_pre_tiling.h"

namespace optiling {

constexpr int64_t kHcMult = 4;
constexpr int64_t kIters = 20;

// Attributes: hc_mult, hc_sinkhorn_iters, hc_eps, norm_eps.
inline ge::graphStatus TileHcPreFor(gert::TilingContext *context, bool preMix)
{
    const gert::Shape *x = InputShape(context, 0);
    const gert::Shape *hcFn = InputShape(context, 1);
    if (x == nullptr || hcFn == nullptr || (x->GetDimNum() != 3 && x->GetDimNum() != 4)) {
        return ge::GRAPH_FAILED;
    }
    const int64_t d = FromEnd(*x, 1);
    const bool known = d == 4096 || d == 5120 || d == 7168;
    const bool fits = FromEnd(*x, 2) == kHcMult && hcFn->GetShapeSize() == (kHcMult + 2) * kHcMult * kHcMult * d;
    if (!known || !fits || IntAttr(context, 0, kHcMult) != kHcMult || IntAttr(context, 1, kIters) != kIters) {
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
