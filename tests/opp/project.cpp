// Linked with the definition files of an exported project: prints, as JSON, each operator's definition and what its shape
// inference and tiling answer.
#include <iostream>

#include "register/op_def_registry.h"

namespace {

using gert::Shape;

template <typename T, typename Print>
std::string List(const std::vector<T> &values, Print print)
{
    std::string text = "[";
    for (const T &value : values) {
        text += (text.size() > 1 ? ", " : "") + print(value);
    }
    return text + "]";
}

std::string Quoted(const std::string &text)
{
    return "\"" + text + "\"";
}

std::string Numbers(const std::vector<int64_t> &values)
{
    return List(values, [](int64_t value) { return std::to_string(value); });
}

std::string Params(const std::vector<ops::OpParamDef> &params)
{
    return List(params, [](const ops::OpParamDef &param) {
        return "{\"name\": " + Quoted(param.name) + ", \"optional\": " + (param.option == ops::OPTIONAL ? "true" : "false") +
               ", \"types\": " + List(param.types, [](ge::DataType type) { return std::to_string(type); }) +
               ", \"formats\": " + std::to_string(param.formats.size()) + "}";
    });
}

void PrintDefinition(const ops::OpDef &op)
{
    std::cout << "{\"op\": " << Quoted(op.type) << ", \"inputs\": " << Params(op.inputs) << ", \"outputs\": "
              << Params(op.outputs) << ", \"attrs\": " << List(op.attrs, [](const ops::OpAttrDef &attr) {
                     return "[" + Quoted(attr.name) + ", " + Quoted(attr.isFloat ? "double" : "int64_t") + ", " +
                            (attr.isFloat ? std::to_string(attr.real) : std::to_string(attr.integer)) + "]";
                 })
              << ", \"socs\": " << List(op.core.socs, Quoted) << "}\n";
}

// One call: the shapes of the inputs, the dtype of the first, and the attributes as definition has them but for `changed`.
struct Call {
    std::vector<Shape> inputs;
    std::vector<ge::DataType> types;
    size_t missing = ~size_t{0};
    std::map<std::string, double> changed;
};

// What shape inference says of inputs whose rank is not known yet.
void PrintUnknown(const ops::OpDef &op)
{
    gert::InferShapeContext shapes;
    shapes.inputs.assign(op.inputs.size(), {-2});
    shapes.outputs.resize(op.outputs.size());
    const bool inferred = op.shapes(&shapes) == ge::GRAPH_SUCCESS;
    std::cout << "{\"op\": " << Quoted(op.type) << ", \"unknown\": "
              << (inferred ? List(shapes.outputs, [](const Shape &shape) { return Numbers(shape.Dims()); }) : "null")
              << "}\n";
}

gert::TilingContext ContextOf(const ops::OpDef &op, const Call &call, const std::vector<Shape> &outputs)
{
    gert::TilingContext context;
    for (const Shape &shape : call.inputs) {
        context.inputs.emplace_back(shape);
    }
    for (const Shape &shape : outputs) {
        context.outputs.emplace_back(shape);
    }
    for (const ge::DataType type : call.types) {
        context.types.emplace_back(type);
    }
    context.missing = call.missing;
    for (const ops::OpAttrDef &attr : op.attrs) {
        const auto change = call.changed.find(attr.name);
        const double value = change != call.changed.end() ? change->second : attr.isFloat ? attr.real : attr.integer;
        context.attrs.isFloat.push_back(attr.isFloat);
        context.attrs.ints.push_back(static_cast<int64_t>(value));
        context.attrs.floats.push_back(static_cast<float>(value));
    }
    return context;
}

Shape Longer(const Shape &shape)
{
    Shape longer;
    for (size_t axis = 0; axis < shape.GetDimNum(); ++axis) {
        longer.AppendDim(shape.GetDim(axis) + (axis + 1 == shape.GetDimNum() ? 1 : 0));
    }
    return longer;
}

// A call that is tiled, and then with one tensor after the other an element longer.
void PrintLonger(const ops::OpDef &op, const Call &call)
{
    gert::InferShapeContext shapes;
    shapes.inputs = call.inputs;
    shapes.outputs.resize(op.outputs.size());
    op.shapes(&shapes);
    for (size_t i = 0; i < call.inputs.size() + shapes.outputs.size(); ++i) {
        Call changed = call;
        std::vector<Shape> outputs = shapes.outputs;
        const bool input = i < call.inputs.size();
        Shape &shape = input ? changed.inputs[i] : outputs[i - call.inputs.size()];
        shape = Longer(shape);
        gert::TilingContext context = ContextOf(op, changed, outputs);
        const bool tiled = op.core.tiling(&context) == ge::GRAPH_SUCCESS;
        const std::string name = input ? op.inputs[i].name : op.outputs[i - call.inputs.size()].name;
        std::cout << "{\"op\": " << Quoted(op.type) << ", \"longer\": " << Quoted(name)
                  << ", \"tiled\": " << (tiled ? "true" : "false") << "}\n";
    }
}

void PrintCall(const ops::OpDef &op, const Call &call)
{
    gert::InferShapeContext shapes;
    shapes.inputs = call.inputs;
    shapes.outputs.resize(op.outputs.size());
    const bool inferred = op.shapes(&shapes) == ge::GRAPH_SUCCESS;
    gert::InferDataTypeContext types;
    types.inputs = call.types;
    types.outputs.resize(op.outputs.size());
    const bool typed = op.dataTypes(&types) == ge::GRAPH_SUCCESS;

    gert::TilingContext context = ContextOf(op, call, shapes.outputs);
    const bool tiled = op.core.tiling(&context) == ge::GRAPH_SUCCESS;
    std::vector<int64_t> bytes;
    for (size_t i = 0; i < context.data.GetDataSize(); ++i) {
        bytes.push_back(static_cast<const uint8_t *>(context.data.GetData())[i]);
    }
    std::cout << "{\"op\": " << Quoted(op.type) << ", \"outputs\": "
              << (inferred ? List(shapes.outputs, [](const Shape &shape) { return Numbers(shape.Dims()); }) : "null")
              << ", \"types\": "
              << (typed ? List(types.outputs, [](ge::DataType type) { return std::to_string(type); }) : "null")
              << ", \"tiled\": " << (tiled ? "true" : "false") << ", \"blockDim\": " << context.blockDim
              << ", \"key\": " << (tiled ? std::to_string(context.key) : "null")
              << ", \"scheduleMode\": " << context.scheduleMode << ", \"workspace\": " << context.workspace
              << ", \"data\": " << Numbers(bytes) << "}\n";
}

} // namespace

