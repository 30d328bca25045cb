#include "linalg/plain_matrix.hpp"

#include "linalg/double_double.hpp"

#include <gtest/gtest.h>
#include <Eigen/LU>

#include <cmath>
#include <complex>
#include <random>

namespace spectra::linalg {
namespace {

using Complex = std::complex<double>;
using Plain = PlainMatrix<Complex>;
using Index = Plain::Index;

Eigen::MatrixXcd draw(Index rows, Index columns, unsigned seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    Eigen::MatrixXcd a(rows, columns);
    for (Index k = 0; k < a.size(); ++k) a.data()[k] = {normal(random), normal(random)};
    return a;
}
Plain plain(const Eigen::MatrixXcd& a) {
    Plain b(a.rows(), a.cols());
    for (Index i = 0; i < a.rows(); ++i)
        for (Index j = 0; j < a.cols(); ++j) b(i, j) = a(i, j);
    return b;
}
void expect_near(const Plain& found, const Eigen::MatrixXcd& right) {
    ASSERT_EQ(found.rows(), right.rows());
    ASSERT_EQ(found.columns(), right.cols());
    for (Index i = 0; i < right.rows(); ++i)
        for (Index j = 0; j < right.cols(); ++j)
            EXPECT_LT(std::abs(found(i, j) - right(i, j)), 1e-12) << i << " " << j;
}

TEST(PlainMatrix, ComputesAsEigenDoes) {
    const Eigen::MatrixXcd a = draw(5, 3, 1), b = draw(3, 4, 2), c = draw(5, 3, 3);
    const Complex factor(0.3, -2);
    expect_near(plain(a) * plain(b), a * b);
    expect_near(plain(a) + factor * plain(c), a + factor * c);
    expect_near(plain(a) - plain(c), a - c);
    expect_near(plain(a).transpose(), a.transpose());
    expect_near(plain(a).block(1, 2, 3, 1), a.block(1, 2, 3, 1));
    expect_near(Plain::identity(3), Eigen::MatrixXcd::Identity(3, 3));
    EXPECT_LT(std::abs((plain(b) * plain(a.topRows(4))).trace() - (b * a.topRows(4)).trace()), 1e-12);
}

TEST(PlainMatrix, SolvesWithPivots) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        Eigen::MatrixXcd a = draw(7, 7, seed);
        a(0, 0) = a(1, 1) = 0;  // no elimination without pivots
        const Eigen::MatrixXcd b = draw(7, 2, seed + 100);
        expect_near(plain(a) * plain(a).solve(plain(b)), b);
        expect_near(plain(a).inverse() * plain(a), Eigen::MatrixXcd::Identity(7, 7));
    }
}

TEST(PlainMatrix, SingularMatricesHaveNoFiniteInverse) {
    PlainMatrix<ComplexDoubleDouble> a(2, 2);
    a(0, 0) = a(0, 1) = a(1, 0) = a(1, 1) = ComplexDoubleDouble(3);
    const auto inverse = a.inverse();
    EXPECT_FALSE(std::isfinite(static_cast<double>(inverse(0, 0).real())));
}

}  // namespace
}  // namespace spectra::linalg
