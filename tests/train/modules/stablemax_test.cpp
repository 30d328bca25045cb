#include "train/modules/stablemax.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "train/modules/checks.hpp"

namespace spectra::train {
namespace {

using testing::gradient_error;
using testing::normal;
using torch::Tensor;

double s(double x) {
    return x >= 0 ? x + 1 : 1 / (1 - x);
}

TEST(Stablemax, IsItsDefinition) {
    torch::manual_seed(1);
    const auto x = 3 * normal({50, 7});
    const auto p = log_stablemax(x).exp();
    for (int64_t i = 0; i < 50; ++i) {
        double sum = 0;
        for (int64_t k = 0; k < 7; ++k) sum += s(x[i][k].item<double>());
        for (int64_t k = 0; k < 7; ++k)
            EXPECT_NEAR(p[i][k].item<double>(), s(x[i][k].item<double>()) / sum, 1e-14);
    }
}

TEST(Stablemax, IsFiniteForAnyLogits) {
    const auto x = torch::tensor({1e30, -1e30, 1.0, 0.0}, torch::kDouble).requires_grad_(true);
    const auto log_p = log_stablemax(x);
    log_p.sum().backward();
    EXPECT_TRUE(torch::isfinite(log_p).all().item<bool>());
    EXPECT_TRUE(torch::isfinite(x.grad()).all().item<bool>());
    EXPECT_EQ(log_stablemax(x.to(torch::kFloat)).scalar_type(), torch::kDouble);
}

TEST(Stablemax, GradientIsThatOfDifferences) {
    torch::manual_seed(2);
    EXPECT_LT(gradient_error([](const Tensor& x) { return log_stablemax(x); }, normal({9})), 1e-9);
    // At 0, where both branches meet with slope 1: d ln p_0/dx_0 = 1 − p_0.
    const auto zero = torch::zeros({4}, torch::kDouble).requires_grad_(true);
    log_stablemax(zero)[0].backward();
    EXPECT_NEAR(zero.grad()[0].item<double>(), 0.75, 1e-15);
    EXPECT_NEAR(zero.grad()[1].item<double>(), -0.25, 1e-15);
}

TEST(Stablemax, LossIsAMeanOfMeans) {
    torch::manual_seed(3);
    const auto x = normal({2, 3, 5});
    const auto y = torch::tensor(std::vector<int64_t>{4, -100, 0, -100, -100, 2}).view({2, 3});
    const auto log_p = log_stablemax(x);
    const auto at = [&](int64_t b, int64_t t, int64_t k) { return log_p[b][t][k].item<double>(); };
    const double expected = -((at(0, 0, 4) + at(0, 2, 0)) / 2 + at(1, 2, 2)) / 2;
    EXPECT_NEAR(stablemax_loss(x, y).item<double>(), expected, 1e-15);
    EXPECT_LT(
        gradient_error(
            [&](const Tensor& points) {
                std::vector<Tensor> losses;
                for (const auto& point : points.dim() == 1 ? points.unsqueeze(0).unbind(0) : points.unbind(0))
                    losses.push_back(stablemax_loss(point.view({2, 3, 5}), y));
                const auto all = torch::stack(losses);
                return points.dim() == 1 ? all.squeeze(0) : all.unsqueeze(-1);
            },
            x.flatten()),
        1e-9);
}

}  // namespace
}  // namespace spectra::train
