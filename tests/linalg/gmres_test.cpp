#include "linalg/gmres.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

namespace spectra::dyson {
namespace {

TEST(Gmres, SolvesADenseSystemAcrossRestarts) {
    const Eigen::MatrixXcd a =
        Eigen::MatrixXcd::Identity(40, 40) * 3.0 + Eigen::MatrixXcd::NullaryExpr(40, 40, [](auto i, auto j) {
            return std::complex<double>(std::sin(double(i * 3 + j)), std::cos(double(i - 2 * j))) * 0.15;
        });
    const Eigen::VectorXcd b = Eigen::VectorXcd::LinSpaced(40, 1, 2);
    for (const int restart : {60, 7}) {
        Eigen::VectorXcd x;
        const auto summary = linalg::gmres([&](const Eigen::VectorXcd& v, Eigen::VectorXcd& out) { out = a * v; }, b,
                                   x, 1e-12, 500, restart);
        EXPECT_TRUE(summary.converged);
        EXPECT_LT((a * x - b).norm(), 1e-11 * b.norm());
    }
}

TEST(Gmres, SaysWhenItDidNotConverge) {
    Eigen::VectorXcd x;
    const Eigen::VectorXcd b = Eigen::VectorXcd::Ones(3);
    const auto summary =
        linalg::gmres([](const Eigen::VectorXcd& v, Eigen::VectorXcd& out) { out = 0 * v; }, b, x, 1e-12, 10);
    EXPECT_FALSE(summary.converged);
}

TEST(Gmres, ZeroNeedsNoWork) {
    Eigen::VectorXcd x;
    const auto summary = linalg::gmres([](const Eigen::VectorXcd&, Eigen::VectorXcd&) { FAIL(); },
                               Eigen::VectorXcd::Zero(3), x, 1e-12, 10);
    EXPECT_TRUE(summary.converged);
    EXPECT_EQ(x.norm(), 0);
}

}  // namespace
}  // namespace spectra::dyson
