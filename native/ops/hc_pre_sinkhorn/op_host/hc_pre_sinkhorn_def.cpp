// HcPreSinkhorn for CANN: the definition that aclnnHcPreSinkhorn is generated from, shape and dtype inference, tiling.
#include "ops/common/cann/tiling_adapter.h"
#include "ops/hc_pre_sinkhorn/op_host/hc_pre_sinkhorn_tiling.h"

namespace optiling {

static ge::graphStatus TilingHcPreSinkhorn(gert::TilingContext *context)
{
    const gert::Shape *mixes = InputShape(context, 0);
    const gert::Shape *x = InputShape(context, 4);
    if (mixes == nullptr || x == nullptr || (mixes->GetDimNum() != 2 && mixes->GetDimNum() != 3)) {
        return ge::GRAPH_FAILED;
    }
    constexpr int64_t streams = 4;
    constexpr int64_t mix = streams * streams + 2 * streams;
    constexpr int64_t mostIters = 100;
    constexpr int64_t largestTail = int64_t{1} << 30; // the gap between streams is a 32-bit number of bytes
    const int64_t d = FromEnd(*x, 1);
    const int64_t iters = IntAttr(context, 1, 20);
    const auto tokensThen = [mixes](std::initializer_list<int64_t> more) { return ge::TokensThen(*mixes, 1, more); };
    const bool rsqrt = InputIs(context, 1, tokensThen({1})) || InputIs(context, 1, tokensThen({}));
    const bool inputs = FromEnd(*mixes, 1) == mix && rsqrt && InputIs(context, 2, {3}) && InputIs(context, 3, {mix}) &&
                        InputIs(context, 4, tokensThen({streams, d}));
    const bool outputs = OutputIs(context, 0, tokensThen({d})) && OutputIs(context, 1, tokensThen({streams})) &&
                         OutputIs(context, 2, tokensThen({streams, streams}));
    const bool attributes = IntAttr(context, 0, streams) == streams && iters >= 1 && iters <= mostIters;
    if (!inputs || !outputs || !attributes || d > largestTail) {
        return ge::GRAPH_FAILED;
    }
    ops::HcPreSinkhornArguments arguments{};
    arguments.tokens = Rows(*mixes, 1);
    arguments.tail = static_cast<uint64_t>(d);
    arguments.numIters = static_cast<uint32_t>(iters);
    arguments.hcEps = FloatAttr(context, 2, 1e-6f);
    return StoreTiling(context, ops::TileHcPreSinkhorn(arguments, ReadPlatform(context)), false);
}

} // namespace optiling

namespace ge {

static graphStatus InferShapeHcPreSinkhorn(gert::InferShapeContext *context)
{
    const gert::Shape *x = context->GetInputShape(4);
    if (x != nullptr && RankIsUnknown(*x)) {
        return LeaveRanksUnknown(context, 3);
    }
    if (x == nullptr || x->GetDimNum() < 3) {
        return GRAPH_FAILED;
    }
    *context->GetOutputShape(0) = TokensThen(*x, 2, {x->GetDim(x->GetDimNum() - 1)});
    *context->GetOutputShape(1) = TokensThen(*x, 2, {4});
    *context->GetOutputShape(2) = TokensThen(*x, 2, {4, 4});
    return GRAPH_SUCCESS;
}

static graphStatus InferDataTypeHcPreSinkhorn(gert::InferDataTypeContext *context)
{
    context->SetOutputDataType(0, context->GetInputDataType(4));
    context->SetOutputDataType(1, DT_FLOAT);
    context->SetOutputDataType(2, DT_FLOAT);
    return GRAPH_SUCCESS;
}

} // namespace ge

namespace ops {

class HcPreSinkhorn : public OpDef {
public:
    explicit HcPreSinkhorn(const char *name) : OpDef(name)
    {
        this->Input("mixes").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("rsqrt").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("hc_scale").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("hc_base").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_BF16}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_BF16}).Format({ge::FORMAT_ND});
        this->Output("post").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("comb_frag").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("hc_mult").AttrType(OPTIONAL).Int(4);
        this->Attr("hc_sinkhorn_iters").AttrType(OPTIONAL).Int(20);
        this->Attr("hc_eps").AttrType(OPTIONAL).Float(1e-6f);
        this->SetInferShape(ge::InferShapeHcPreSinkhorn).SetInferDataType(ge::InferDataTypeHcPreSinkhorn);
        this->AICore().SetTiling(optiling::TilingHcPreSinkhorn);
        for (const char *soc : {"ascend910b", "ascend910_93", "ascend950"}) {
            this->AICore().AddConfig(soc);
        }
    }
};

OP_ADD(HcPreSinkhorn);

} // namespace ops
