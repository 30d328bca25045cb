#include "weightfile/tensor.hpp"

#include "base/special_values.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace spectra::weightfile {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What a code means by the definition of its format: (−1)^s 2^(e − bias) (1 + m/2^M), 2^(1 − bias) m/2^M for
/// e = 0.
double by_definition(unsigned code, int exponent_bits, int mantissa_bits, int bias) {
    const unsigned mantissa = code & ((1U << mantissa_bits) - 1);
    const unsigned exponent = (code >> mantissa_bits) & ((1U << exponent_bits) - 1);
    const bool negative = ((code >> (mantissa_bits + exponent_bits)) & 1U) != 0;
    const double whole = mantissa + (exponent > 0 ? std::ldexp(1.0, mantissa_bits) : 0.0);
    const double size =
        std::ldexp(whole, std::max<int>(static_cast<int>(exponent), 1) - bias - mantissa_bits);
    return negative ? -size : size;
}

double ieee(unsigned code, int exponent_bits, int mantissa_bits) {
    const unsigned top = (1U << exponent_bits) - 1;
    const unsigned mantissa = code & ((1U << mantissa_bits) - 1);
    if (((code >> mantissa_bits) & top) == top) {
        const bool negative = ((code >> (mantissa_bits + exponent_bits)) & 1U) != 0;
        return mantissa != 0 ? nan : negative ? -infinity : infinity;
    }
    return by_definition(code, exponent_bits, mantissa_bits, (1 << (exponent_bits - 1)) - 1);
}

template <class Code>
std::vector<Code> every_code() {
    std::vector<Code> codes(std::size_t{1} << (8 * sizeof(Code)));
    std::iota(codes.begin(), codes.end(), Code{0});
    return codes;
}

template <class Code>
void expect_codes(Dtype dtype, double (*meaning)(unsigned)) {
    const auto codes = every_code<Code>();
    const Tensor tensor{"", dtype, {codes.size()}, {1}, 0, 0};
    const auto values = widened<double>(tensor, std::as_bytes(std::span(codes)), false);
    const auto singles = widened<float>(tensor, std::as_bytes(std::span(codes)), false);
    for (std::size_t k = 0; k < codes.size(); ++k) {
        const double expected = meaning(codes[k]);
        if (std::isnan(expected)) {
            EXPECT_TRUE(std::isnan(values[k]) && std::isnan(singles[k])) << k;
            continue;
        }
        EXPECT_EQ(std::bit_cast<std::uint64_t>(values[k]), std::bit_cast<std::uint64_t>(expected)) << k;
        EXPECT_EQ(static_cast<double>(singles[k]), expected) << k;
    }
}

TEST(Tensor, EveryCodeOfASmallFloatMeansWhatItsFormatSays) {
    expect_codes<std::uint16_t>(Dtype::f16, [](unsigned c) { return ieee(c, 5, 10); });
    expect_codes<std::uint16_t>(Dtype::bf16, [](unsigned c) { return ieee(c, 8, 7); });
    expect_codes<std::uint8_t>(Dtype::f8_e5m2, [](unsigned c) { return ieee(c, 5, 2); });
    expect_codes<std::uint8_t>(
        Dtype::f8_e4m3fn, [](unsigned c) { return (c & 0x7FU) == 0x7FU ? nan : by_definition(c, 4, 3, 7); });
    expect_codes<std::uint8_t>(Dtype::f8_e4m3fnuz,
                               [](unsigned c) { return c == 0x80U ? nan : by_definition(c, 4, 3, 8); });
    expect_codes<std::uint8_t>(Dtype::f8_e5m2fnuz,
                               [](unsigned c) { return c == 0x80U ? nan : by_definition(c, 5, 2, 16); });
    expect_codes<std::uint8_t>(Dtype::f8_e8m0fnu, [](unsigned c) {
        return c == 255 ? nan : std::ldexp(1.0, static_cast<int>(c) - 127);
    });
}

TEST(Tensor, TheLargestSmallFloatsAreThePublishedOnes) {
    const auto value = [](Dtype dtype, std::uint8_t code) {
        return widened<double>({"", dtype, {}, {}, 0, 0}, std::as_bytes(std::span(&code, 1)), false).front();
    };
    EXPECT_EQ(value(Dtype::f8_e4m3fn, 0x7E), 448);
    EXPECT_EQ(value(Dtype::f8_e5m2, 0x7B), 57344);
    EXPECT_EQ(value(Dtype::f8_e4m3fnuz, 0x7F), 240);
    EXPECT_EQ(value(Dtype::f8_e5m2fnuz, 0x7F), 57344);
}

template <class T>
void expect_plain(Dtype dtype, const std::vector<T>& values) {
    EXPECT_EQ(bits(dtype), 8 * sizeof(T));
    const Tensor tensor{"", dtype, {values.size()}, {1}, 0, 0};
    std::vector<std::byte> swapped(values.size() * sizeof(T));
    std::memcpy(swapped.data(), values.data(), swapped.size());
    for (std::size_t k = 0; k < values.size(); ++k)
        std::reverse(swapped.begin() + static_cast<std::ptrdiff_t>(k * sizeof(T)),
                     swapped.begin() + static_cast<std::ptrdiff_t>((k + 1) * sizeof(T)));
    const std::vector<double> expected(values.begin(), values.end());
    EXPECT_EQ(widened<double>(tensor, std::as_bytes(std::span(values)), false), expected);
    EXPECT_EQ(widened<double>(tensor, swapped, true), expected);
}

