#include "dyson/equations/eliminated_pairs.hpp"

#include <gtest/gtest.h>
#include <Eigen/LU>

#include <cmath>
#include <numbers>
#include <random>

namespace spectra::dyson {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Matrix = Eigen::MatrixXcd;

/// K = Xᵀ H⁻¹ X and C as in an aligned chain: H + κ X C Xᵀ has Im > 0 for every κ from 0 to 1.
struct Case {
    Matrix k;
    std::vector<Eigen::Matrix2cd> c;

    explicit Case(Index pairs, double height = 0.05, unsigned seed = 1) {
        std::mt19937 random(seed);
        std::normal_distribution<double> normal;
        std::uniform_real_distribution<double> uniform(0.1, 1.0);
        const Index columns = 2 * pairs, size = columns + 5;
        const auto draw = [&](Index rows, Index count) {
            return Eigen::MatrixXd::NullaryExpr(rows, count, [&] { return normal(random); }).eval();
        };
        const Eigen::MatrixXd x = draw(size, columns) / std::sqrt(static_cast<double>(size)),
                              s = draw(size, size);
        Matrix h = ((s + s.transpose()) / std::sqrt(static_cast<double>(size))).cast<Complex>();
        h.diagonal().array() += Complex(0, height);
        for (Index i = 0; i < pairs; ++i) {
            const double value = uniform(random);
            const Complex cv(3 + normal(random), -uniform(random)), cw(3 + normal(random), -uniform(random));
            c.push_back(Eigen::Matrix2cd{{cv, -value}, {-value, cw}});
            h -= cv * (x.col(2 * i) * x.col(2 * i).transpose()) +
                 cw * (x.col(2 * i + 1) * x.col(2 * i + 1).transpose());
        }
        k = x.transpose() * h.partialPivLu().solve(x.cast<Complex>());
        k = (0.5 * (k + k.transpose())).eval();
    }

    Matrix coupling() const {
        Matrix all = Matrix::Zero(k.rows(), k.cols());
        for (std::size_t i = 0; i < c.size(); ++i)
            all.block<2, 2>(2 * static_cast<Index>(i), 2 * static_cast<Index>(i)) = c[i];
        return all;
    }
};

Matrix by_lu(const Case& of) {
    const Matrix c = of.coupling();
    return (Matrix::Identity(c.rows(), c.cols()) + c * of.k).partialPivLu().solve(c);
}

// One pair, one block, blocks of unequal size.
TEST(EliminatedPairs, IsTheInverseByLu) {
    for (const Index pairs : {1, 31, 32, 33, 75}) {
        const Case of(pairs);
        EliminatedPairs found;
        ASSERT_TRUE(found.run(of.k, of.c));
        const Matrix t = by_lu(of);
        EXPECT_LT((found.t() - t).norm(), 1e-10 * t.norm()) << pairs;
        EXPECT_LT(found.defect(), 1e-10);
        const Matrix left = of.k - of.k * t * of.k;
        for (Index i = 0; i < pairs; ++i)
            EXPECT_LT(
                (found.remaining()[static_cast<std::size_t>(i)] - left.block<2, 2>(2 * i, 2 * i)).norm(),
                1e-9 * left.norm());
    }
}

// The argument of det(1 + κCK), followed from κ = 0 in steps too short to lose a turn.
TEST(EliminatedPairs, ItsArgumentIsThatFollowedFromNothing) {
    for (const Index pairs : {1, 20, 40}) {
        const Case of(pairs);
        EliminatedPairs found;
        ASSERT_TRUE(found.run(of.k, of.c));
        const Matrix ck = of.coupling() * of.k, one = Matrix::Identity(ck.rows(), ck.cols());
        double followed = 0;
        Complex before = 1;
        constexpr int steps = 1000;
        for (int i = 1; i <= steps; ++i) {
            Complex phase = 1;
            const Eigen::PartialPivLU<Matrix> lu(one + static_cast<double>(i) / steps * ck);
            for (const Complex pivot : lu.matrixLU().diagonal()) phase *= pivot / std::abs(pivot);
            phase *= static_cast<double>(lu.permutationP().determinant());
            followed += std::arg(phase / before);
            before = phase;
        }
        EXPECT_NEAR(found.argument(), followed, 1e-8) << pairs;
        if (pairs == 40) {
            EXPECT_GT(std::abs(followed), std::numbers::pi) << "more than principal";
        }
    }
}

// The first 32 pairs are singular by themselves, all pairs together are not.
TEST(EliminatedPairs, FallsBackWhereAPartIsSingular) {
    Case of(40);
    of.k.topLeftCorner(64, 64).setZero();
    of.k(0, 0) = -1.0 / of.c[0](0, 0);
    of.k(0, 1) = of.k(1, 0) = of.k(1, 1) = 0;
    EliminatedPairs found;
    ASSERT_TRUE(found.run(of.k, of.c));
    EXPECT_GT(found.defect(), 1e-9);
    const Matrix t = by_lu(of);
    EXPECT_LT((found.t() - t).norm(), 1e-9 * t.norm());
}

// Single precision, blocks of unequal size; in double where it would not do.
TEST(EliminatedPairs, RoughIsTheSameToAFewDigits) {
    Case of(75);
    EliminatedPairs found;
    ASSERT_TRUE(found.run(of.k, of.c, true));
    EXPECT_TRUE(found.rough());
    Matrix t = by_lu(of);
    EXPECT_LT((found.t() - t).norm(), 1e-4 * t.norm());
    EXPECT_GT((found.t() - t).norm(), 1e-10 * t.norm()) << "in double";
    ASSERT_TRUE(found.run(of.k, of.c));
    EXPECT_FALSE(found.rough());
    EXPECT_LT((found.t() - t).norm(), 1e-10 * t.norm());

    of.k.topLeftCorner(64, 64).setZero();
    of.k(0, 0) = -1.0 / of.c[0](0, 0);
    ASSERT_TRUE(found.run(of.k, of.c, true));
    EXPECT_FALSE(found.rough());
    t = by_lu(of);
    EXPECT_LT((found.t() - t).norm(), 1e-9 * t.norm());
}

TEST(EliminatedPairs, NeedsNoInverseOfC) {
    Case of(3);
    of.c[1].setZero();
    of.c[2] = Eigen::Matrix2cd{{1, -1}, {-1, 1}};
    EliminatedPairs found;
    ASSERT_TRUE(found.run(of.k, of.c));
    const Matrix t = by_lu(of), left = of.k - of.k * t * of.k;
    EXPECT_LT((found.t() - t).norm(), 1e-12 * t.norm());
    for (Index i = 0; i < 3; ++i)
        EXPECT_LT((found.remaining()[static_cast<std::size_t>(i)] - left.block<2, 2>(2 * i, 2 * i)).norm(),
                  1e-12);
}

}  // namespace
}  // namespace spectra::dyson
