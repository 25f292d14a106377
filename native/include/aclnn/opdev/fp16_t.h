/* op::fp16_t, IEEE half precision. Its functions are in libnnopbase.so. */
#ifndef ACLNN_OPDEV_FP16_T_H
#define ACLNN_OPDEV_FP16_T_H

#include <cmath>
#include <cstdint>

#include "acl/acl_base_rt.h"
#include "aclnn/opdev/bfloat16.h"

namespace op {

/* Numbers become halves by rounding to nearest, ties to even; those too large become infinities, and every NaN 0x7FFF
   or 0xFFFF. Halves become integers by rounding to nearest, ties to even, and stop at the ends of the type, infinities
   and NaN by their sign. Sums, differences and products take infinities and NaN for numbers with an exponent of 31, and
   so are results that large: 65504 + 65504 is 0x7FFF. What is divided by 0 becomes 65504 with a sign. Comparisons
   follow the bits, with 0 equal to -0 and NaN equal to itself. */
typedef struct ACL_FUNC_VISIBILITY tagFp16 {
    uint16_t val;

    tagFp16() : val(0) {}
    tagFp16(const tagFp16 &fp) : val(fp.val) {}
    constexpr tagFp16(const uint16_t &bits) : val(bits) {} /* the bits, not the number */
    tagFp16(const bfloat16 &value);
    template <typename T>
    tagFp16(const T &value)
    {
        *this = value;
    }

    tagFp16 &operator=(const tagFp16 &fp);
    tagFp16 &operator=(const float &number);
    tagFp16 &operator=(const double &number);
    tagFp16 &operator=(const int8_t &number);
    tagFp16 &operator=(const uint8_t &number);
    tagFp16 &operator=(const int16_t &number);
    tagFp16 &operator=(const uint16_t &number);
    tagFp16 &operator=(const int32_t &number);
    tagFp16 &operator=(const uint32_t &number);
    tagFp16 &operator=(const int64_t &number);
    tagFp16 &operator=(const uint64_t &number);

    tagFp16 operator+(const tagFp16 fp);
    tagFp16 operator-(const tagFp16 fp);
    tagFp16 operator*(const tagFp16 fp);
    tagFp16 operator/(const tagFp16 fp);
    tagFp16 operator+=(const tagFp16 fp);
    tagFp16 operator-=(const tagFp16 fp);
    tagFp16 operator*=(const tagFp16 fp);
    tagFp16 operator/=(const tagFp16 fp);

    bool operator==(const tagFp16 &fp) const;
    bool operator!=(const tagFp16 &fp) const;
    bool operator>(const tagFp16 &fp) const;
    bool operator>=(const tagFp16 &fp) const;
    bool operator<(const tagFp16 &fp) const;
    bool operator<=(const tagFp16 &fp) const;

    operator float() const;
    operator bfloat16() const;
    operator double() const;
    operator int8_t() const;
    operator uint8_t() const;
    operator int16_t() const;
    operator uint16_t() const;
    operator int32_t() const;
    operator uint32_t() const;
    operator int64_t() const;
    operator uint64_t() const;
    operator bool() const;

    int IsInf(); /* 1 for infinity, -1 for its negative, 0 otherwise */
    float toFloat();
    double toDouble();
    int8_t toInt8();
    uint8_t toUInt8();
    int16_t toInt16();
    uint16_t toUInt16();
    int32_t toInt32();
    uint32_t toUInt32();
} fp16_t;

template <typename T>
bool operator<(T a, fp16_t b)
{
    return a < static_cast<T>(b);
}

template <typename T>
bool operator>(T a, fp16_t b)
{
    return a > static_cast<T>(b);
}

} // namespace op

namespace std {

inline bool isnan(op::fp16_t number) { return (number.val & 0x7FFFU) > 0x7C00U; }
inline float abs(op::fp16_t number) { return std::fabs(number.toFloat()); }

} // namespace std

#endif
