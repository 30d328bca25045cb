#include "dyson/law/cdf_law.hpp"

#include "dyson/exact/moments.hpp"
#include "dyson/law/theory.hpp"
#include "linalg/singular_values.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <cmath>
#include <random>

namespace spectra::dyson {
namespace {

Network isotropic(double sigma2) {
    Network network;
    network.streams = 2;
    Mixer mixer(2, 2);
    mixer << 0.8, 0.2, 0.2, 0.8;
    network.mixers.assign(3, mixer);
    network.branch = IsotropicBranch{std::vector<double>(3, sigma2)};
    return network;
}

TEST(CountedLaw, IsThatOfTheDensity) {
    for (const double sigma2 : {0.001, 0.05}) {
        const auto network = isotropic(sigma2);
        const auto exact = solve(network, Method::operator_valued);
        ASSERT_TRUE(exact.summary.certified) << exact.summary.message;
        const auto counted = count_law(network);
        EXPECT_TRUE(counted.certified);
        const double rms = std::sqrt(mean_square(network));
        EXPECT_LT(agreement(counted.law, exact.law).wasserstein1, 1.5e-4 * rms) << sigma2;
        EXPECT_NEAR(counted.law.metrics().window, exact.law.metrics().window, 1e-6);
        EXPECT_NEAR(counted.law.metrics().collapsed, exact.law.metrics().collapsed, 1e-6);
        EXPECT_NEAR(counted.law.metrics().mean_square, rms * rms, 1e-3 * rms * rms);
    }
}

TEST(CountedLaw, OfLessErrorTakesMorePlacesAndIsNearer) {
    const auto network = isotropic(0.05);
    const auto exact = solve(network, Method::operator_valued).law;
    const auto coarse = count_law(network, 1e-2), fine = count_law(network, 1e-4);
    EXPECT_GT(fine.points, coarse.points);
    EXPECT_LT(agreement(fine.law, exact).wasserstein1, agreement(coarse.law, exact).wasserstein1);
}

Eigen::MatrixXd drawn(std::mt19937& engine, Eigen::Index size) {
    std::normal_distribution<double> normal;
    return Eigen::MatrixXd::NullaryExpr(size, size, [&] { return normal(engine); });
}

/// One layer round a branch of two singular values: bands as narrow as the mixer's values are close to each
/// other, which no search for bands finds. Against a drawn one of width 60.
TEST(CountedLaw, HasBandsThatASearchMisses) {
    Network network;
    network.streams = 3;
    Mixer mixer(3, 3);
    mixer << 0.995, -0.09, 0.01, 0.09, 0.99, -0.05, -0.006, 0.052, 0.9985;
    network.mixers.push_back(mixer);
    HyperConnectionBranch branch;
    const Eigen::Vector3d pre(0.5, 0.9, 0.2), post(0.9, 1.0, 1.3);
    branch.pre.emplace_back(pre);
    branch.post.emplace_back(post);
    branch.law.push_back({0.2, 0.6});
    network.branch = branch;
    const auto counted = count_law(network);
    ASSERT_TRUE(counted.certified);

    constexpr Eigen::Index p = 60;
    std::mt19937 engine(5);
    const Eigen::MatrixXd u = drawn(engine, p).householderQr().householderQ();
    const Eigen::MatrixXd v = drawn(engine, p).householderQr().householderQ();
    Eigen::VectorXd values(p);
    for (Eigen::Index k = 0; k < p; ++k) values(k) = k % 2 == 0 ? 0.2 : 0.6;
    const Eigen::MatrixXd f = u * values.asDiagonal() * v;
    Eigen::MatrixXd j(3 * p, 3 * p);
    for (Eigen::Index a = 0; a < 3; ++a)
        for (Eigen::Index b = 0; b < 3; ++b) {
            j.block(a * p, b * p, p, p) = post(a) * pre(b) * f;
            j.block(a * p, b * p, p, p).diagonal().array() += mixer(a, b);
        }
    std::vector<double> logs;
    const Eigen::VectorXd singular_values = linalg::singular_value_decomposition(j).values;
    for (const double s : singular_values) logs.push_back(std::log(s));
    const auto measured = Spectrum::from_log_values(logs);
    EXPECT_LT(agreement(counted.law, measured).wasserstein1, 0.01);
    EXPECT_NEAR(counted.law.metrics().mean_square, mean_square(network), 1e-3);
}

}  // namespace
}  // namespace spectra::dyson
