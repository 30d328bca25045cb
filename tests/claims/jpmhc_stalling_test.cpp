#include "claims/jpmhc_stalling.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::claims::jpmhc {
namespace {

using Eigen::MatrixXd;

/// Numbers without a pattern, the same everywhere.
MatrixXd some_matrix(int size, double seed) {
    MatrixXd out(size, size);
    for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) out(i, j) = std::sin(seed + 3 * i + 7 * j + 0.5 * i * j);
    return out;
}

LinearStack some_stack(int size, int depth) {
    LinearStack out;
    for (int l = 0; l < depth; ++l) {
        out.skips.push_back(some_matrix(size, 1 + l));
        out.branches.push_back(some_matrix(size, 20 + l));
    }
    return out;
}

double loss(const LinearStack& stack, const MatrixXd& target) {
    return (stack.jacobian() - target).squaredNorm() / 2;
}

TEST(LinearStack, StepsAreThoseOfTheGradientByDifferences) {
    const LinearStack stack = some_stack(3, 3);
    const MatrixXd target = some_matrix(3, 9);
    LinearStack after = stack;
    after.descend(target, 1);
    for (std::size_t l = 0; l < 3; ++l)
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                constexpr double h = 1e-5;
                LinearStack up = stack, down = stack;
                up.branches[l](i, j) += h;
                down.branches[l](i, j) -= h;
                const double slope = (loss(up, target) - loss(down, target)) / (2 * h);
                EXPECT_NEAR(stack.branches[l](i, j) - after.branches[l](i, j), slope,
                            1e-6 * (1 + std::abs(slope)));
            }
}

TEST(LinearStack, OneLayerLearnsEveryDirectionAtTheSamePace) {
    LinearStack stack = some_stack(4, 1);
    stack.skips[0].setZero();
    const MatrixXd target = some_matrix(4, 5), before = stack.jacobian() - target;
    for (int k = 0; k < 3; ++k) stack.descend(target, 0.1);
    const MatrixXd all = MatrixXd::Identity(4, 4), now = stack.jacobian() - target;
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(learned(before, now, all, i, i + 1), 1 - std::pow(0.9, 6), 1e-12);
}

TEST(LinearStack, LearnsNothingWhereBothSidesAreLost) {
    // Two layers that keep one direction of two: what is lost before and after is out of reach of the gradient.
    LinearStack stack;
    const MatrixXd keep{{1, 0}, {0, 0}};
    stack.skips.assign(2, keep);
    stack.branches.assign(2, MatrixXd::Zero(2, 2));
    stack.descend(MatrixXd{{1, 1}, {1, 1}}, 0.01);
    const MatrixXd now = stack.jacobian();
    EXPECT_GT(now(0, 1), 0.009);
    EXPECT_GT(now(1, 0), 0.009);
    EXPECT_LT(std::abs(now(1, 1)), 1e-3);
}

}  // namespace
}  // namespace spectra::claims::jpmhc
