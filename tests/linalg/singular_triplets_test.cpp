#include "linalg/singular_triplets.hpp"

#include "linalg/singular_values.hpp"
#include "support/aligned_networks.hpp"
#include "support/dense_operator.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace spectra;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using linalg::largest_triplets;
using tests::DenseOperator;
using tests::random_matrix;
using tests::random_orthonormal;

/// With the given singular values, N×N.
MatrixXd matrix_of(const VectorXd& values, Eigen::Index size, std::mt19937& random) {
    return random_orthonormal(size, values.size(), random) * values.asDiagonal() *
           random_orthonormal(size, values.size(), random).transpose();
}

void expect_triplets(const MatrixXd& matrix, const linalg::LargestTriplets& found, double tolerance) {
    const auto count = found.values.size();
    const MatrixXd unit = MatrixXd::Identity(count, count);
    EXPECT_LT((found.left.transpose() * found.left - unit).norm(), 1e-12);
    EXPECT_LT((found.right.transpose() * found.right - unit).norm(), 1e-12);
    const double scale = found.values(0);
    EXPECT_LT((matrix * found.right - found.left * found.values.asDiagonal()).norm(), 1e-12 * scale);
    EXPECT_LT((matrix.transpose() * found.left - found.right * found.values.asDiagonal()).norm(),
              tolerance * scale);
    const VectorXd residual =
        (matrix.transpose() * found.left - found.right * found.values.asDiagonal()).colwise().norm();
    EXPECT_LT((residual - found.residual).norm(), 1e-12 * scale);
}

TEST(LargestTriplets, AreThoseOfLapack) {
    std::mt19937 random(1);
    for (const int size : {1, 2, 7, 40, 150}) {
        const MatrixXd matrix = random_matrix(size, size, random);
        const auto svd = linalg::singular_value_decomposition(matrix);
        for (const int count : {1, 3, 8}) {
            if (count > size) continue;
            DenseOperator products(matrix);
            const auto found =
                largest_triplets(products, count, random_matrix(size, std::min(size, 4), random));
            ASSERT_EQ(found.values.size(), count);
            EXPECT_TRUE(found.converged) << size;
            EXPECT_LT((found.values - svd.values.head(count)).norm(), 1e-10 * found.values(0)) << size;
            expect_triplets(matrix, found, 1e-7);
            for (int i = 0; i < count; ++i) {  // each by itself: random values are apart
                EXPECT_NEAR(std::abs(found.left.col(i).dot(svd.left.col(i))), 1, 1e-6) << size;
                EXPECT_NEAR(std::abs(found.right.col(i).dot(svd.right.col(i))), 1, 1e-6) << size;
            }
        }
    }
}

TEST(LargestTriplets, FindValuesThatOccurSeveralTimes) {
    std::mt19937 random(2);
    VectorXd values = VectorXd::LinSpaced(30, 1, 0.1);
    values.head(3).setConstant(2);
    const MatrixXd matrix = matrix_of(values, 50, random);
    DenseOperator products(matrix);
    const auto found = largest_triplets(products, 4, random_matrix(50, 3, random));
    EXPECT_TRUE(found.converged);
    EXPECT_LT((found.values - values.head(4)).norm(), 1e-10);
    expect_triplets(matrix, found, 1e-7);
}

TEST(LargestTriplets, EndWithTheRank) {
    std::mt19937 random(3);
    const MatrixXd matrix = matrix_of(Eigen::Vector2d(3, 1e-3), 20, random);
    for (const int block : {1, 2, 5, 20}) {
        DenseOperator products(matrix);
        const auto found = largest_triplets(products, 6, random_matrix(20, block, random));
        ASSERT_EQ(found.values.size(), 2) << block;
        EXPECT_TRUE(found.converged);
        EXPECT_NEAR(found.values(1), 1e-3, 1e-13);
        expect_triplets(matrix, found, 1e-12);
    }
    DenseOperator zero(MatrixXd::Zero(20, 20));
    const auto none = largest_triplets(zero, 2, random_matrix(20, 3, random));
    EXPECT_EQ(none.values.size(), 0);
    EXPECT_EQ(none.left.rows(), 20);
    EXPECT_TRUE(none.converged);
}

TEST(LargestTriplets, SayWhereTheyAreNotConverged) {
    std::mt19937 random(4);
    const MatrixXd matrix = random_matrix(100, 100, random);
    DenseOperator products(matrix);
    const auto found = largest_triplets(products, 2, random_matrix(100, 3, random), {.most_steps = 3});
    ASSERT_EQ(found.values.size(), 2);
    EXPECT_FALSE(found.converged);
    expect_triplets(matrix, found, 1);
    EXPECT_THROW(largest_triplets(products, 2, random_matrix(99, 3, random)), std::invalid_argument);
    EXPECT_THROW(largest_triplets(products, 0, random_matrix(100, 3, random)), std::invalid_argument);
}

}  // namespace
