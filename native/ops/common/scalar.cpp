#include "ops/common/scalar.h"

#include <cstring>

#include "acl/acl_base.h"

namespace ops {
namespace {

template <typename T>
T Read(const aclScalar &scalar)
{
    T value;
    std::memcpy(&value, scalar.value, sizeof(value));
    return value;
}

float BFloat16(const aclScalar &scalar)
{
    const uint32_t bits = static_cast<uint32_t>(Read<uint16_t>(scalar)) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

} // namespace

bool IsFloating(const aclScalar &scalar)
{
    switch (scalar.dataType) {
        case ACL_FLOAT:
        case ACL_FLOAT16:
        case ACL_BF16:
        case ACL_DOUBLE:
            return true;
        default:
            return false;
    }
}

double ToDouble(const aclScalar &scalar)
{
    switch (scalar.dataType) {
        case ACL_FLOAT:
            return Read<float>(scalar);
        case ACL_DOUBLE:
            return Read<double>(scalar);
        case ACL_FLOAT16:
            return aclFloat16ToFloat(Read<uint16_t>(scalar));
        case ACL_BF16:
            return BFloat16(scalar);
        case ACL_INT8:
            return Read<int8_t>(scalar);
        case ACL_INT16:
            return Read<int16_t>(scalar);
        case ACL_INT32:
            return Read<int32_t>(scalar);
        case ACL_INT64:
            return static_cast<double>(Read<int64_t>(scalar));
        case ACL_UINT8:
        case ACL_BOOL:
            return Read<uint8_t>(scalar);
        case ACL_UINT16:
            return Read<uint16_t>(scalar);
        case ACL_UINT32:
            return Read<uint32_t>(scalar);
        case ACL_UINT64:
            return static_cast<double>(Read<uint64_t>(scalar));
        default:
            return 0;
    }
}

} // namespace ops
