// The C++ number types of aclnn/opdev that programs link against.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "aclnn/opdev/float4_e2m1.h"
#include "aclnn/opdev/fp16_t.h"

namespace op {
namespace {

constexpr uint16_t kSign = 0x8000;
constexpr uint16_t kInfinity = 0x7C00;
constexpr uint16_t kLargest = 0x7BFF;

// The number the bits stand for if the highest exponent were one like the others, which is how CANN's arithmetic
// takes infinities and NaN.
double ToNumber(uint16_t half)
{
    const int exponent = (half >> 10) & 0x1F;
    const int fraction = half & 0x3FF;
    const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 0x400, exponent - 25);
    return (half & kSign) != 0 ? -magnitude : magnitude;
}

float ToFloat(uint16_t half)
{
    if ((half & kInfinity) != kInfinity) {
        return static_cast<float>(ToNumber(half));
    }
    const uint32_t bits = (uint32_t{half} & kSign) << 16 | 0x7F800000U | (uint32_t{half} & 0x3FF) << 13;
    float number = 0.0F;
    std::memcpy(&number, &bits, sizeof(number));
    return number;
}

double ToDouble(uint16_t half)
{
    if ((half & kInfinity) != kInfinity) {
        return ToNumber(half);
    }
    const uint64_t bits = (uint64_t{half} & kSign) << 48 | 0x7FF0000000000000U | (uint64_t{half} & 0x3FF) << 42;
    double number = 0.0;
    std::memcpy(&number, &bits, sizeof(number));
    return number;
}

// Rounds to nearest, ties to even, whatever the size: what has no exponent keeps its fraction under the highest one.
uint16_t RoundToHalf(double number)
{
    const auto sign = static_cast<uint16_t>(std::signbit(number) ? kSign : 0);
    const double magnitude = std::fabs(number);
    if (magnitude == 0) {
        return sign;
    }
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    exponent = std::max(exponent, -13); // below, the step between halves stays the same
    // In units of the last place; rounds as the default mode does.
    const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 11 - exponent)));
    if (exponent > 16) {
        return static_cast<uint16_t>(sign | kInfinity | (units & 0x3FF));
    }
    const uint32_t base = static_cast<uint32_t>(exponent + 13) << 10; // a carry raises the exponent
    return static_cast<uint16_t>(sign | (base + units));
}

// From double, which holds every number of the other types but the largest integers, whose lost bits are far below
// what a half keeps.
uint16_t ToHalf(double number)
{
    const auto sign = static_cast<uint16_t>(std::signbit(number) ? kSign : 0);
    if (std::isnan(number)) {
        return sign | 0x7FFF;
    }
    return std::fabs(number) >= 65536.0 ? static_cast<uint16_t>(sign | kInfinity) : RoundToHalf(number);
}

uint16_t Divide(uint16_t a, uint16_t b)
{
    if (ToNumber(b) == 0) {
        return static_cast<uint16_t>(((a ^ b) & kSign) | kLargest);
    }
    return ToNumber(a) == 0 ? uint16_t{0} : ToHalf(ToNumber(a) / ToNumber(b));
}

// In the order of the numbers, with infinities and NaN behind the largest of their sign.
int Rank(uint16_t half)
{
    const int magnitude = half & ~kSign;
    return (half & kSign) != 0 ? -magnitude : magnitude;
}

template <typename T>
T ToInteger(uint16_t half)
{
    // An infinity or NaN is beyond the end of its sign.
    const double number = (half & kInfinity) != kInfinity ? std::nearbyint(ToNumber(half))
                          : (half & kSign) != 0           ? -HUGE_VAL
                                                          : HUGE_VAL;
    if (number <= static_cast<double>(std::numeric_limits<T>::min())) {
        return std::numeric_limits<T>::min();
    }
    return number >= static_cast<double>(std::numeric_limits<T>::max()) ? std::numeric_limits<T>::max()
                                                                        : static_cast<T>(number);
}

tagFp16 FromBits(uint16_t bits)
{
    return tagFp16(bits);
}

} // namespace

tagFp16::tagFp16(const bfloat16 &value) : val(ToHalf(static_cast<float>(value)))
{
}

tagFp16 &tagFp16::operator=(const tagFp16 &fp)
{
    val = fp.val;
    return *this;
}

