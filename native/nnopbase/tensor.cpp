#include "nnopbase/tensor.h"

#include <cstdint>

namespace {

// Bits of one element where they are not whole bytes, else 0.
unsigned PackedBits(aclDataType type)
{
    switch (type) {
        case ACL_UINT1:
            return 1;
        case ACL_INT4:
        case ACL_FLOAT4_E2M1:
        case ACL_FLOAT4_E1M2:
            return 4;
        case ACL_FLOAT6_E3M2:
        case ACL_FLOAT6_E2M3:
            return 6;
        default:
            return 0;
    }
}

} // namespace

int64_t aclTensor::Size() const
{
    int64_t size = 1;
    for (const int64_t dim : viewShape) {
        if (dim == 0) {
            return 0;
        }
        if (__builtin_mul_overflow(size, dim, &size)) {
            size = INT64_MAX; // no buffer is that large, so every check of it fails
        }
    }
    return size;
}

bool aclTensor::IsEmpty() const
{
    for (const int64_t dim : viewShape) {
        if (dim == 0) {
            return true;
        }
    }
    return false;
}

bool aclTensor::IsContiguous() const
{
    if (Size() <= 1) {
        return true;
    }
    int64_t expected = 1;
    for (size_t i = viewShape.size(); i-- > 0;) {
        if (viewShape[i] == 1) {
            continue; // its stride is never used
        }
        if (viewStrides[i] != expected || __builtin_mul_overflow(expected, viewShape[i], &expected)) {
            return false;
        }
    }
    return true;
}

uint8_t *aclTensor::Data() const
{
    // Unsigned: offsets come from the caller unchecked, and must at worst give a wrong address.
    const unsigned bits = PackedBits(dataType);
    const uint64_t bytes = bits != 0 ? static_cast<uint64_t>(viewOffset) * bits / 8
                                     : static_cast<uint64_t>(viewOffset) * nnop::TypeSize(dataType);
    return reinterpret_cast<uint8_t *>(reinterpret_cast<uintptr_t>(address) + bytes);
}

