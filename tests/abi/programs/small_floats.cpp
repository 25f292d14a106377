// op::fp16_t, op::bfloat16 and op::Float4E2M1 as programs for CANN use them.
#include <cmath>
#include <limits>
#include <vector>

#include "aclnn/opdev/bfloat16.h"
#include "aclnn/opdev/float4_e2m1.h"
#include "aclnn/opdev/fp16_t.h"
#include "check.h"

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void EveryHalf()
{
    for (uint32_t bits = 0; bits < 65536; ++bits) {
        const op::fp16_t half(static_cast<uint16_t>(bits));
        const float number = half;
        if ((bits & 0x7C00) != 0x7C00) {
            CHECK(number == aclFloat16ToFloat(static_cast<uint16_t>(bits)));
        }
        op::fp16_t back;
        back = number;
        CHECK(std::isnan(half) == std::isnan(number));
        CHECK(back.val == (std::isnan(number) ? (bits | 0x7FFF) : bits));
        if ((bits & 0x7C00) == 0x7C00) { // infinities and NaN keep their fraction
            uint32_t wide = 0;
            std::memcpy(&wide, &number, sizeof(wide));
            CHECK(wide == ((bits & 0x8000) << 16 | 0x7F800000U | (bits & 0x3FF) << 13));
            CHECK(std::isnan(number) == std::isnan(static_cast<double>(half)));
            const bool negative = (bits & 0x8000) != 0;
            CHECK(static_cast<int32_t>(half) == (negative ? INT32_MIN : INT32_MAX));
            CHECK(static_cast<uint8_t>(half) == (negative ? 0 : 255));
        }
        CHECK(half == half && !(half != half) && half <= half && !(half < half));
        CHECK(static_cast<bool>(half) == (bits != 0));
        CHECK(std::isnan(number) || op::fp16_t(static_cast<double>(number)).val == bits);
    }
}

// The neighbours and the middle of every step between halves, against the C function.
void Rounding()
{
    for (uint32_t bits = 1; bits < 0x7BFF; ++bits) {
        const float low = aclFloat16ToFloat(static_cast<uint16_t>(bits));
        const float high = aclFloat16ToFloat(static_cast<uint16_t>(bits + 1));
        const float middle = low + (high - low) / 2;
        for (const float number : {std::nextafter(middle, 0.0F), middle, std::nextafter(middle, high), -middle}) {
            CHECK(op::fp16_t(number).val == aclFloatToFloat16(number));
        }
    }
    CHECK(op::fp16_t(1.0 + 1.0 / 2048 + 1e-12).val == 0x3C01); // a double is rounded once, not by way of float
    CHECK(op::fp16_t(65519.0F).val == 0x7BFF && op::fp16_t(65520.0F).val == 0x7C00);
    CHECK(op::fp16_t(-kInfinity).val == 0xFC00 && op::fp16_t(0.0F).val == 0 && op::fp16_t(-0.0F).val == 0x8000);
    CHECK(op::fp16_t(1e-30F).val == 0 && op::fp16_t(std::ldexp(1.0F, -24)).val == 1);
}

void Halves()
{
    std::vector<op::fp16_t> data(3, 0.1f);
    CHECK(data[2].val == 0x2E66);
    op::fp16_t a;
    op::fp16_t b;
    a = 3; // the assignments and conversions that example programs link against
    b = 0.5;
    CHECK(static_cast<float>(a + b) == 3.5F && (a - b).toFloat() == 2.5F);
    CHECK((a * b).toDouble() == 1.5 && static_cast<double>(a / b) == 6.0);
    a += b;
    CHECK(a.val == 0x4300 && a > b && a >= b && b < a && b <= a && a != b && a == op::fp16_t(3.5F));
    CHECK(static_cast<int32_t>(a) == 4 && op::fp16_t(2.5F).toInt32() == 2); // ties to even
    CHECK(op::fp16_t(-1000.0F).toInt8() == -128 && op::fp16_t(-1.0F).toUInt16() == 0);
    CHECK(op::fp16_t(kInfinity).toInt32() == INT32_MAX && op::fp16_t(std::nanf("")).toInt32() == INT32_MAX);
    CHECK(static_cast<int64_t>(op::fp16_t(-kInfinity)) == INT32_MIN && static_cast<uint64_t>(op::fp16_t(kInfinity)) == UINT32_MAX);
    CHECK(op::fp16_t(kInfinity).IsInf() == 1 && op::fp16_t(-kInfinity).IsInf() == -1 && a.IsInf() == 0);
    CHECK(static_cast<uint64_t>(op::fp16_t(2048.0F)) == 2048 && static_cast<bool>(b) && !static_cast<bool>(op::fp16_t()));
    CHECK(std::abs(op::fp16_t(-2.0F)) == 2.0F);
    const op::bfloat16 wide = op::fp16_t(1.5F);
    CHECK(wide.value == 0x3FC0 && op::fp16_t(wide).val == 0x3E00);
    a = int64_t{70000};
    CHECK(a.val == 0x7C00);
}

