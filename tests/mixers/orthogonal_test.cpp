#include "mixers/orthogonal.hpp"

#include "mixers/defects.hpp"
#include "mixers/draws.hpp"
#include "mixers/gaussian.hpp"

#include <Eigen/LU>

#include <cmath>
#include <map>

namespace spectra::mixers {
namespace {

using testing::for_each_draw;
using testing::recipe_of;
using testing::rounding;
using testing::sizes;
using testing::stream_of;

TEST(Orthogonal, DrawsAreOrthogonalWithBothDeterminants) {
    std::map<int, std::pair<int, int>> signs;  // size → (positive, negative)
    for_each_draw(recipe_of(Family::orthogonal), 100, [&](const Mixer& a, int n) {
        EXPECT_LE(orthogonality_defect(a), rounding(n));
        EXPECT_NEAR(spectral_norm(a), 1.0, rounding(n));
        const double determinant = a.determinant();
        EXPECT_NEAR(std::abs(determinant), 1.0, rounding(n));
        ++(determinant > 0 ? signs[n].first : signs[n].second);
    });
    for (const int n : sizes) {
        // Fair coins: fewer than 25 of 100 heads has probability 3e-7.
        EXPECT_GE(signs[n].first, 25) << n;
        EXPECT_GE(signs[n].second, 25) << n;
    }
}

TEST(Orthogonal, MomentsAreHaars) {
    constexpr int draws = 4000;
    for (const int n : {1, 2, 3, 5}) {
        Eigen::ArrayXXd mean = Eigen::ArrayXXd::Zero(n, n);
        Eigen::ArrayXXd square = mean;
        Eigen::ArrayXXd fourth = mean;
        double trace = 0;
        double trace_square = 0;
        for (int draw_number = 0; draw_number < draws; ++draw_number) {
            random::Stream stream = stream_of(draw_number, n);
            const Eigen::MatrixXd q = draw_orthogonal(n, stream);
            mean += q.array() / draws;
            square += q.array().square() / draws;
            fourth += q.array().pow(4) / draws;
            trace += q.trace() / draws;
            trace_square += q.trace() * q.trace() / draws;
        }
        // Entries are bounded by one, so five standard errors of a mean are below 5/√draws; the trace
        // has variance 1 and its square variance below 3.
        const double error = 5.0 / std::sqrt(static_cast<double>(draws));
        const double size = n;
        EXPECT_LE(mean.abs().maxCoeff(), error / std::sqrt(size)) << n;
        EXPECT_LE((square - 1.0 / size).abs().maxCoeff(), error) << n;
        EXPECT_LE((fourth - 3.0 / (size * (size + 2))).abs().maxCoeff(), error) << n;
        EXPECT_NEAR(trace, 0.0, error) << n;
        EXPECT_NEAR(trace_square, 1.0, 2 * error) << n;
    }
}

TEST(Orthogonal, FactorHasAPositiveTriangle) {
    for (const int n : sizes) {
        random::Stream stream = stream_of(0, n);
        const int columns = (n + 1) / 2;
        const Eigen::MatrixXd g = standard_normal(n, columns, stream);
        const Eigen::MatrixXd q = orthonormalise(g);
        ASSERT_EQ(q.rows(), n);
        ASSERT_EQ(q.cols(), columns);
        const Eigen::MatrixXd r = q.transpose() * g;
        EXPECT_GT(r.diagonal().minCoeff(), 0.0);
        const Eigen::MatrixXd lower = r.triangularView<Eigen::StrictlyLower>();
        EXPECT_LE(lower.cwiseAbs().maxCoeff(), rounding(n) * g.norm());
        EXPECT_LE((q * r - g).cwiseAbs().maxCoeff(), rounding(n) * g.norm());
    }
}

}  // namespace
}  // namespace spectra::mixers