#define ASSIGN(type)                              \
    tagFp16 &tagFp16::operator=(const type &number) \
    {                                             \
        val = ToHalf(static_cast<double>(number)); \
        return *this;                             \
    }

ASSIGN(float)
ASSIGN(double)
ASSIGN(int8_t)
ASSIGN(uint8_t)
ASSIGN(int16_t)
ASSIGN(uint16_t)
ASSIGN(int32_t)
ASSIGN(uint32_t)
ASSIGN(int64_t)
ASSIGN(uint64_t)

// One rounding: double holds sums and products of two halves to far more bits than a half has.
#define ARITHMETIC(sign, result)                          \
    tagFp16 tagFp16::operator sign(const tagFp16 fp)      \
    {                                                     \
        return FromBits(result);                          \
    }                                                     \
    tagFp16 tagFp16::operator sign##=(const tagFp16 fp)   \
    {                                                     \
        return *this = *this sign fp;                     \
    }

ARITHMETIC(+, RoundToHalf(ToNumber(val) + ToNumber(fp.val)))
ARITHMETIC(-, RoundToHalf(ToNumber(val) - ToNumber(fp.val)))
ARITHMETIC(*, RoundToHalf(ToNumber(val) * ToNumber(fp.val)))
ARITHMETIC(/, Divide(val, fp.val))

#define COMPARISON(sign)                              \
    bool tagFp16::operator sign(const tagFp16 &fp) const \
    {                                                 \
        return Rank(val) sign Rank(fp.val);           \
    }

COMPARISON(==)
COMPARISON(!=)
COMPARISON(>)
COMPARISON(>=)
COMPARISON(<)
COMPARISON(<=)

tagFp16::operator float() const
{
    return ToFloat(val);
}

tagFp16::operator bfloat16() const
{
    return bfloat16(ToFloat(val));
}

tagFp16::operator double() const
{
    return ToDouble(val);
}

tagFp16::operator bool() const
{
    return val != 0; // so -0 is true
}

#define CONVERT(type)                \
    tagFp16::operator type() const   \
    {                                \
        return ToInteger<type>(val); \
    }

CONVERT(int8_t)
CONVERT(uint8_t)
CONVERT(int16_t)
CONVERT(uint16_t)
CONVERT(int32_t)
CONVERT(uint32_t)

// CANN goes by way of 32 bits, which shows for infinities and NaN.
tagFp16::operator int64_t() const
{
    return ToInteger<int32_t>(val);
}

tagFp16::operator uint64_t() const
{
    return ToInteger<uint32_t>(val);
}

int tagFp16::IsInf()
{
    return (val & 0x7FFF) != 0x7C00 ? 0 : ((val & 0x8000) != 0 ? -1 : 1);
}

float tagFp16::toFloat()
{
    return ToFloat(val);
}

double tagFp16::toDouble()
{
    return ToDouble(val);
}

int8_t tagFp16::toInt8()
{
    return ToInteger<int8_t>(val);
}

uint8_t tagFp16::toUInt8()
{
    return ToInteger<uint8_t>(val);
}

int16_t tagFp16::toInt16()
{
    return ToInteger<int16_t>(val);
}

uint16_t tagFp16::toUInt16()
{
    return ToInteger<uint16_t>(val);
}

int32_t tagFp16::toInt32()
{
    return ToInteger<int32_t>(val);
}

uint32_t tagFp16::toUInt32()
{
    return ToInteger<uint32_t>(val);
}

namespace {

constexpr float kFloat4[] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};

} // namespace

Float4E2M1::Float4E2M1(float number) : value(7)
{
    if (std::isnan(number)) {
        return;
    }
    const float magnitude = std::fabs(number);
    for (uint8_t code = 0; code < 7; ++code) {
        const float middle = (kFloat4[code] + kFloat4[code + 1]) / 2;
        if (magnitude < middle || (magnitude == middle && code % 2 == 0)) {
            value = code;
            break;
        }
    }
    value = static_cast<uint8_t>(value | (std::signbit(number) ? 8 : 0));
}

Float4E2M1::operator float() const
{
    const float magnitude = kFloat4[value & 7];
    return (value & 8) != 0 ? -magnitude : magnitude;
}

} // namespace op
