#include <algorithm>
#include <memory>

#include "nnopbase/api.h"
#include "nnopbase/registry.h"
#include "nnopbase/tensor.h"
#include "runtime/log.h"

using nnop::Api;
using nnop::RefuseNull;
using nnop::RefuseStale;
using nnop::Type;

namespace nnop {
namespace {

constexpr uint64_t kMaxDims = 25; // what CANN's shape and stride vectors hold

std::vector<int64_t> RowMajorStrides(const std::vector<int64_t> &shape)
{
    std::vector<int64_t> strides(shape.size());
    uint64_t stride = 1; // unsigned: shapes are not checked here and may overflow
    for (size_t i = shape.size(); i-- > 0;) {
        strides[i] = static_cast<int64_t>(stride);
        stride *= static_cast<uint64_t>(shape[i]);
    }
    return strides;
}

void WarnPrivateFormat(aclFormat format)
{
    if (IsPrivateFormat(format) && aclemu::LogEnabled(aclemu::LogLevel::WARNING, "OP")) {
        aclemu::WriteLog(aclemu::LogLevel::WARNING, "OP",
                         "[NNOP] tensor has the private format " + ToString(format));
    }
}

bool TooManyDims(const char *function, uint64_t viewDimsNum, uint64_t storageDimsNum)
{
    if (std::max(viewDimsNum, storageDimsNum) <= kMaxDims) {
        return false;
    }
    Refuse(ACLNN_ERR_INNER, function,
           std::string(function) + " failed: " + std::to_string(viewDimsNum) + " view and " +
               std::to_string(storageDimsNum) + " storage dimensions; at most " + std::to_string(kMaxDims) +
               " are possible.");
    return true;
}

// Gives the caller a copy of `values` that it releases with delete[].
aclnnStatus CopyOut(const char *function, const std::vector<int64_t> &values, int64_t **out, uint64_t *count)
{
    auto *copy = new (std::nothrow) int64_t[values.size()];
    if (copy == nullptr) {
        return Refuse(ACLNN_ERR_INNER_NULLPTR, function,
                      std::string(function) + " failed: host memory is exhausted.");
    }
    std::copy(values.begin(), values.end(), copy);
    *out = copy;
    *count = values.size();
    return ACLNN_SUCCESS;
}

// The checks that all getters share.
template <typename Function>
aclnnStatus Get(const char *name, const aclTensor *tensor, const void *out, const char *outName,
                Function function)
{
    return Api(name, [&]() -> aclnnStatus {
        if (tensor == nullptr) {
            return RefuseNull(name, "tensor");
        }
        if (out == nullptr) {
            return RefuseNull(name, outName);
        }
        if (SerialOf(tensor, Type::TENSOR) == 0) {
            return RefuseStale(name, "tensor");
        }
        return function();
    });
}

} // namespace
} // namespace nnop

aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t *stride, int64_t offset, aclFormat format,
                           const int64_t *storageDims, uint64_t storageDimsNum, void *tensorData)
{
    // Nothing else is checked here: an operator refuses what it cannot use.
    if ((viewDims == nullptr && viewDimsNum > 0) || (storageDims == nullptr && storageDimsNum > 0)) {
        return nullptr;
    }
    return nnop::Make("aclCreateTensor", [=]() -> aclTensor * {
        if (nnop::TooManyDims("aclCreateTensor", viewDimsNum, storageDimsNum)) {
            return nullptr;
        }
        auto tensor = std::make_unique<aclTensor>();
        if (viewDimsNum > 0) {
            tensor->viewShape.assign(viewDims, viewDims + viewDimsNum);
        }
        if (stride != nullptr) {
            tensor->viewStrides.assign(stride, stride + viewDimsNum);
        } else {
            tensor->viewStrides = nnop::RowMajorStrides(tensor->viewShape);
        }
        if (storageDimsNum > 0) {
            tensor->storageShape.assign(storageDims, storageDims + storageDimsNum);
        }
        tensor->viewOffset = offset;
        tensor->dataType = dataType;
        tensor->format = format;
        tensor->address = tensorData;
        nnop::WarnPrivateFormat(format);
        nnop::Register(tensor.get(), Type::TENSOR);
        return tensor.release();
    });
}

aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t *stride, int64_t offset, aclFormat format,
                          const int64_t *storageDims, uint64_t storageDimsNum, void *tensorDataAddr)
{
    return nnop::Get("aclInitTensor", tensor, tensor, "tensor", [=]() -> aclnnStatus {
        if (nnop::TooManyDims("aclInitTensor", viewDimsNum, storageDimsNum)) {
            return ACLNN_ERR_PARAM_INVALID;
        }
        if (viewDims != nullptr && viewDimsNum > 0) {
            tensor->viewShape.assign(viewDims, viewDims + viewDimsNum);
        }
        if (storageDims != nullptr && storageDimsNum > 0) {
            tensor->storageShape.assign(storageDims, storageDims + storageDimsNum);
        }
        if (stride != nullptr && viewDimsNum == tensor->viewShape.size()) {
            tensor->viewStrides.assign(stride, stride + viewDimsNum);
        } else {
            tensor->viewStrides = nnop::RowMajorStrides(tensor->viewShape);
        }
        tensor->viewOffset = offset;
        tensor->dataType = dataType;
        tensor->format = format;
        if (tensorDataAddr != nullptr) {
            tensor->address = tensorDataAddr;
        }
        nnop::WarnPrivateFormat(format);
        return ACLNN_SUCCESS;
    });
}

aclnnStatus aclDestroyTensor(const aclTensor *tensor)
{
    return Api("aclDestroyTensor", [=]() -> aclnnStatus {
        if (tensor == nullptr) {
            return ACLNN_SUCCESS;
        }
        if (!nnop::Unregister(tensor, Type::TENSOR)) {
            return RefuseStale("aclDestroyTensor", "tensor");
        }
        delete tensor;
        return ACLNN_SUCCESS;
    });
}

aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims, uint64_t *viewDimsNum)
{
    return nnop::Get("aclGetViewShape", tensor, viewDims, "viewDims", [=]() -> aclnnStatus {
        return viewDimsNum == nullptr
                   ? RefuseNull("aclGetViewShape", "viewDimsNum")
                   : nnop::CopyOut("aclGetViewShape", tensor->viewShape, viewDims, viewDimsNum);
    });
}

aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue, uint64_t *stridesNum)
{
    return nnop::Get("aclGetViewStrides", tensor, stridesValue, "stridesValue", [=]() -> aclnnStatus {
        return stridesNum == nullptr
                   ? RefuseNull("aclGetViewStrides", "stridesNum")
                   : nnop::CopyOut("aclGetViewStrides", tensor->viewStrides, stridesValue, stridesNum);
    });
}

aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims, uint64_t *storageDimsNum)
{
    return nnop::Get("aclGetStorageShape", tensor, storageDims, "storageDims", [=]() -> aclnnStatus {
        return storageDimsNum == nullptr
                   ? RefuseNull("aclGetStorageShape", "storageDimsNum")
                   : nnop::CopyOut("aclGetStorageShape", tensor->storageShape, storageDims, storageDimsNum);
    });
}

aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset)
{
    return nnop::Get("aclGetViewOffset", tensor, offset, "offset", [=]() -> aclnnStatus {
        *offset = tensor->viewOffset;
        return ACLNN_SUCCESS;
    });
}

aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format)
{
    return nnop::Get("aclGetFormat", tensor, format, "format", [=]() -> aclnnStatus {
        // ToString gives a bare number to what the public list does not have.
        const std::string name = nnop::ToString(tensor->format);
        const bool known = name[0] < '0' || name[0] > '9';
        *format = known ? tensor->format : ACL_FORMAT_UNDEFINED;
        return ACLNN_SUCCESS;
    });
}

aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType)
{
    return nnop::Get("aclGetDataType", tensor, dataType, "dataType", [=]() -> aclnnStatus {
        const std::string name = nnop::ToString(tensor->dataType);
        const bool known = name[3] < '0' || name[3] > '9';
        *dataType = known ? tensor->dataType : ACL_DT_UNDEFINED;
        return ACLNN_SUCCESS;
    });
}

aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr)
{
    return nnop::Get("aclGetRawTensorAddr", tensor, addr, "addr", [=]() -> aclnnStatus {
        *addr = tensor->address;
        return ACLNN_SUCCESS;
    });
}

aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr)
{
    return nnop::Get("aclSetRawTensorAddr", tensor, addr, "addr", [=]() -> aclnnStatus {
        tensor->address = addr;
        return ACLNN_SUCCESS;
    });
}
