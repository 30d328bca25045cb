#include "spectrum/cumulative.hpp"

#include "laws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using spectra::continuous_part;
using spectra::Density;

TEST(Cumulative, CubicsAreReproduced) {
    // F = x² (3 − 2x) on [0, 1] is itself a cubic: any nodes give it exactly.
    Density density;
    for (const double x : {0.0, 0.1, 0.35, 0.8, 1.0}) {
        density.log_s.push_back(x);
        density.density_log.push_back(6 * x * (1 - x));
        density.weight.push_back(0);
        density.cumulative.push_back(x * x * (3 - 2 * x));
    }
    density.support = {{0, 1}};
    const auto out = continuous_part(density);
    for (double x = 0; x <= 1; x += 0.01) {
        EXPECT_NEAR(out.value(x), x * x * (3 - 2 * x), 1e-15) << x;
    }
    EXPECT_EQ(out.value(-1), 0);
    EXPECT_EQ(out.value(2), 1);
    EXPECT_FALSE(out.has_tail());
}

TEST(Cumulative, PiecesTouch) {
    Density density;
    spectra::tests::add_band(density, -3, -2, 20, [](double x) { return 3 * (x + 3) * (-2 - x); });
    spectra::tests::add_band(density, 0, 1, 20, [](double x) { return 3 * x * (1 - x); });
    const auto out = continuous_part(density);
    EXPECT_EQ(out.lowest(), -3);
    EXPECT_EQ(out.pieces.front().from, 0);
    EXPECT_EQ(out.pieces.back().upper, 1);
    int constant = 0;
    for (std::size_t k = 0; k + 1 < out.pieces.size(); ++k) {
        EXPECT_EQ(out.pieces[k].upper, out.pieces[k + 1].lower);
        EXPECT_EQ(out.pieces[k].to, out.pieces[k + 1].from);
        if (out.pieces[k].constant()) {
            ++constant;
            EXPECT_EQ(out.pieces[k].lower, -2);
            EXPECT_EQ(out.pieces[k].upper, 0);
        }
    }
    EXPECT_EQ(constant, 1);
}

TEST(Cumulative, GapsThatTouchNodes) {
    // The last node of a band lies on its edge, the first of the next band too.
    Density density;
    density.log_s = {0, 1, 2, 3};
    density.density_log = {0, 0, 0, 0};
    density.weight = {0, 0, 0, 0};
    density.cumulative = {0, 0.5, 0.5, 1};
    density.support = {{0, 1}, {2, 3}};
    const auto out = continuous_part(density);
    ASSERT_EQ(out.pieces.size(), 3U);
    EXPECT_TRUE(out.pieces[1].constant());
    EXPECT_EQ(out.value(1.5), 0.5);
}

TEST(Cumulative, SingleNode) {
    Density density;
    density.log_s = {1};
    density.density_log = {0};
    density.weight = {0};
    density.cumulative = {0.25};
    const auto out = continuous_part(density);
    EXPECT_EQ(out.value(0), 0);
    EXPECT_EQ(out.value(1), 0.25);
    EXPECT_EQ(out.value(2), 0.25);
}

TEST(Cumulative, PiecewiseLinear) {
    const auto out = spectra::piecewise_linear({0, 1, 3}, {1, 3}, 8);
    EXPECT_EQ(out.value(0.5), 1.0 / 16);
    EXPECT_NEAR(out.value(2), 1.0 / 8 + 3.0 / 16, 1e-16);
    EXPECT_EQ(out.total(), 0.5);
    EXPECT_NEAR(out.pieces[1].slope(2.2), 3.0 / 16, 1e-16);
}

}  // namespace
