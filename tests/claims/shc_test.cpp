#include "claims/shc.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::claims::shc {
namespace {

Eigen::MatrixXd turned_by(double angle) {
    return Eigen::MatrixXd{{std::cos(angle), -std::sin(angle)}, {std::sin(angle), std::cos(angle)}};
}

TEST(SkewEntry, OfARotationIsTheTangentOfHalfItsAngle) {
    EXPECT_NEAR(least_skew_entry(turned_by(0)), 0, 1e-12);
    EXPECT_NEAR(least_skew_entry(turned_by(0.5)), std::tan(0.25), 1e-12);
    // Beyond a right angle the signs of both columns take π off.
    EXPECT_NEAR(least_skew_entry(turned_by(2)), std::tan((std::acos(-1.0) - 2) / 2), 1e-12);
    EXPECT_NEAR(least_skew_entry(-turned_by(0)), 0, 1e-12);
}

TEST(SkewEntry, OfAReflectionIsThatOfTheRotationBehindIt) {
    Eigen::MatrixXd reflected = turned_by(0.5);
    reflected.col(1) *= -1;
    EXPECT_NEAR(least_skew_entry(reflected), std::tan(0.25), 1e-12);
}

}  // namespace
}  // namespace spectra::claims::shc
