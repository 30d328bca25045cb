#include "dyson/law/panel.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::dyson {
namespace {

TEST(Panel, IntegratesAndInterpolatesPolynomials) {
    const panel::Rule& rule = panel::rule();
    std::array<double, panel::nodes> values{};
    for (std::size_t i = 0; i < panel::nodes; ++i)
        values[i] = std::pow(rule.place[i], 10) - 2 * rule.place[i];
    double integral = 0;
    for (std::size_t i = 0; i < panel::nodes; ++i) integral += rule.weight[i] * values[i];
    EXPECT_NEAR(integral, 2.0 / 11, 1e-14);
    for (std::size_t i = 0; i < panel::nodes; ++i) {
        double cumulative = 0;
        for (std::size_t j = 0; j < panel::nodes; ++j) cumulative += rule.cumulative[i][j] * values[j];
        const double t = rule.place[i];
        EXPECT_NEAR(cumulative, (std::pow(t, 11) + 1) / 11 - (t * t - 1), 1e-13);
    }
    const auto weights = panel::interpolation(0.3);
    double value = 0;
    for (std::size_t j = 0; j < panel::nodes; ++j) value += weights[j] * values[j];
    EXPECT_NEAR(value, std::pow(0.3, 10) - 0.6, 1e-13);
}

TEST(Panel, TruncationTellsSmoothFromRough) {
    std::array<double, panel::nodes> smooth{}, rough{};
    for (std::size_t i = 0; i < panel::nodes; ++i) {
        smooth[i] = std::exp(panel::rule().place[i]);
        rough[i] = std::abs(panel::rule().place[i] - 0.1);
    }
    EXPECT_LT(panel::truncation(smooth), 1e-7);
    EXPECT_GT(panel::truncation(rough), 1e-4);
}

}  // namespace
}  // namespace spectra::dyson