// What does not follow IEEE 754.
void SpecialHalves()
{
    const auto bits = [](uint32_t value) { return op::fp16_t(static_cast<uint16_t>(value)); };
    op::fp16_t one = bits(0x3C00);
    op::fp16_t zero = bits(0);
    op::fp16_t largest = bits(0x7BFF);
    op::fp16_t infinity = bits(0x7C00);
    CHECK((one / zero).val == 0x7BFF && (zero / zero).val == 0x7BFF && (bits(0xBC00) / zero).val == 0xFBFF);
    CHECK((one / bits(0x8000)).val == 0xFBFF && (bits(0x8000) / one).val == 0);
    CHECK((largest + largest).val == 0x7FFF && (largest * largest).val == 0x7FFE);
    CHECK((bits(0xFBFF) - largest).val == 0xFFFF && (largest / bits(1)).val == 0x7C00);
    CHECK((infinity + infinity).val == 0x7C00 && (infinity - infinity).val == 0 && (infinity * zero).val == 0);
    CHECK((largest + bits(0x4C00)).val == 0x7C00 && (largest + bits(0x4BFF)).val == 0x7BFF); // 16 more, and just less
    CHECK(op::fp16_t(std::nanf("")).val == 0x7FFF && op::fp16_t(-std::nan("")).val == 0xFFFF);
    CHECK(zero == bits(0x8000) && !(zero > bits(0x8000)) && bits(0x7E00) == bits(0x7E00) && bits(0x7E00) != bits(0x7E01));
    CHECK(bits(0x7E00) > infinity && bits(0xFE00) < bits(0xFC00) && bits(0xFE00) < zero);
}

void BrainFloats()
{
    CHECK(sizeof(op::bfloat16) == 2 && sizeof(op::fp16_t) == 2 && sizeof(op::Float4E2M1) == 1);
    for (uint32_t bits = 0; bits < 65536; ++bits) {
        const op::bfloat16 number(static_cast<uint16_t>(bits), op::bfloat16::from_bits());
        const op::bfloat16 back(static_cast<float>(number));
        CHECK(std::isnan(number) ? std::isnan(back) : back.value == bits);
    }
    CHECK(op::bfloat16(1.0F + 1.0F / 256).value == 0x3F80 && op::bfloat16(1.0F + 3.0F / 256).value == 0x3F82);
    CHECK(op::bfloat16(3.4e38F).value == 0x7F80 && std::isinf(op::bfloat16(3.4e38F)));
    CHECK(static_cast<float>(op::bfloat16(2) * op::bfloat16(1.5F) - op::bfloat16(1)) == 2.0F);
    CHECK(op::bfloat16(1) < op::bfloat16(2) && -op::bfloat16(1) == op::bfloat16(-1.0));
}

void FourBits()
{
    const float given[] = {0.2F, 0.25F, 0.3F, 0.75F, 1.25F, 2.5F, 3.5F, 5.0F, 5.1F, 1e9F, -2.5F};
    const float expected[] = {0.0F, 0.0F, 0.5F, 1.0F, 1.0F, 2.0F, 4.0F, 4.0F, 6.0F, 6.0F, -2.0F};
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); ++i) {
        CHECK(static_cast<float>(op::Float4E2M1(given[i])) == expected[i]);
    }
    CHECK(op::Float4E2M1(std::nanf("")).value == 7 && op::Float4E2M1(-0.0F).value == 8);
}

} // namespace

int main()
{
    EveryHalf();
    Rounding();
    Halves();
    SpecialHalves();
    BrainFloats();
    FourBits();
    return 0;
}
