/* op::bfloat16, the upper half of a float. */
#ifndef ACLNN_OPDEV_BFLOAT16_H
#define ACLNN_OPDEV_BFLOAT16_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace op {

struct bfloat16 {
    struct from_bits_t {};
    static constexpr from_bits_t from_bits() { return {}; }

    uint16_t value = 0;

    bfloat16() = default;
    constexpr bfloat16(uint16_t bits, from_bits_t) : value(bits) {}

    /* Rounds to nearest, ties to even; infinities and NaN stay what they are. */
    template <typename T, typename = std::enable_if_t<std::is_arithmetic<T>::value>>
    bfloat16(const T &number) : value(Round(static_cast<float>(number)))
    {
    }

    operator float() const
    {
        const uint32_t bits = uint32_t{value} << 16;
        float number = 0.0F;
        std::memcpy(&number, &bits, sizeof(number));
        return number;
    }

    bfloat16 &operator+=(bfloat16 other) { return *this = bfloat16(static_cast<float>(*this) + static_cast<float>(other)); }
    bfloat16 &operator-=(bfloat16 other) { return *this = bfloat16(static_cast<float>(*this) - static_cast<float>(other)); }
    bfloat16 &operator*=(bfloat16 other) { return *this = bfloat16(static_cast<float>(*this) * static_cast<float>(other)); }
    bfloat16 &operator/=(bfloat16 other) { return *this = bfloat16(static_cast<float>(*this) / static_cast<float>(other)); }

private:
    static uint16_t Round(float number)
    {
        uint32_t bits = 0;
        std::memcpy(&bits, &number, sizeof(bits));
        if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
            return static_cast<uint16_t>((bits >> 16) | 0x40U); // a NaN must not round to infinity
        }
        return static_cast<uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
    }
};

inline bfloat16 operator+(bfloat16 a, bfloat16 b) { return a += b; }
inline bfloat16 operator-(bfloat16 a, bfloat16 b) { return a -= b; }
inline bfloat16 operator*(bfloat16 a, bfloat16 b) { return a *= b; }
inline bfloat16 operator/(bfloat16 a, bfloat16 b) { return a /= b; }
inline bfloat16 operator-(bfloat16 a) { return {static_cast<uint16_t>(a.value ^ 0x8000U), bfloat16::from_bits()}; }
inline bool operator==(bfloat16 a, bfloat16 b) { return static_cast<float>(a) == static_cast<float>(b); }
inline bool operator!=(bfloat16 a, bfloat16 b) { return !(a == b); }
inline bool operator<(bfloat16 a, bfloat16 b) { return static_cast<float>(a) < static_cast<float>(b); }
inline bool operator>(bfloat16 a, bfloat16 b) { return b < a; }
inline bool operator<=(bfloat16 a, bfloat16 b) { return static_cast<float>(a) <= static_cast<float>(b); }
inline bool operator>=(bfloat16 a, bfloat16 b) { return b <= a; }

} // namespace op

namespace std {

inline bool isnan(op::bfloat16 number) { return (number.value & 0x7FFFU) > 0x7F80U; }
inline bool isinf(op::bfloat16 number) { return (number.value & 0x7FFFU) == 0x7F80U; }
inline op::bfloat16 abs(op::bfloat16 number)
{
    return {static_cast<uint16_t>(number.value & 0x7FFFU), op::bfloat16::from_bits()};
}

} // namespace std

#endif
