#include "random/elementary.hpp"

#include "random/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

namespace spectra::random {
namespace {

double ulp_of(double x) {
    return std::nextafter(std::abs(x), std::numeric_limits<double>::infinity()) - std::abs(x);
}

TEST(Elementary, LogarithmsAreRightToOneUlp) {
    // Against long double, which has 11 bits more on x86-64, and 60 more on ARM.
    double worst = 0;
    const auto check = [&](double u) {
        const long double expected = std::log(static_cast<long double>(u));
        const auto error = static_cast<double>(std::abs(expected - static_cast<long double>(natural_log(u))));
        worst = std::max(worst, error / ulp_of(static_cast<double>(expected)));
    };
    Stream stream(1, Purpose::test);
    for (int k = 0; k < 200'000; ++k) {
        const double u = stream.uniform();
        check(u);
        check(std::ldexp(u, -(k % 60)));
        check(1 - u * std::ldexp(1.0, -(k % 40)));
    }
    for (const double u :
         {0x1p-53, 0x1p-1, 1 - 0x1p-53, 0.7071, std::sqrt(0.5), std::nextafter(std::sqrt(0.5), 0.0)})
        check(u);
    EXPECT_LT(worst, 1);
    EXPECT_EQ(natural_log(1), 0);
}

TEST(Elementary, TurnsAreRightToOneUlpOfOne) {
    double worst = 0;
    const auto check = [&](double v) {
        const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(v);
        double cosine = 0, sine = 0;
        turn(v, cosine, sine);
        worst = std::max({worst,
                          static_cast<double>(std::abs(std::cos(angle) - static_cast<long double>(cosine))),
                          static_cast<double>(std::abs(std::sin(angle) - static_cast<long double>(sine)))});
    };
    Stream stream(2, Purpose::test);
    for (int k = 0; k < 200'000; ++k) check(stream.uniform());
    for (int k = 0; k <= 16; ++k) check(k / 16.0);
    EXPECT_LT(worst, 0x1p-52);
    // Quarter turns are exact.
    const std::array<double, 4> expected{1, 0, -1, 0};
    for (std::size_t k = 0; k < 4; ++k) {
        double cosine = 0, sine = 0;
        turn(static_cast<double>(k) / 4, cosine, sine);
        EXPECT_EQ(cosine, expected.at(k));
        EXPECT_EQ(sine, expected.at((k + 3) % 4));
    }
}

TEST(Elementary, NormalsHaveTheSameBitsEverywhere) {
    // FNV-1a over the bits of normals from batches and one by one, found on x86-64 (g++ 12).
    Stream stream(7, Purpose::test, 3, 5);
    std::vector<double> normals(100'001);
    stream.fill_normal(normals);
    std::uint64_t hash = 14695981039346656037ULL;
    for (const double x : normals) hash = (hash ^ std::bit_cast<std::uint64_t>(x)) * 1099511628211ULL;
    EXPECT_EQ(hash, 3664671005672918463ULL);
}

}  // namespace
}  // namespace spectra::random
