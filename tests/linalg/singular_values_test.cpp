#include "linalg/singular_values.hpp"

#include "base/special_values.hpp"
#include "random/stream.hpp"
#include "support/epsilon.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include <cmath>
#include <numbers>
#include <vector>

namespace {

using spectra::infinity;
using spectra::tests::epsilon;

Eigen::MatrixXd gaussian(int size) {
    spectra::random::Stream stream(1, spectra::random::Purpose::test, static_cast<std::uint32_t>(size));
    Eigen::MatrixXd out(size, size);
    for (int j = 0; j < size; ++j) {
        for (int i = 0; i < size; ++i) out(i, j) = stream.normal();
    }
    return out;
}

TEST(SingularValues, AgreeWithJacobi) {
    for (const int size : {1, 2, 3, 17, 40, 65}) {
        const auto matrix = gaussian(size);
        const Eigen::VectorXd reference =
            Eigen::JacobiSVD<Eigen::MatrixXd>(matrix).singularValues().reverse();
        spectra::linalg::SingularValues solver(size);
        for (const auto algorithm :
             {spectra::linalg::SingularValues::Algorithm::divide_and_conquer, spectra::linalg::SingularValues::Algorithm::qr}) {
            std::vector<double> values(static_cast<std::size_t>(size));
            ASSERT_TRUE(solver.compute(matrix, 0, values, algorithm));
            for (int k = 0; k < size; ++k) {
                EXPECT_NEAR(std::exp(values[static_cast<std::size_t>(k)]), reference[k],
                            10 * epsilon * size * reference[size - 1]);
            }
        }
    }
}

TEST(SingularValues, ExponentAddsInTheLog) {
    const auto matrix = gaussian(5);
    spectra::linalg::SingularValues solver(5);
    std::vector<double> plain(5);
    std::vector<double> shifted(5);
    ASSERT_TRUE(solver.compute(matrix, 0, plain));
    ASSERT_TRUE(solver.compute(matrix, -5000, shifted));
    for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_NEAR(shifted[k], plain[k] - 5000 * std::numbers::ln2, 4 * epsilon * 5000);
    }
}

TEST(SingularValues, ZerosAndWhatIsNotFinite) {
    spectra::linalg::SingularValues solver(3);
    std::vector<double> values(3);
    ASSERT_TRUE(solver.compute(Eigen::MatrixXd::Zero(3, 3), 7, values));
    EXPECT_EQ(values, std::vector<double>(3, -infinity));
    Eigen::MatrixXd broken = gaussian(3);
    broken(1, 2) = std::nan("");
    EXPECT_FALSE(solver.compute(broken, 0, values));
    broken(1, 2) = infinity;
    EXPECT_FALSE(solver.compute(broken, 0, values));
}

}  // namespace
