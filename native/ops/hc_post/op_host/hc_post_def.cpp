// HcPost for CANN: the definition that aclnnHcPost is generated from, shape and dtype inference, tiling.
#include "ops/common/cann/tiling_adapter.h"
#include "ops/hc_post/op_host/hc_post_tiling.h"

namespace optiling {

static ge::graphStatus TilingHcPost(gert::TilingContext *context)
{
    const gert::Shape *x = InputShape(context, 0);
    if (x == nullptr || (x->GetDimNum() != 2 && x->GetDimNum() != 3)) {
        return ge::GRAPH_FAILED;
    }
    constexpr int64_t streams = 4;
    constexpr int64_t largestTail = int64_t{1} << 30; // the gap between streams is a 32-bit number of bytes
    const int64_t d = FromEnd(*x, 1);
    const gert::Shape residual = ge::TokensThen(*x, 1, {streams, d});
    const bool fits = InputIs(context, 1, residual) && InputIs(context, 2, ge::TokensThen(*x, 1, {streams})) &&
                      InputIs(context, 3, ge::TokensThen(*x, 1, {streams, streams})) && OutputIs(context, 0, residual);
    if (!fits || d > largestTail) {
        return ge::GRAPH_FAILED;
    }
    const ge::DataType postType = context->GetInputDesc(2)->GetDataType();
    ops::HcPostArguments arguments{};
    arguments.tokens = Rows(*x, 1);
    arguments.tail = static_cast<uint64_t>(d);
    arguments.xBytes = context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT ? 4 : 2;
    arguments.postType = postType == ge::DT_FLOAT ? 0 : postType == ge::DT_FLOAT16 ? 1 : 2;
    return StoreTiling(context, ops::TileHcPost(arguments, ReadPlatform(context)), false);
}

} // namespace optiling

namespace ge {

static graphStatus InferShapeHcPost(gert::InferShapeContext *context)
{
    const gert::Shape *residual = context->GetInputShape(1);
    if (residual == nullptr) {
        return GRAPH_FAILED;
    }
    *context->GetOutputShape(0) = *residual;
    return GRAPH_SUCCESS;
}

static graphStatus InferDataTypeHcPost(gert::InferDataTypeContext *context)
{
    return context->SetOutputDataType(0, context->GetInputDataType(1));
}

} // namespace ge

namespace ops {

class HcPost : public OpDef {
public:
    explicit HcPost(const char *name) : OpDef(name)
    {
        // Nine combinations: the dtype of x, residual and y by that of post and comb.
        const std::vector<ge::DataType> streams{ge::DT_FLOAT16, ge::DT_FLOAT16, ge::DT_FLOAT16, ge::DT_BF16, ge::DT_BF16,
                                                ge::DT_BF16,    ge::DT_FLOAT,   ge::DT_FLOAT,   ge::DT_FLOAT};
        const std::vector<ge::DataType> weights{ge::DT_FLOAT16, ge::DT_BF16, ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16,
                                                ge::DT_FLOAT,   ge::DT_FLOAT16, ge::DT_BF16, ge::DT_FLOAT};
        const std::vector<ge::Format> formats(streams.size(), ge::FORMAT_ND);
        this->Input("x").ParamType(REQUIRED).DataType(streams).Format(formats);
        this->Input("residual").ParamType(REQUIRED).DataType(streams).Format(formats);
        this->Input("post").ParamType(REQUIRED).DataType(weights).Format(formats);
        this->Input("comb").ParamType(REQUIRED).DataType(weights).Format(formats);
        this->Output("y").ParamType(REQUIRED).DataType(streams).Format(formats);
        this->SetInferShape(ge::InferShapeHcPost).SetInferDataType(ge::InferDataTypeHcPost);
        this->AICore().SetTiling(optiling::TilingHcPost);
        for (const char *soc : {"ascend910b", "ascend910_93", "ascend950"}) {
            this->AICore().AddConfig(soc);
        }
    }
};

OP_ADD(HcPost);

} // namespace ops
