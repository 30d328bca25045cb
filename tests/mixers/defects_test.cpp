#include "mixers/defects.hpp"

#include "mixers/grassmann.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace spectra::mixers {
namespace {

Eigen::MatrixXd example() {
    return Eigen::MatrixXd{{0.5, 0.75}, {0.25, -1.0}};
}

TEST(Defects, AreLargestEntries) {
    EXPECT_DOUBLE_EQ(row_sum_defect(example()), 1.75);     // row sums 1.25, -0.75
    EXPECT_DOUBLE_EQ(column_sum_defect(example()), 1.25);  // column sums 0.75, -0.25
    EXPECT_DOUBLE_EQ(identity_distance(example()), 2.0);   // -1 - 1
    EXPECT_DOUBLE_EQ(smallest_entry(example()), -1.0);
    EXPECT_DOUBLE_EQ(orthogonality_defect(example()), 0.6875);  // 0.25 + 0.0625 - 1
}

TEST(Defects, SpectralNormIsTheLargestSingularValue) {
    const Eigen::MatrixXd shear = Eigen::MatrixXd{{1, 1}, {0, 1}};
    EXPECT_NEAR(spectral_norm(shear), (1 + std::sqrt(5.0)) / 2, 4 * std::numeric_limits<double>::epsilon());
    EXPECT_NEAR(singular_values(shear).prod(), 1.0, 4 * std::numeric_limits<double>::epsilon());
    EXPECT_DOUBLE_EQ(spectral_norm(Eigen::MatrixXd::Constant(1, 1, -3.0)), 3.0);
}

TEST(Defects, SingularValuesMayCoincide) {
    for (const int n : {16, 33, 64}) {
        random::Stream stream(1, random::Purpose::test, static_cast<std::uint32_t>(n));
        for (const int rank : {1, n / 2, n - 1}) {
            const Eigen::VectorXd values = singular_values(draw_grassmann(n, rank, stream));
            const double tolerance = 16 * n * std::numeric_limits<double>::epsilon();
            EXPECT_LE((values.head(rank).array() - 1.0).abs().maxCoeff(), tolerance) << n << ' ' << rank;
            EXPECT_LE(values.tail(n - rank).maxCoeff(), tolerance) << n << ' ' << rank;
        }
    }
}

TEST(Defects, VanishAtTheIdentity) {
    for (const int n : {1, 2, 7}) {
        const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(n, n);
        EXPECT_EQ(row_sum_defect(identity), 0);
        EXPECT_EQ(column_sum_defect(identity), 0);
        EXPECT_EQ(orthogonality_defect(identity), 0);
        EXPECT_EQ(identity_distance(identity), 0);
        EXPECT_EQ(spectral_norm(identity), 1);
    }
}

TEST(Defects, NanIsNeverAPerfectMatrix) {
    for (int place = 0; place < 9; ++place) {
        Eigen::MatrixXd a = Eigen::MatrixXd::Identity(3, 3);
        a(place / 3, place % 3) = std::numeric_limits<double>::quiet_NaN();
        EXPECT_TRUE(std::isnan(row_sum_defect(a)));
        EXPECT_TRUE(std::isnan(column_sum_defect(a)));
        EXPECT_TRUE(std::isnan(orthogonality_defect(a)));
        EXPECT_TRUE(std::isnan(identity_distance(a)));
        EXPECT_TRUE(std::isnan(smallest_entry(a)));
        EXPECT_TRUE(std::isnan(spectral_norm(a)));
    }
}

}  // namespace
}  // namespace spectra::mixers
