// HcPre for CANN: the definition that aclnnHcPre is generated from, shape and dtype inference, tiling.
#include "ops/hc_pre/op_host/hc_pre_cann.h"

namespace optiling {

static ge::graphStatus TilingHcPre(gert::TilingContext *context)
{
    return TileHcPreFor(context, false, false);
}

} // namespace optiling

namespace ge {

static graphStatus InferShapeHcPre(gert::InferShapeContext *context)
{
    return InferHcPreShapes(context, false);
}

static graphStatus InferDataTypeHcPre(gert::InferDataTypeContext *context)
{
    return InferHcPreTypes(context, false);
}

} // namespace ge

namespace ops {

class HcPre : public OpDef {
public:
    explicit HcPre(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_BF16}).Format({ge::FORMAT_ND});
        this->Input("hc_fn").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("hc_scale").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("hc_base").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_BF16}).Format({ge::FORMAT_ND});
        this->Output("post").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("comb_frag").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("hc_mult").AttrType(OPTIONAL).Int(4);
        this->Attr("hc_sinkhorn_iters").AttrType(OPTIONAL).Int(20);
        this->Attr("hc_eps").AttrType(OPTIONAL).Float(1e-6f);
        this->Attr("norm_eps").AttrType(OPTIONAL).Float(1e-6f);
        this->SetInferShape(ge::InferShapeHcPre).SetInferDataType(ge::InferDataTypeHcPre);
        this->AICore().SetTiling(optiling::TilingHcPre);
        for (const char *soc : {"ascend910b", "ascend910_93", "ascend950"}) {
            this->AICore().AddConfig(soc);
        }
    }
};

OP_ADD(HcPre);

} // namespace ops