namespace nnop {

size_t TypeSize(aclDataType type)
{
    switch (type) {
        case ACL_INT8:
        case ACL_UINT8:
        case ACL_BOOL:
        case ACL_HIFLOAT8:
        case ACL_FLOAT8_E5M2:
        case ACL_FLOAT8_E4M3FN:
        case ACL_FLOAT8_E8M0:
            return 1;
        case ACL_FLOAT16:
        case ACL_INT16:
        case ACL_UINT16:
        case ACL_BF16:
            return 2;
        case ACL_FLOAT:
        case ACL_INT32:
        case ACL_UINT32:
        case ACL_COMPLEX32:
            return 4;
        case ACL_INT64:
        case ACL_UINT64:
        case ACL_DOUBLE:
        case ACL_COMPLEX64:
            return 8;
        default:
            return PackedBits(type) != 0 ? 1 : 16;
    }
}

std::string ToString(aclDataType type)
{
    switch (type) {
        case ACL_DT_UNDEFINED:
            return "DT_UNDEFINED";
        case ACL_FLOAT:
            return "DT_FLOAT";
        case ACL_FLOAT16:
            return "DT_FLOAT16";
        case ACL_INT8:
            return "DT_INT8";
        case ACL_INT32:
            return "DT_INT32";
        case ACL_UINT8:
            return "DT_UINT8";
        case ACL_INT16:
            return "DT_INT16";
        case ACL_UINT16:
            return "DT_UINT16";
        case ACL_UINT32:
            return "DT_UINT32";
        case ACL_INT64:
            return "DT_INT64";
        case ACL_UINT64:
            return "DT_UINT64";
        case ACL_DOUBLE:
            return "DT_DOUBLE";
        case ACL_BOOL:
            return "DT_BOOL";
        case ACL_STRING:
            return "DT_STRING";
        case ACL_COMPLEX64:
            return "DT_COMPLEX64";
        case ACL_COMPLEX128:
            return "DT_COMPLEX128";
        case ACL_BF16:
            return "DT_BFLOAT16";
        case ACL_INT4:
            return "DT_INT4";
        case ACL_UINT1:
            return "DT_UINT1";
        case ACL_COMPLEX32:
            return "DT_COMPLEX32";
        case ACL_HIFLOAT8:
            return "DT_HIFLOAT8";
        case ACL_FLOAT8_E5M2:
            return "DT_FLOAT8_E5M2";
        case ACL_FLOAT8_E4M3FN:
            return "DT_FLOAT8_E4M3FN";
        case ACL_FLOAT8_E8M0:
            return "DT_FLOAT8_E8M0";
        case ACL_FLOAT6_E3M2:
            return "DT_FLOAT6_E3M2";
        case ACL_FLOAT6_E2M3:
            return "DT_FLOAT6_E2M3";
        case ACL_FLOAT4_E2M1:
            return "DT_FLOAT4_E2M1";
        case ACL_FLOAT4_E1M2:
            return "DT_FLOAT4_E1M2";
    }
    return "DT_" + std::to_string(static_cast<int>(type));
}

std::string ToString(aclFormat format)
{
    switch (format) {
        case ACL_FORMAT_UNDEFINED:
            return "UNDEFINED";
        case ACL_FORMAT_NCHW:
            return "NCHW";
        case ACL_FORMAT_NHWC:
            return "NHWC";
        case ACL_FORMAT_ND:
            return "ND";
        case ACL_FORMAT_NC1HWC0:
            return "NC1HWC0";
        case ACL_FORMAT_FRACTAL_Z:
            return "FRACTAL_Z";
        case ACL_FORMAT_NC1HWC0_C04:
            return "NC1HWC0_C04";
        case ACL_FORMAT_HWCN:
            return "HWCN";
        case ACL_FORMAT_NDHWC:
            return "NDHWC";
        case ACL_FORMAT_FRACTAL_NZ:
            return "FRACTAL_NZ";
        case ACL_FORMAT_NCDHW:
            return "NCDHW";
        case ACL_FORMAT_NDC1HWC0:
            return "NDC1HWC0";
        case ACL_FRACTAL_Z_3D:
            return "FRACTAL_Z_3D";
        case ACL_FORMAT_NC:
            return "NC";
        case ACL_FORMAT_NCL:
            return "NCL";
        case ACL_FORMAT_FRACTAL_NZ_C0_16:
            return "FRACTAL_NZ_C0_16";
        case ACL_FORMAT_FRACTAL_NZ_C0_32:
            return "FRACTAL_NZ_C0_32";
        case ACL_FORMAT_FRACTAL_NZ_C0_2:
            return "FRACTAL_NZ_C0_2";
        case ACL_FORMAT_FRACTAL_NZ_C0_4:
            return "FRACTAL_NZ_C0_4";
        case ACL_FORMAT_FRACTAL_NZ_C0_8:
            return "FRACTAL_NZ_C0_8";
    }
    return std::to_string(static_cast<int>(format));
}

std::string ToString(const std::vector<int64_t> &shape)
{
    std::string text = "[";
    for (size_t i = 0; i < shape.size(); ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    }
    return text + "]";
}

bool IsPrivateFormat(aclFormat format)
{
    switch (format) {
        case ACL_FORMAT_NC1HWC0:
        case ACL_FORMAT_FRACTAL_Z:
        case ACL_FORMAT_NC1HWC0_C04:
        case ACL_FORMAT_FRACTAL_NZ:
        case ACL_FORMAT_NDC1HWC0:
        case ACL_FRACTAL_Z_3D:
        case ACL_FORMAT_FRACTAL_NZ_C0_16:
        case ACL_FORMAT_FRACTAL_NZ_C0_32:
        case ACL_FORMAT_FRACTAL_NZ_C0_2:
        case ACL_FORMAT_FRACTAL_NZ_C0_4:
        case ACL_FORMAT_FRACTAL_NZ_C0_8:
            return true;
        default:
            return false;
    }
}

} // namespace nnop
