#include "random/stream.hpp"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace spectra::random {
namespace {

using Words = std::array<std::uint32_t, 4>;

Words philox(const Words& counter, const std::array<std::uint32_t, 2>& key) {
    const r123::Philox4x32 generator{};
    const auto out = generator(r123::Philox4x32::ctr_type{{counter[0], counter[1], counter[2], counter[3]}},
                               r123::Philox4x32::key_type{{key[0], key[1]}});
    return {out[0], out[1], out[2], out[3]};
}

std::vector<double> normals(Stream stream, std::size_t count) {
    std::vector<double> x(count);
    stream.fill_normal(x);
    return x;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum / static_cast<double>(a.size());
}

// Random123's published known answers for philox4x32 with 10 rounds.
TEST(Philox, KnownAnswers) {
    EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    EXPECT_EQ(philox({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}),
              (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Stream, CounterLayoutIsAsDocumented) {
    const std::uint64_t seed = 0x0123456789abcdefULL;
    Stream stream(seed, Purpose::branch, 7, 9);
    for (std::uint32_t block = 0; block < 3; ++block) {
        const Words word = philox({block, 0, 9, (2U << 24U) | 7U}, {0x89abcdef, 0x01234567});
        for (std::size_t half = 0; half < 2; ++half) {
            const double high = word[2 * half];
            const double low = word[2 * half + 1];
            // 2^-52 is the width of the cell that the 64 bits fall in.
            EXPECT_NEAR(stream.uniform(), (high + low * 0x1p-32) * 0x1p-32, 0x1p-52);
        }
    }
}

TEST(Stream, NormalsAreBoxMullerOfTheUniforms) {
    Stream uniform(3, Purpose::test);
    Stream normal(3, Purpose::test);
    for (int k = 0; k < 100; ++k) {
        const double u = uniform.uniform();
        const double v = uniform.uniform();
        const double x = normal.normal();
        const double y = normal.normal();
        EXPECT_NEAR(x * x + y * y, -2 * std::log(u), 1e-14 * (1 - 2 * std::log(u)));
        const double turn = std::atan2(y, x) / (2 * std::acos(-1.0));
        EXPECT_NEAR(turn < 0 ? turn + 1 : turn, v, 1e-14);
    }
}

TEST(Stream, UniformsFillTheOpenUnitInterval) {
    constexpr int count = 200000;
    constexpr int bins = 20;
    Stream stream(5, Purpose::test);
    std::array<int, bins> histogram{};
    double sum = 0;
    double square = 0;
    for (int k = 0; k < count; ++k) {
        const double u = stream.uniform();
        ASSERT_GT(u, 0.0);
        ASSERT_LT(u, 1.0);
        sum += u;
        square += u * u;
        ++histogram[static_cast<std::size_t>(u * bins)];
    }
    // Five standard errors: variances 1/12 and 4/45.
    EXPECT_NEAR(sum / count, 0.5, 5 * std::sqrt(1.0 / 12 / count));
    EXPECT_NEAR(square / count, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / count));
    for (const int in_bin : histogram)
        EXPECT_NEAR(in_bin, 1.0 * count / bins, 5 * std::sqrt(1.0 * count / bins));
}

TEST(Stream, NormalsHaveTheirMoments) {
    constexpr std::size_t count = 400000;
    const std::vector<double> x = normals(Stream(6, Purpose::test), count);
    // E x^k and the variance of x^k: 0, 1, 0, 3, 0, 15 and (2k−1)!! − (E x^k)².
    const std::array<double, 6> expected{0, 1, 0, 3, 0, 15};
    const std::array<double, 6> variance{1, 2, 15, 96, 945, 10170};
    for (std::size_t k = 0; k < 6; ++k) {
        double sum = 0;
        for (const double value : x) sum += std::pow(value, static_cast<double>(k + 1));
        EXPECT_NEAR(sum / count, expected[k], 5 * std::sqrt(variance[k] / count)) << "moment " << k + 1;
    }
    const auto beyond_two = std::count_if(x.begin(), x.end(), [](double v) { return std::abs(v) > 2; });
    const double share = std::erfc(std::sqrt(2.0));
    EXPECT_NEAR(static_cast<double>(beyond_two), share * count, 5 * std::sqrt(share * count));
}

TEST(Stream, ConsecutiveNormalsAreUncorrelated) {
    constexpr std::size_t count = 100000;
    const std::vector<double> x = normals(Stream(8, Purpose::test), count + 4);
    for (std::ptrdiff_t lag = 1; lag <= 4; ++lag) {
        const std::vector<double> a(x.begin(), x.begin() + count);
        const std::vector<double> b(x.begin() + lag, x.begin() + lag + static_cast<std::ptrdiff_t>(count));
        EXPECT_LE(std::abs(correlation(a, b)), 5 / std::sqrt(count)) << lag;
    }
}

TEST(Stream, NeighboursAreUncorrelated) {
    constexpr std::size_t count = 40000;
    const std::uint64_t seed = 1000;
    struct Neighbour {
        std::string what;
        Stream stream;
    };
    const std::vector<Neighbour> family{
        {"itself", {seed, Purpose::mixer, 10, 20}},
        {"layer + 1", {seed, Purpose::mixer, 11, 20}},
        {"layer - 1", {seed, Purpose::mixer, 9, 20}},
        {"sample + 1", {seed, Purpose::mixer, 10, 21}},
        {"sample - 1", {seed, Purpose::mixer, 10, 19}},
        {"seed + 1", {seed + 1, Purpose::mixer, 10, 20}},
        {"seed - 1", {seed - 1, Purpose::mixer, 10, 20}},
        {"seed + 2^32", {seed + (1ULL << 32U), Purpose::mixer, 10, 20}},
        {"purpose", {seed, Purpose::branch, 10, 20}},
        {"layer and sample swapped", {seed, Purpose::mixer, 20, 10}},
        {"test purpose", {seed, Purpose::test, 10, 20}},
    };
    std::vector<std::vector<double>> x;
    x.reserve(family.size());
    for (const Neighbour& member : family) x.push_back(normals(member.stream, count));
    for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(correlation(x[i], x[i]), 1.0, 5 * std::sqrt(2.0 / count)) << family[i].what;
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_LE(std::abs(correlation(x[i], x[j])), 5 / std::sqrt(count))
                << family[i].what << " and " << family[j].what;
            EXPECT_NE(x[i].front(), x[j].front()) << family[i].what << " and " << family[j].what;
        }
    }
}

