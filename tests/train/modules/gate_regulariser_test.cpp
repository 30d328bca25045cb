#include "train/modules/gate_regulariser.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "train/modules/checks.hpp"

namespace spectra::train {
namespace {

using torch::Tensor;

/// f of γ, as the papers write it.
double plain(const std::string& name, double gate) {
    const double rest = 1 - gate;
    const std::map<std::string, std::function<double()>> all{
        {"quadratic", [&] { return 4 * gate * rest; }},
        {"quartic", [&] { return 16 * gate * gate * rest * rest; }},
        {"sine", [&] { return std::sin(std::numbers::pi * gate); }},
        {"entropy", [&] { return -gate * std::log2(gate) - rest * std::log2(rest); }},
        {"flat", [&] { return 1 - std::pow(2 * gate - 1, 4); }}};
    return all.at(name)();
}

TEST(GateRegulariser, IsItsFunctionOfTheGate) {
    for (const auto& [name, which] : gate_regularisers)
        for (const double logit : {-6.0, -1.0, -0.2, 0.0, 0.7, 3.0}) {
            const double gate = 1 / (1 + std::exp(-logit));
            const double value = gate_regulariser(which, torch::tensor(logit, torch::kDouble)).item<double>();
            EXPECT_NEAR(value, plain(name, gate), 1e-13) << name << ' ' << logit;
            const double mirrored =
                gate_regulariser(which, torch::tensor(-logit, torch::kDouble)).item<double>();
            EXPECT_NEAR(value, mirrored, 1e-15) << name;
        }
}

// 1 and flat at ½ (theorem 7.3), 0 at the ends, with the gradient of its values between.
TEST(GateRegulariser, HasItsMaximumAtOneHalf) {
    for (const auto& [name, which] : gate_regularisers) {
        SCOPED_TRACE(name);
        const auto value_and_slope = [&, regulariser = which](double logit) {
            const Tensor x = torch::tensor(logit, torch::kDouble).requires_grad_(true);
            const Tensor y = gate_regulariser(regulariser, x);
            y.backward();
            return std::pair{y.item<double>(), x.grad().item<double>()};
        };
        EXPECT_NEAR(value_and_slope(0).first, 1, 1e-15);
        EXPECT_NEAR(value_and_slope(0).second, 0, 1e-15);
        for (const double end : {-800.0, 800.0}) {
            EXPECT_NEAR(value_and_slope(end).first, 0, 1e-300);
            EXPECT_TRUE(std::isfinite(value_and_slope(end).second));
        }
        const testing::Map map = [regulariser = which](const Tensor& x) {
            return gate_regulariser(regulariser, x);
        };
        EXPECT_LT(testing::gradient_error(map, torch::tensor({-2.0, -0.5, 0.3, 1.5}, torch::kDouble)), 1e-9);
    }
}

}  // namespace
}  // namespace spectra::train
