#include "study/figures/drawn.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace spectra::study {
namespace {

TEST(MidpointFigure, ShowsThePenaltiesAndTheirSlopes) {
    const auto panels = drawn("midpoint", {}).figure.panels;
    ASSERT_EQ(panels.size(), 4u);
    const auto value = [](std::size_t k, double x) {
        const double rest = 1 - x;
        return k == 0   ? 4 * x * rest
               : k == 1 ? std::pow(4 * x * rest, 2)
               : k == 2 ? std::sin(std::numbers::pi * x)
               : k == 3 ? (x * rest == 0 ? 0 : -(x * std::log(x) + rest * std::log(rest)) / std::numbers::ln2)
                        : 1 - std::pow(1 - 2 * x, 4);
    };
    constexpr double h = 1e-6;
    for (std::size_t k = 0; k < 5; ++k) {
        const auto &f = panels[0].series.at(k), &slope = panels[1].series.at(k);
        EXPECT_EQ(f.label, slope.label);
        for (std::size_t i = 0; i < f.x.size(); ++i) {
            EXPECT_NEAR(f.y[i], value(k, f.x[i]), 1e-12) << f.label << ' ' << f.x[i];
            if (f.x[i] < h || f.x[i] > 1 - h) continue;
            const double expected = (value(k, f.x[i] + h) - value(k, f.x[i] - h)) / (2 * h);
            EXPECT_NEAR(slope.y[i], expected, 1e-6 * (1 + std::abs(expected))) << f.label << ' ' << f.x[i];
        }
        EXPECT_NEAR(slope.y[slope.y.size() / 2], 0, 1e-12);  // at ½
    }
    EXPECT_TRUE(std::isnan(panels[1].series[3].y.front()));  // the entropy's has no bound
}

// Near ½ the logit grows by the factor 1 + rate/2 per step: 4(1 − 2γ)γ(1 − γ) ≈ −b/2.
TEST(MidpointFigure, AGateNearTheMiddleLeavesItByADoublingInFourteenSteps) {
    const auto drawing = drawn("midpoint", {});
    const auto& escapes = drawing.figure.panels[2].series;
    ASSERT_EQ(escapes.size(), 5u);
    for (const double gate : escapes[0].y) EXPECT_EQ(gate, 0.5);
    EXPECT_EQ(number(drawing, "b = 0: stays: steps out of [0.1, 0.9]"), INFINITY);
    const auto logit = [](double gate) { return std::log(gate / (1 - gate)); };
    for (std::size_t k = 0; k < 20; ++k) {
        EXPECT_NEAR(logit(escapes[2].y[k]), 0.02 * std::pow(1.05, static_cast<double>(k)), 1e-4);
        EXPECT_NEAR(escapes[2].y[k] + escapes[3].y[k], 1, 1e-15);
    }
    EXPECT_LT(escapes[1].y.back(), 0.1);  // the task prefers 0
    EXPECT_GT(escapes[2].y.back(), 0.9);
    EXPECT_GT(escapes[4].y.back(), 0.9);
    EXPECT_LT(number(drawing, "start b = 1.5: steps out of [0.1, 0.9]"),
              number(drawing, "inputs ±1, w = 0.02: steps out of [0.1, 0.9]"));
    // Curvature 0 at ½: the slowest of the five.
    const double flat = number(drawing, "1 − (2γ − 1)⁴: steps out of [0.1, 0.9]");
    for (const char* const f : {"4γ(1 − γ)", "16γ²(1 − γ)²", "sin πγ", "entropy"})
        EXPECT_LT(number(drawing, std::string(f) + ": steps out of [0.1, 0.9]"), flat) << f;
}

}  // namespace
}  // namespace spectra::study
