// HcPreV2 for CANN: the definition that aclnnHcPreV2 is generated from, shape and dtype inference, tiling.
#include "ops/hc_pre/op_host/hc_pre_cann.h"

namespace optiling {

static ge::graphStatus TilingHcPreV2(gert::TilingContext *context)
{
    return TileHcPreFor(context, true, context->GetOptionalInputShape(4) != nullptr);
}

} // namespace optiling

namespace ge {

static graphStatus InferShapeHcPreV2(gert::InferShapeContext *context)
{
    return InferHcPreShapes(context, true);
}

static graphStatus InferDataTypeHcPreV2(gert::InferDataTypeContext *context)
{
    return InferHcPreTypes(context, true);
}

} // namespace ge

namespace ops {

class HcPreV2 : public OpDef {
public:
    explicit HcPreV2(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_BF16}).Format({ge::FORMAT_ND});
        this->Input("hc_fn").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("hc_scale").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("hc_base").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("pre_mix").ParamType(OPTIONAL).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_BF16}).Format({ge::FORMAT_ND});
        this->Output("post").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("comb_frag").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("hc_pre").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("hc_mult").AttrType(OPTIONAL).Int(4);
        this->Attr("hc_sinkhorn_iters").AttrType(OPTIONAL).Int(20);
        this->Attr("hc_eps").AttrType(OPTIONAL).Float(1e-6f);
        this->Attr("norm_eps").AttrType(OPTIONAL).Float(1e-6f);
        this->SetInferShape(ge::InferShapeHcPreV2).SetInferDataType(ge::InferDataTypeHcPreV2);
        this->AICore().SetTiling(optiling::TilingHcPreV2);
        for (const char *soc : {"ascend910b", "ascend910_93", "ascend950"}) {
            this->AICore().AddConfig(soc);
        }
    }
};

OP_ADD(HcPreV2);

} // namespace ops