TEST(Tensor, PlainNumbersOfEitherByteOrder) {
    expect_plain<double>(Dtype::f64, {0.1, -1e300, 5e-324});
    expect_plain<float>(Dtype::f32, {0.1F, -1e38F, 1e-45F});
    expect_plain<std::int64_t>(Dtype::i64, {-1, INT64_MIN, (INT64_C(1) << 53) + 1});
    expect_plain<std::int32_t>(Dtype::i32, {-1, INT32_MIN, INT32_MAX});
    expect_plain<std::int16_t>(Dtype::i16, {-1, INT16_MIN, INT16_MAX});
    expect_plain<std::int8_t>(Dtype::i8, {-1, INT8_MIN, INT8_MAX});
    expect_plain<std::uint64_t>(Dtype::u64, {1, UINT64_MAX});
    expect_plain<std::uint32_t>(Dtype::u32, {1, UINT32_MAX});
    expect_plain<std::uint16_t>(Dtype::u16, {1, UINT16_MAX});
    expect_plain<std::uint8_t>(Dtype::u8, {1, UINT8_MAX});
}

TEST(Tensor, HalfFloatsOfBigByteOrder) {
    const std::vector<std::byte> codes{std::byte{0x3C}, std::byte{0x00}};  // 1
    EXPECT_EQ(widened<double>({"", Dtype::f16, {1}, {1}, 0, 0}, codes, true), std::vector<double>{1});
}

TEST(Tensor, AnyByteButZeroIsTrue) {
    const std::vector<std::uint8_t> bytes{0, 1, 255};
    EXPECT_EQ(widened<double>({"", Dtype::boolean, {3}, {1}, 0, 0}, std::as_bytes(std::span(bytes)), false),
              (std::vector<double>{0, 1, 1}));
}

/// Element by element, from the definition of strides.
std::vector<double> one_by_one(const Tensor& tensor, const std::vector<double>& storage) {
    std::vector<double> values;
    const auto count = element_count(tensor.shape).value();
    for (std::uint64_t k = 0; k < count; ++k) {
        std::uint64_t rest = k, at = tensor.offset;
        for (std::size_t d = tensor.shape.size(); d-- > 0;) {
            at += rest % tensor.shape[d] * tensor.strides[d];
            rest /= tensor.shape[d];
        }
        values.push_back(storage.at(at));
    }
    return values;
}

TEST(Tensor, AnyStridesAreReadInRowMajorOrder) {
    std::vector<double> storage(200);
    std::iota(storage.begin(), storage.end(), 0.5);
    const std::vector<Tensor> tensors{
        {"", Dtype::f64, {}, {}, 7, 0},
        {"", Dtype::f64, {1}, {1}, 0, 0},
        {"", Dtype::f64, {5}, {3}, 2, 0},
        {"", Dtype::f64, {3, 4}, {4, 1}, 0, 0},
        {"", Dtype::f64, {4, 3}, {1, 4}, 1, 0},
        {"", Dtype::f64, {4, 3}, {0, 1}, 5, 0},
        {"", Dtype::f64, {2, 3, 4}, {1, 2, 6}, 0, 0},
        {"", Dtype::f64, {3, 1, 2, 5}, {40, 999, 3, 7}, 11, 0},
        {"", Dtype::f64, {3, 0, 2}, {1, 1, 1}, 0, 0},
        {"", Dtype::f64, {0}, {1}, 0, 0},
    };
    for (const auto& tensor : tensors)
        EXPECT_EQ(widened<double>(tensor, std::as_bytes(std::span(storage)), false),
                  one_by_one(tensor, storage));
}

TEST(Tensor, CountsAndExtentsThatDoNotFit) {
    constexpr std::uint64_t large = std::uint64_t{1} << 33;
    EXPECT_EQ(element_count({}), 1u);
    EXPECT_EQ(element_count({3, 0, 5}), 0u);
    EXPECT_EQ(element_count({large, large}), std::nullopt);
    EXPECT_EQ(element_count({0, large, large}), std::nullopt) << "its strides would not fit";
    EXPECT_EQ(row_major({2, 3, 4}), (Shape{12, 4, 1}));
    EXPECT_EQ(extent({"", Dtype::f32, {3, 4}, {10, 2}, 5, 0}), 5u + 20 + 6 + 1);
    EXPECT_EQ(extent({"", Dtype::f32, {3}, {large << 30}, 0, 0}), std::nullopt);
    EXPECT_EQ(extent({"", Dtype::f32, {2}, {~std::uint64_t{0}}, 1, 0}), std::nullopt);
    EXPECT_EQ(extent({"", Dtype::f32, {}, {}, ~std::uint64_t{0}, 0}), std::nullopt);
}

TEST(Tensor, ADoubleBeyondFloatsRoundsOnce) {
    const std::vector<double> values{1e300, -1e300, 1 + 1e-12};
    EXPECT_EQ(widened<float>({"", Dtype::f64, {3}, {1}, 0, 0}, std::as_bytes(std::span(values)), false),
              (std::vector<float>{std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity(), 1}));
}

}  // namespace
}  // namespace spectra::weightfile