TEST(Stream, SameNameSameNumbers) {
    EXPECT_EQ(normals(Stream(2, Purpose::branch, 3, 4), 101), normals(Stream(2, Purpose::branch, 3, 4), 101));
}

TEST(Stream, FillEqualsRepeatedDraws) {
    for (const std::size_t count : {0U, 1U, 2U, 3U, 64U, 101U}) {
        Stream one_by_one(4, Purpose::test, 1, 2);
        for (const double x : normals(Stream(4, Purpose::test, 1, 2), count))
            EXPECT_EQ(x, one_by_one.normal());
    }
    // Of every length, and after a pair was begun.
    for (const std::size_t length : {1U, 2U, 127U, 128U, 129U, 301U})
        for (const int before : {0, 1, 2}) {
            Stream fill(6, Purpose::test), draw(6, Purpose::test);
            for (int k = 0; k < before; ++k) EXPECT_EQ(fill.normal(), draw.normal());
            std::vector<double> all(length);
            fill.fill_normal(all);
            for (const double x : all) EXPECT_EQ(x, draw.normal()) << length;
            EXPECT_EQ(fill.normal(), draw.normal()) << length;
        }
    // A fill of odd length leaves the second of a pair for the next.
    Stream filled(4, Purpose::test);
    std::array<double, 3> three{};
    filled.fill_normal(three);
    const std::vector<double> five = normals(Stream(4, Purpose::test), 5);
    EXPECT_EQ(filled.normal(), five[3]);
    EXPECT_EQ(filled.normal(), five[4]);
}

TEST(Stream, LayersStayBelowThePurpose) {
    EXPECT_NO_THROW(Stream(1, Purpose::mixer, (1U << 24U) - 1));
    EXPECT_THROW(Stream(1, Purpose::mixer, 1U << 24U), std::out_of_range);
    EXPECT_THROW(Stream(1, Purpose::test, ~0U), std::out_of_range);
    EXPECT_NO_THROW(Stream(1, Purpose::mixer, 0, ~0U));
}

}  // namespace
}  // namespace spectra::random
