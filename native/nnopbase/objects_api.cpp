#include <cstring>
#include <memory>

#include "nnopbase/api.h"
#include "nnopbase/objects.h"
#include "nnopbase/registry.h"
#include "nnopbase/tensor.h"

using nnop::Api;
using nnop::RefuseNull;
using nnop::RefuseStale;
using nnop::Type;

namespace nnop {
namespace {

// Bytes aclCreateScalar reads for a type, 0 for types a scalar cannot have.
size_t ScalarBytes(aclDataType type)
{
    switch (type) {
        case ACL_FLOAT6_E3M2:
        case ACL_FLOAT6_E2M3:
        case ACL_FLOAT4_E2M1:
        case ACL_FLOAT4_E1M2:
            return 1; // one element, not packed
        case ACL_DT_UNDEFINED:
        case ACL_STRING:
        case ACL_INT4:
        case ACL_UINT1:
        case ACL_COMPLEX32:
            return 0;
        case ACL_COMPLEX128:
            return 16;
        default: {
            const size_t size = TypeSize(type);
            return size <= 8 ? size : 0; // 16 stands for types it does not know
        }
    }
}

template <typename Array, typename Value>
Array *CreateArray(const char *name, Type type, const Value *values, uint64_t size)
{
    return Make(name, [=]() -> Array * {
        if (values != nullptr && size > PTRDIFF_MAX / sizeof(Value)) {
            Refuse(ACLNN_ERR_INNER, name, std::string(name) + " failed: size is " + std::to_string(size) +
                                              ", which is more than memory can hold.");
            return nullptr;
        }
        auto array = std::make_unique<Array>();
        if (values != nullptr) {
            array->values.assign(values, values + size);
        }
        Register(array.get(), type);
        return array.release();
    });
}

template <typename Object>
aclnnStatus Destroy(const char *name, const char *argument, Type type, const Object *object)
{
    return Api(name, [=]() -> aclnnStatus {
        if (object == nullptr) {
            return ACLNN_SUCCESS;
        }
        if (!Unregister(object, type)) {
            return RefuseStale(name, argument);
        }
        delete object;
        return ACLNN_SUCCESS;
    });
}

// Destroys the elements too, then the list; the first failure is returned.
template <typename List, typename DestroyElement>
aclnnStatus DestroyList(const char *name, Type type, const List *list, DestroyElement destroyElement)
{
    return Api(name, [=]() -> aclnnStatus {
        if (list == nullptr) {
            return ACLNN_SUCCESS;
        }
        if (!Unregister(list, type)) {
            return RefuseStale(name, "array");
        }
        aclnnStatus first = ACLNN_SUCCESS;
        for (const auto *element : list->values) {
            const aclnnStatus status = destroyElement(element);
            first = first == ACLNN_SUCCESS ? status : first;
        }
        delete list;
        return first;
    });
}

template <typename Object>
aclnnStatus GetSize(const char *name, const char *argument, Type type, const Object *object, uint64_t *size)
{
    return Api(name, [=]() -> aclnnStatus {
        if (object == nullptr) {
            return RefuseNull(name, argument);
        }
        if (size == nullptr) {
            return RefuseNull(name, "size");
        }
        if (SerialOf(object, type) == 0) {
            return RefuseStale(name, argument);
        }
        *size = object->values.size();
        return ACLNN_SUCCESS;
    });
}

} // namespace
} // namespace nnop

aclScalar *aclCreateScalar(void *value, aclDataType dataType)
{
    if (value == nullptr) {
        return nullptr;
    }
    return nnop::Make("aclCreateScalar", [=]() -> aclScalar * {
        const size_t bytes = nnop::ScalarBytes(dataType);
        if (bytes == 0) {
            aclemu::ReportError("EZ1006", "Not_Supported_Data_Type",
                                "aclCreateScalar failed: a scalar cannot have dtype " +
                                    nnop::ToString(dataType) + ".");
            nnop::Refuse(ACLNN_ERR_INNER, "aclCreateScalar", "aclCreateScalar failed to make a scalar.");
            return nullptr;
        }
        auto scalar = std::make_unique<aclScalar>();
        scalar->dataType = dataType;
        std::memcpy(scalar->value, value, bytes);
        nnop::Register(scalar.get(), Type::SCALAR);
        return scalar.release();
    });
}

aclnnStatus aclDestroyScalar(const aclScalar *scalar)
{
    return nnop::Destroy("aclDestroyScalar", "scalar", Type::SCALAR, scalar);
}

aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size)
{
    return nnop::CreateArray<aclIntArray>("aclCreateIntArray", Type::INT_ARRAY, value, size);
}

aclnnStatus aclDestroyIntArray(const aclIntArray *array)
{
    return nnop::Destroy("aclDestroyIntArray", "array", Type::INT_ARRAY, array);
}

aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size)
{
    return nnop::GetSize("aclGetIntArraySize", "array", Type::INT_ARRAY, array, size);
}

aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size)
{
    return nnop::CreateArray<aclFloatArray>("aclCreateFloatArray", Type::FLOAT_ARRAY, value, size);
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray *array)
{
    return nnop::Destroy("aclDestroyFloatArray", "array", Type::FLOAT_ARRAY, array);
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size)
{
    return nnop::GetSize("aclGetFloatArraySize", "array", Type::FLOAT_ARRAY, array, size);
}

aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size)
{
    return nnop::CreateArray<aclBoolArray>("aclCreateBoolArray", Type::BOOL_ARRAY, value, size);
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray *array)
{
    return nnop::Destroy("aclDestroyBoolArray", "array", Type::BOOL_ARRAY, array);
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size)
{
    return nnop::GetSize("aclGetBoolArraySize", "array", Type::BOOL_ARRAY, array, size);
}

aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size)
{
    return nnop::CreateArray<aclTensorList>("aclCreateTensorList", Type::TENSOR_LIST, value, size);
}

aclnnStatus aclDestroyTensorList(const aclTensorList *array)
{
    return nnop::DestroyList("aclDestroyTensorList", Type::TENSOR_LIST, array, aclDestroyTensor);
}

aclnnStatus aclGetTensorListSize(const aclTensorList *tensorList, uint64_t *size)
{
    return nnop::GetSize("aclGetTensorListSize", "tensorList", Type::TENSOR_LIST, tensorList, size);
}

aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size)
{
    return nnop::CreateArray<aclScalarList>("aclCreateScalarList", Type::SCALAR_LIST, value, size);
}

aclnnStatus aclDestroyScalarList(const aclScalarList *array)
{
    return nnop::DestroyList("aclDestroyScalarList", Type::SCALAR_LIST, array, aclDestroyScalar);
}

aclnnStatus aclGetScalarListSize(const aclScalarList *scalarList, uint64_t *size)
{
    return nnop::GetSize("aclGetScalarListSize", "scalarList", Type::SCALAR_LIST, scalarList, size);
}
