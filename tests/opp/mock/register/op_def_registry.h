// A stand-in for the documented part of CANN's op_def_registry.h that the definition files use, to compile and run them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fe {
class PlatFormInfos;
}

namespace ge {
using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;
enum DataType { DT_FLOAT = 0, DT_FLOAT16 = 1, DT_BF16 = 27 };
enum Format { FORMAT_ND = 2 };
} // namespace ge

namespace gert {

class Shape {
public:
    Shape() = default;
    Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
    size_t GetDimNum() const { return dims_.size(); }
    int64_t GetDim(size_t index) const { return dims_.at(index); }
    Shape &AppendDim(int64_t value)
    {
        dims_.push_back(value);
        return *this;
    }
    int64_t GetShapeSize() const
    {
        int64_t size = 1;
        for (const int64_t dim : dims_) {
            size *= dim;
        }
        return size;
    }
    bool operator==(const Shape &other) const { return dims_ == other.dims_; }
    const std::vector<int64_t> &Dims() const { return dims_; } // of the stand-in only

private:
    std::vector<int64_t> dims_;
};

class StorageShape {
public:
    StorageShape() = default;
    explicit StorageShape(Shape shape) : shape_(std::move(shape)) {}
    const Shape &GetStorageShape() const { return shape_; }

private:
    Shape shape_;
};

class CompileTimeTensorDesc {
public:
    explicit CompileTimeTensorDesc(ge::DataType type) : type_(type) {}
    ge::DataType GetDataType() const { return type_; }

private:
    ge::DataType type_;
};

class RuntimeAttrs {
public:
    std::vector<int64_t> ints; // by position; of the stand-in only
    std::vector<float> floats;
    std::vector<bool> isFloat;

    template <typename T>
    const T *GetAttrPointer(size_t index) const
    {
        static_assert(std::is_same_v<T, int64_t> || std::is_same_v<T, float>, "Int is int64_t, Float is float");
        if (index >= isFloat.size()) {
            return nullptr;
        }
        if (isFloat[index] != std::is_same_v<T, float>) {
            throw std::string("an attribute is read as another type");
        }
        if constexpr (std::is_same_v<T, float>) {
            return &floats[index];
        } else {
            return &ints[index];
        }
    }
};

class TilingData {
public:
    void *GetData() { return bytes_; }
    size_t GetCapacity() const { return sizeof(bytes_); }
    size_t GetDataSize() const { return size_; }
    void SetDataSize(size_t size) { size_ = size; }

private:
    alignas(8) uint8_t bytes_[2048] = {};
    size_t size_ = 0;
};

class TilingContext {
public:
    // Of the stand-in only: what a test puts in and takes out.
    std::vector<StorageShape> inputs, outputs;
    std::vector<CompileTimeTensorDesc> types;
    size_t missing = ~size_t{0}; // an optional input that is not given
    RuntimeAttrs attrs;
    TilingData data;
    size_t workspace = 0;
    uint32_t blockDim = 0;
    uint64_t key = ~uint64_t{0};
    uint32_t scheduleMode = 0;

