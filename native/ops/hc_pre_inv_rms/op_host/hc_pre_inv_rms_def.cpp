// HcPreInvRms for CANN: the definition that aclnnHcPreInvRms is generated from, shape and dtype inference, tiling.
#include "ops/common/cann/tiling_adapter.h"
#include "ops/hc_pre_inv_rms/op_host/hc_pre_inv_rms_tiling.h"

namespace optiling {

static ge::graphStatus TilingHcPreInvRms(gert::TilingContext *context)
{
    const gert::Shape *x = InputShape(context, 0);
    const gert::StorageShape *y = context->GetOutputShape(0);
    const double epsilon = FloatAttr(context, 0, 1e-6f);
    if (x == nullptr || y == nullptr || x->GetDimNum() < 2 || x->GetDimNum() > 4 || !(epsilon > 0)) {
        return ge::GRAPH_FAILED;
    }
    // [.., n, d] or, told by a y of as many axes, [.., n*d]
    const bool flat = x->GetDimNum() == 2 || (x->GetDimNum() == 3 && y->GetStorageShape().GetDimNum() == 3);
    const size_t tail = flat ? 1 : 2;
    if (!OutputIs(context, 0, ge::TokensThen(*x, tail, {1}))) {
        return ge::GRAPH_FAILED;
    }
    ops::HcPreInvRmsArguments arguments{};
    arguments.rows = Rows(*x, tail);
    arguments.rowSize = static_cast<uint64_t>(FromEnd(*x, 1) * (flat ? 1 : FromEnd(*x, 2)));
    arguments.itemSize = context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT ? 4 : 2;
    arguments.epsilon = epsilon;
    return StoreTiling(context, ops::TileHcPreInvRms(arguments, ReadPlatform(context)), false);
}

} // namespace optiling

namespace ge {

static graphStatus InferShapeHcPreInvRms(gert::InferShapeContext *context)
{
    const gert::Shape *x = context->GetInputShape(0);
    if (x != nullptr && RankIsUnknown(*x)) {
        return LeaveRanksUnknown(context, 1);
    }
    if (x == nullptr || x->GetDimNum() < 2) {
        return GRAPH_FAILED;
    }
    *context->GetOutputShape(0) = TokensThen(*x, x->GetDimNum() == 2 ? 1 : 2, {1});
    return GRAPH_SUCCESS;
}

static graphStatus InferDataTypeHcPreInvRms(gert::InferDataTypeContext *context)
{
    return context->SetOutputDataType(0, DT_FLOAT);
}

} // namespace ge

namespace ops {

class HcPreInvRms : public OpDef {
public:
    explicit HcPreInvRms(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_BF16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("epsilon").AttrType(OPTIONAL).Float(1e-6f);
        this->SetInferShape(ge::InferShapeHcPreInvRms).SetInferDataType(ge::InferDataTypeHcPreInvRms);
        this->AICore().SetTiling(optiling::TilingHcPreInvRms);
        for (const char *soc : {"ascend910b", "ascend910_93", "ascend950"}) {
            this->AICore().AddConfig(soc);
        }
    }
};

OP_ADD(HcPreInvRms);

} // namespace ops