int main()
{
    std::map<std::string, ops::OpDef> ops;
    for (const auto &entry : ops::Registered()) {
        ops.emplace(entry.first, entry.second());
        PrintDefinition(ops.at(entry.first));
        PrintUnknown(ops.at(entry.first));
    }
    const auto f32 = ge::DT_FLOAT;
    const auto bf16 = ge::DT_BF16;
    const std::vector<Shape> pre{{64, 4, 4096}, {24, 16384}, {3}, {24}};
    const std::vector<ge::DataType> preTypes{bf16, f32, f32, f32, f32};
    std::vector<Shape> preMix = pre;
    preMix.push_back({64, 4});
    PrintCall(ops.at("HcPre"), {pre, preTypes, ~size_t{0}, {{"hc_eps", 0.25}, {"norm_eps", 0.5}}});
    PrintCall(ops.at("HcPre"), {{{2, 4096, 4, 7168}, {24, 28672}, {3}, {24}}, preTypes, ~size_t{0}, {}});
    PrintCall(ops.at("HcPre"), {{{64, 4, 4000}, {24, 16000}, {3}, {24}}, preTypes, ~size_t{0}, {}});
    PrintCall(ops.at("HcPre"), {pre, preTypes, ~size_t{0}, {{"hc_mult", 6}}});
    PrintCall(ops.at("HcPre"), {pre, preTypes, ~size_t{0}, {{"hc_sinkhorn_iters", 19}}});
    PrintCall(ops.at("HcPreV2"), {preMix, preTypes, ~size_t{0}, {}});
    PrintCall(ops.at("HcPreV2"), {preMix, preTypes, 4, {}});
    PrintCall(ops.at("HcPreInvRms"), {{{3, 5, 4, 4096}}, {ge::DT_FLOAT16}, ~size_t{0}, {{"epsilon", 0.125}}});
    PrintCall(ops.at("HcPreInvRms"), {{{3, 5, 4, 4096}}, {bf16}, ~size_t{0}, {{"epsilon", 0}}});
    PrintCall(ops.at("HcPreSinkhorn"),
              {{{7, 24}, {7, 1}, {3}, {24}, {7, 4, 64}}, {f32, f32, f32, f32, bf16}, ~size_t{0}, {{"hc_eps", 0.25}}});
    PrintCall(ops.at("HcPreSinkhorn"), {{{7, 24}, {6}, {3}, {24}, {7, 4, 64}}, {f32, f32, f32, f32, bf16}, ~size_t{0}, {}});
    PrintCall(ops.at("HcPost"), {{{9, 128}, {9, 4, 128}, {9, 4}, {9, 4, 4}}, {bf16, bf16, f32, f32}, ~size_t{0}, {}});
    PrintCall(ops.at("HcPost"), {{{9, 128}, {9, 4, 64}, {9, 4}, {9, 4, 4}}, {bf16, bf16, f32, f32}, ~size_t{0}, {}});
    PrintLonger(ops.at("HcPre"), {pre, preTypes, ~size_t{0}, {}});
    PrintLonger(ops.at("HcPreV2"), {preMix, preTypes, ~size_t{0}, {}});
    PrintLonger(ops.at("HcPreInvRms"), {{{3, 5, 4, 4096}}, {bf16}, ~size_t{0}, {}});
    PrintLonger(ops.at("HcPreSinkhorn"),
                {{{7, 24}, {7, 1}, {3}, {24}, {7, 4, 64}}, {f32, f32, f32, f32, bf16}, ~size_t{0}, {}});
    PrintLonger(ops.at("HcPost"), {{{9, 128}, {9, 4, 128}, {9, 4}, {9, 4, 4}}, {bf16, bf16, f32, f32}, ~size_t{0}, {}});
    return 0;
}