    fe::PlatFormInfos *GetPlatformInfo() const { return nullptr; }
    const StorageShape *GetInputShape(size_t index) const
    {
        return index < inputs.size() && index != missing ? &inputs[index] : nullptr;
    }
    const StorageShape *GetOptionalInputShape(size_t index) const { return GetInputShape(index); }
    const StorageShape *GetOutputShape(size_t index) const { return index < outputs.size() ? &outputs[index] : nullptr; }
    const CompileTimeTensorDesc *GetInputDesc(size_t index) const { return &types.at(index); }
    const RuntimeAttrs *GetAttrs() const { return &attrs; }
    TilingData *GetRawTilingData() { return &data; }
    size_t *GetWorkspaceSizes(size_t) { return &workspace; }
    ge::graphStatus SetBlockDim(uint32_t value) { return Set(blockDim, value); }
    ge::graphStatus SetTilingKey(uint64_t value) { return Set(key, value); }
    ge::graphStatus SetScheduleMode(uint32_t value) { return Set(scheduleMode, value); }

private:
    template <typename T>
    static ge::graphStatus Set(T &to, T value)
    {
        to = value;
        return ge::GRAPH_SUCCESS;
    }
};

class InferShapeContext {
public:
    std::vector<Shape> inputs, outputs; // of the stand-in only
    const Shape *GetInputShape(size_t index) const { return index < inputs.size() ? &inputs[index] : nullptr; }
    Shape *GetOutputShape(size_t index) { return index < outputs.size() ? &outputs[index] : nullptr; }
};

class InferDataTypeContext {
public:
    std::vector<ge::DataType> inputs, outputs; // of the stand-in only
    ge::DataType GetInputDataType(size_t index) const { return inputs.at(index); }
    ge::graphStatus SetOutputDataType(size_t index, ge::DataType type)
    {
        outputs.at(index) = type;
        return ge::GRAPH_SUCCESS;
    }
};

} // namespace gert

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };

using TilingFunction = ge::graphStatus (*)(gert::TilingContext *);
using ShapeFunction = ge::graphStatus (*)(gert::InferShapeContext *);
using TypeFunction = ge::graphStatus (*)(gert::InferDataTypeContext *);

class OpParamDef {
public:
    explicit OpParamDef(const char *name) : name(name) {}
    OpParamDef &ParamType(Option value)
    {
        option = value;
        return *this;
    }
    OpParamDef &DataType(std::vector<ge::DataType> value)
    {
        types = std::move(value);
        return *this;
    }
    OpParamDef &Format(std::vector<ge::Format> value)
    {
        formats = std::move(value);
        return *this;
    }
    std::string name;
    Option option = IGNORE;
    std::vector<ge::DataType> types;
    std::vector<ge::Format> formats;
};

class OpAttrDef {
public:
    explicit OpAttrDef(const char *name) : name(name) {}
    OpAttrDef &AttrType(Option) { return *this; }
    OpAttrDef &Int(int64_t value)
    {
        integer = value;
        return *this;
    }
    OpAttrDef &Float(float value)
    {
        real = value;
        isFloat = true;
        return *this;
    }
    std::string name;
    bool isFloat = false;
    int64_t integer = 0;
    float real = 0;
};

class OpAICoreDef {
public:
    OpAICoreDef &SetTiling(TilingFunction function)
    {
        tiling = function;
        return *this;
    }
    void AddConfig(const char *soc) { socs.push_back(soc); } // void in the documents, whatever headers have
    TilingFunction tiling = nullptr;
    std::vector<std::string> socs;
};

class OpDef {
public:
    explicit OpDef(const char *name) : type(name) {}
    OpParamDef &Input(const char *name) { return Add(inputs, name); }
    OpParamDef &Output(const char *name) { return Add(outputs, name); }
    OpAttrDef &Attr(const char *name) { return Add(attrs, name); }
    OpDef &SetInferShape(ShapeFunction function)
    {
        shapes = function;
        return *this;
    }
    OpDef &SetInferDataType(TypeFunction function)
    {
        dataTypes = function;
        return *this;
    }
    OpAICoreDef &AICore() { return core; }

    std::string type;
    std::vector<OpParamDef> inputs, outputs;
    std::vector<OpAttrDef> attrs;
    ShapeFunction shapes = nullptr;
    TypeFunction dataTypes = nullptr;
    OpAICoreDef core;

private:
    template <typename T>
    static T &Add(std::vector<T> &to, const char *name)
    {
        to.reserve(64); // references are kept while a statement runs
        to.emplace_back(name);
        return to.back();
    }
};

inline std::map<std::string, std::function<OpDef()>> &Registered()
{
    static std::map<std::string, std::function<OpDef()>> all;
    return all;
}

} // namespace ops

#define OP_ADD(opType) \
    static const bool g_added_##opType = ops::Registered().emplace(#opType, [] { return opType(#opType); }).second
