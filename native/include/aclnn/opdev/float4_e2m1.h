/* op::Float4E2M1: sign, two bits of exponent, one of fraction; 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives. */
#ifndef ACLNN_OPDEV_FLOAT4_E2M1_H
#define ACLNN_OPDEV_FLOAT4_E2M1_H

#include <cstdint>

#include "acl/acl_base_rt.h"

namespace op {

struct ACL_FUNC_VISIBILITY Float4E2M1 {
    struct FromBitsTag {};
    static constexpr FromBitsTag FromBits() { return {}; }

    uint8_t value; /* the lower four bits */

    Float4E2M1() : value(0) {}
    constexpr Float4E2M1(uint8_t bits, FromBitsTag) : value(bits & 0x0FU) {}
    Float4E2M1(float number); /* to nearest, ties to even; beyond 6 it is 6, and so is NaN */

    operator float() const;
    operator double() const { return static_cast<double>(static_cast<float>(*this)); }

    bool IsZero() const { return (value & 7U) == 0; }
    bool IsNaN() const { return false; }
    bool IsInf() const { return false; }
};

} // namespace op

#endif
