#include "mixers/gaussian.hpp"

#include "mixers/draws.hpp"

#include <cmath>

namespace spectra::mixers {
namespace {

using testing::rounding;
using testing::sizes;
using testing::stream_of;

TEST(Gaussian, EntriesHaveVarianceOneOverN) {
    for (const int n : sizes) {
        const int draws = 40000 / (n * n) + 1;
        double mean = 0;
        double square = 0;
        double count = 0;
        for (int draw_number = 0; draw_number < draws; ++draw_number) {
            random::Stream stream = stream_of(draw_number, n);
            const Eigen::MatrixXd a = draw_gaussian(n, stream);
            mean += a.sum();
            square += a.squaredNorm();
            count += static_cast<double>(a.size());
        }
        // Five standard errors.
        EXPECT_NEAR(mean / count * std::sqrt(n), 0.0, 5 / std::sqrt(count)) << n;
        EXPECT_NEAR(square / count * n, 1.0, 5 * std::sqrt(2 / count)) << n;
    }
}

TEST(Gaussian, EntriesComeDownTheColumns) {
    random::Stream a = stream_of(0);
    random::Stream b = stream_of(0);
    const Eigen::MatrixXd g = standard_normal(3, 2, a);
    for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 3; ++i) EXPECT_EQ(g(i, j), b.normal());
}

TEST(Gaussian, UnitVectorsAreUniform) {
    constexpr int draws = 4000;
    for (const int n : {1, 2, 4}) {
        Eigen::VectorXd mean = Eigen::VectorXd::Zero(n);
        Eigen::VectorXd square = mean;
        for (int draw_number = 0; draw_number < draws; ++draw_number) {
            random::Stream stream = stream_of(draw_number, n);
            const Eigen::VectorXd k = unit_vector(n, stream);
            EXPECT_NEAR(k.norm(), 1.0, rounding(n));
            mean += k / draws;
            square += k.cwiseAbs2() / draws;
        }
        const double error = 5 / std::sqrt(static_cast<double>(draws));
        EXPECT_LE(mean.cwiseAbs().maxCoeff(), error) << n;
        EXPECT_LE((square.array() - 1.0 / n).abs().maxCoeff(), error) << n;
    }
}

}  // namespace
}  // namespace spectra::mixers
