#include "mixers/sinkhorn.hpp"

#include "mixers/defects.hpp"
#include "mixers/draws.hpp"
#include "mixers/gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace spectra::mixers {
namespace {

using testing::for_each_draw;
using testing::recipe_of;
using testing::rounding;
using testing::sizes;
using testing::stream_of;

constexpr double tolerance = 1e-13;

/// Sweeps as the textbook writes them: divide every row by its sum, then every column.
Eigen::MatrixXd plain_sinkhorn(const Eigen::MatrixXd& logits, int sweeps) {
    Eigen::MatrixXd p = logits.array().exp();
    for (int t = 0; t < sweeps; ++t) {
        for (Eigen::Index i = 0; i < p.rows(); ++i) p.row(i) /= p.row(i).sum();
        for (Eigen::Index j = 0; j < p.cols(); ++j) p.col(j) /= p.col(j).sum();
    }
    return p;
}

Eigen::MatrixXd logits_of(int n, double scale, int draw) {
    random::Stream stream = stream_of(draw, n);
    return scale * standard_normal(n, n, stream);
}

TEST(Sinkhorn, DrawsAreBistochasticWithSpectralNormOne) {
    for_each_draw(recipe_of(Family::bistochastic), 20, [](const Mixer& a, int n) {
        EXPECT_LE(row_sum_defect(a), tolerance);
        EXPECT_LE(column_sum_defect(a), tolerance);
        EXPECT_GE(smallest_entry(a), 0.0);
        // ‖A‖ ≤ √(‖A‖₁‖A‖_∞), reached at the constant vector.
        EXPECT_NEAR(spectral_norm(a), 1.0, tolerance + rounding(n));
    });
}

TEST(Sinkhorn, IsClosedUnderProducts) {
    for (const int n : sizes) {
        for (int draw_number = 0; draw_number < 5; ++draw_number) {
            Mixer product = Mixer::Identity(n, n);
            const auto layers = draw_layers(recipe_of(Family::bistochastic), n, 10, false,
                                            static_cast<std::uint64_t>(draw_number));
            for (const Mixer& a : layers) product = a * product;
            EXPECT_LE(row_sum_defect(product), 10 * (tolerance + rounding(n)));
            EXPECT_LE(column_sum_defect(product), 10 * (tolerance + rounding(n)));
            EXPECT_GE(smallest_entry(product), 0.0);
            EXPECT_NEAR(spectral_norm(product), 1.0, 10 * (tolerance + rounding(n)));
        }
    }
}

TEST(Sinkhorn, SweepsEqualThePlainReference) {
    for (const int n : sizes) {
        for (const int sweeps : {1, 2, 20}) {
            const Eigen::MatrixXd logits = logits_of(n, 2.0, sweeps);
            const Eigen::MatrixXd expected = plain_sinkhorn(logits, sweeps);
            const Eigen::MatrixXd p = sinkhorn_sweeps(logits, sweeps);
            // Each sweep rounds ln P, of order ten here, twice.
            const double bound = rounding(n, 4.0 * 10 * sweeps);
            EXPECT_LE(((p - expected).array() / expected.array()).abs().maxCoeff(), bound)
                << n << ' ' << sweeps;
        }
    }
}

TEST(Sinkhorn, SweepsLeaveTheirDefectInTheRows) {
    // Logits of standard deviation 6 after 20 sweeps: off by 1 % in the median, up to about 10 %.
    std::vector<double> defects;
    for (int draw_number = 0; draw_number < 400; ++draw_number) {
        const Eigen::MatrixXd p = sinkhorn_sweeps(logits_of(4, 6.0, draw_number), 20);
        EXPECT_LE(column_sum_defect(p), rounding(4));
        defects.push_back(row_sum_defect(p));
    }
    std::sort(defects.begin(), defects.end());
    EXPECT_GT(defects[200], 0.002);
    EXPECT_LT(defects[200], 0.03);
    EXPECT_GT(defects[396], 0.03);
    EXPECT_LT(defects[396], 0.3);
}

TEST(Sinkhorn, ToToleranceIsTheLimitOfPlainSweeps) {
    for (const int n : {1, 2, 3, 4, 5, 8}) {
        const Eigen::MatrixXd logits = logits_of(n, 1.5, 3);
        const Eigen::MatrixXd limit = plain_sinkhorn(logits, 3000);
        EXPECT_LE((sinkhorn(logits) - limit).cwiseAbs().maxCoeff(), 1e-11) << n;
    }
}

TEST(Sinkhorn, NewtonAndStagesDoNotMoveTheLimit) {
    // P = D₁ exp(Z) D₂ keeps every cross ratio of exp(Z), whatever the way there.
    for (const double scale : {1.0, 6.0, 30.0, 300.0}) {
        for (int draw_number = 0; draw_number < 10; ++draw_number) {
            const int n = 5;
            const Eigen::MatrixXd z = logits_of(n, scale, draw_number);
            const Eigen::MatrixXd p = sinkhorn(z);
            int compared = 0;
            for (int i = 0; i < n; ++i) {
                for (int j = 0; j < n; ++j) {
                    const int k = (i + 1) % n;
                    const int l = (j + 2) % n;
                    if (std::min({p(i, j), p(k, l), p(i, l), p(k, j)}) < 1e-290) continue;  // subnormal
                    const double ratio =
                        std::log(p(i, j)) + std::log(p(k, l)) - std::log(p(i, l)) - std::log(p(k, j));
                    EXPECT_NEAR(ratio, z(i, j) + z(k, l) - z(i, l) - z(k, j), 1e-11 * std::max(1.0, scale));
                    ++compared;
                }
            }
            if (scale < 300) {
                EXPECT_EQ(compared, n * n);
            }
        }
    }
}

TEST(Sinkhorn, BalancesLogitsOfAnySize) {
    for (const double scale : {0.0, 6.0, 30.0, 100.0, 1e3, 1e6}) {
        for (const int n : {1, 2, 3, 4, 8, 16}) {
            for (int draw_number = 0; draw_number < 3; ++draw_number) {
                const Eigen::MatrixXd p = sinkhorn(logits_of(n, scale, draw_number));
                EXPECT_LE(row_sum_defect(p), tolerance) << scale << ' ' << n;
                EXPECT_LE(column_sum_defect(p), tolerance) << scale << ' ' << n;
                EXPECT_GE(smallest_entry(p), 0.0);
            }
        }
    }
}

TEST(Sinkhorn, BalancesAnIdentityLikeStart) {
    // Off-diagonal logits −8 with a perturbation: σ₂² = 0.997, where sweeps alone take thousands.
    Eigen::MatrixXd logits = Eigen::MatrixXd::Constant(4, 4, -8.0);
    logits.diagonal().setZero();
    logits += logits_of(4, 1.0, 0);
    SinkhornOptions options;
    options.max_sweeps = 60;
    const Eigen::MatrixXd p = sinkhorn(logits, options);
    EXPECT_LE(row_sum_defect(p), tolerance);
    EXPECT_LE(column_sum_defect(p), tolerance);
    EXPECT_GT(row_sum_defect(sinkhorn_sweeps(logits, 60)), 1e-6);
}

TEST(Sinkhorn, TwoStreamsHaveAClosedForm) {
    // P = [[a, 1−a], [1−a, a]] with a/(1−a) = exp((z₁₁ + z₂₂ − z₁₂ − z₂₁)/2).
    for (int draw_number = 0; draw_number < 20; ++draw_number) {
        const Eigen::MatrixXd z = logits_of(2, 3.0, draw_number);
        const double a = 1.0 / (1.0 + std::exp(0.5 * (z(0, 1) + z(1, 0) - z(0, 0) - z(1, 1))));
        const Eigen::MatrixXd p = sinkhorn(z);
        EXPECT_NEAR(p(0, 0), a, tolerance);
        EXPECT_NEAR(p(0, 1), 1 - a, tolerance);
    }
}

TEST(Sinkhorn, RefusesWhatItCannotBalance) {
    SinkhornOptions two_sweeps;
    two_sweeps.max_sweeps = 2;
    EXPECT_THROW(sinkhorn(logits_of(4, 3.0, 0), two_sweeps), std::runtime_error);
    two_sweeps.max_sweeps = 0;
    EXPECT_THROW(sinkhorn(logits_of(4, 3.0, 0), two_sweeps), std::runtime_error);

    Eigen::MatrixXd broken = Eigen::MatrixXd::Zero(3, 3);
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1.7e308}) {
        broken(1, 2) = bad;
        EXPECT_THROW(sinkhorn(broken), std::invalid_argument);
        EXPECT_THROW(sinkhorn_sweeps(broken, 3), std::invalid_argument);
    }
}

}  // namespace
}  // namespace spectra::mixers
