#include "mixers/cayley.hpp"

#include "mixers/defects.hpp"
#include "mixers/draws.hpp"
#include "mixers/gaussian.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace spectra::mixers {
namespace {

using testing::for_each_draw;
using testing::recipe_of;
using testing::rounding;
using testing::sizes;
using testing::stream_of;

Recipe exact_recipe(double step) {
    Recipe recipe = recipe_of(Family::cayley);
    recipe.cayley_iterations.reset();
    recipe.cayley_step = step;
    return recipe;
}

TEST(Cayley, ExactTransformIsARotation) {
    for (const double step : {0.1, 1.0, 100.0}) {
        for_each_draw(exact_recipe(step), 10, [](const Mixer& a, int n) {
            EXPECT_LE(orthogonality_defect(a), rounding(n));
            EXPECT_NEAR(spectral_norm(a), 1.0, rounding(n));
            EXPECT_NEAR(a.determinant(), 1.0, rounding(n, 64));
        });
    }
}

TEST(Cayley, ExactTransformExcludesTheEigenvalueMinusOne) {
    // I + Q = 2(I − S)⁻¹, so its smallest singular value is 2/√(1 + μ²), μ the largest of S.
    for (const int n : sizes) {
        for (const double scale : {0.1, 1.0, 10.0, 1000.0}) {
            random::Stream stream = stream_of(1, n);
            const Eigen::MatrixXd s = scale * draw_skew(n, stream);
            const Eigen::MatrixXd sum = Eigen::MatrixXd::Identity(n, n) + cayley_transform(s);
            const double mu = spectral_norm(s);
            const double smallest = singular_values(sum).minCoeff();
            EXPECT_GT(smallest, 0.0);
            EXPECT_NEAR(smallest, 2.0 / std::hypot(1.0, mu), rounding(n) * (1 + mu)) << n << ' ' << scale;
        }
    }
}

TEST(Cayley, ExactTransformInverts) {
    // S = (Q − I)(Q + I)⁻¹.
    for (const int n : sizes) {
        random::Stream stream = stream_of(2, n);
        const Eigen::MatrixXd s = draw_skew(n, stream);
        const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(n, n);
        const Eigen::MatrixXd q = cayley_transform(s);
        const Eigen::MatrixXd back = (q - identity) * (q + identity).inverse();
        EXPECT_LE((back - s).cwiseAbs().maxCoeff(), rounding(n) * (1 + s.squaredNorm()));
    }
}

TEST(Cayley, ExactTransformTurnsByTheArcTangent) {
    const Eigen::MatrixXd s = Eigen::MatrixXd{{0, -0.75}, {0.75, 0}};
    const double angle = 2 * std::atan(0.75);
    const Eigen::MatrixXd expected =
        Eigen::MatrixXd{{std::cos(angle), -std::sin(angle)}, {std::sin(angle), std::cos(angle)}};
    EXPECT_LE((cayley_transform(s) - expected).cwiseAbs().maxCoeff(), rounding(2));
}

TEST(Cayley, ExactTransformHoldsForLargeSkewsAndRefusesAbsurdOnes) {
    for (const int n : sizes) {
        random::Stream stream = stream_of(3, n);
        const Eigen::MatrixXd s = draw_skew(n, stream);
        for (const double scale : {1e4, 1e8, 1e9}) {
            EXPECT_LE(orthogonality_defect(cayley_transform(scale * s)), rounding(n)) << n << ' ' << scale;
        }
        if (n > 1) {
            EXPECT_THROW(cayley_transform(1e15 * s), std::invalid_argument);
        }
    }
    Eigen::MatrixXd broken = Eigen::MatrixXd::Zero(2, 2);
    broken(0, 1) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(cayley_transform(broken), std::invalid_argument);
}

TEST(Cayley, TwoIterationsFollowTheirSingularValueLaw) {
    // σ² = 1 − m⁴/4 + m⁶/16 at every eigenvalue iμ of W, m = αμ: contracting below m = 2, amplifying beyond.
    for (const int n : sizes) {
        for (const double step : {0.01, 0.1, 0.5, 2.0}) {
            random::Stream stream = stream_of(4, n);
            const Eigen::MatrixXd w = skew_part(standard_normal(n, n, stream));
            std::vector<double> expected;
            for (const double mu : singular_values(w)) {
                const double m2 = step * step * mu * mu;
                expected.push_back(std::sqrt(1 - m2 * m2 / 4 + m2 * m2 * m2 / 16));
            }
            std::sort(expected.rbegin(), expected.rend());
            const Eigen::VectorXd sigma = singular_values(cayley_iteration(w, step, 2));
            for (int i = 0; i < n; ++i) {
                // Accurate to the norm of the matrix; the smallest loses its relative digits.
                EXPECT_NEAR(sigma(i), expected[static_cast<std::size_t>(i)], rounding(n, 64) * sigma(0))
                    << n << ' ' << step;
            }
            double largest_defect = 0;
            for (const double value : expected)
                largest_defect = std::max(largest_defect, std::abs(value * value - 1));
            // Largest entry of a symmetric matrix against its norm.
            const double defect = orthogonality_defect(cayley_iteration(w, step, 2));
            EXPECT_LE(defect, largest_defect + rounding(n) * sigma(0) * sigma(0));
            EXPECT_GE(defect, largest_defect / n - rounding(n) * sigma(0) * sigma(0));
        }
    }
}

TEST(Cayley, MedianDeviationGrowsWithTheLogits) {
    // α = 0.1, n = 4, two steps: medians of ‖YᵀY − I‖ (largest singular value) for four logit scales.
    const std::vector<std::pair<double, double>> published{
        {0.1, 2e-7}, {0.5, 1e-4}, {1.0, 2e-3}, {2.0, 3e-2}};
    for (const auto& [scale, median] : published) {
        Recipe recipe = recipe_of(Family::cayley);
        recipe.logit_scale = scale;
        std::vector<double> deviation;
        for (int draw_number = 0; draw_number < 401; ++draw_number) {
            random::Stream stream = stream_of(draw_number);
            const Mixer y = draw(recipe, 4, stream);
            deviation.push_back(spectral_norm(y.transpose() * y - Mixer::Identity(4, 4)));
        }
        std::nth_element(deviation.begin(), deviation.begin() + 200, deviation.end());
        EXPECT_GT(deviation[200], median / 2) << scale;
        EXPECT_LT(deviation[200], median * 2) << scale;
    }
}

TEST(Cayley, IterationsConvergeToTheExactTransform) {
    for (const int n : sizes) {
        random::Stream stream = stream_of(5, n);
        const Eigen::MatrixXd w = skew_part(standard_normal(n, n, stream));
        const double step = 1.0 / std::max(1.0, spectral_norm(w));  // α‖W‖/2 ≤ ½: a bit a step
        const Eigen::MatrixXd exact = cayley_transform(0.5 * step * w);
        EXPECT_LE((cayley_iteration(w, step, 60) - exact).cwiseAbs().maxCoeff(), rounding(n));
    }
}

TEST(Cayley, IterationIsAsWritten) {
    const Eigen::MatrixXd w = Eigen::MatrixXd{{0, 2}, {-2, 0}};
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(2, 2);
    const Eigen::MatrixXd first = identity + 0.25 * w * (identity + (identity + 0.5 * w));
    EXPECT_LE((cayley_iteration(w, 0.5, 1) - first).cwiseAbs().maxCoeff(), rounding(2));
}

TEST(Cayley, SkewEntriesHaveTheirVariance) {
    double square_of_skew = 0;
    double square_of_part = 0;
    constexpr int draws = 4000;
    for (int draw_number = 0; draw_number < draws; ++draw_number) {
        random::Stream stream = stream_of(draw_number);
        const Eigen::MatrixXd s = draw_skew(3, stream);
        EXPECT_EQ((s + s.transpose()).cwiseAbs().maxCoeff(), 0.0);
        square_of_skew += s(0, 2) * s(0, 2) / draws;
        const Eigen::MatrixXd w = skew_part(standard_normal(3, 3, stream));
        EXPECT_EQ((w + w.transpose()).cwiseAbs().maxCoeff(), 0.0);
        square_of_part += w(1, 2) * w(1, 2) / draws;
    }
    // Five standard errors of the mean of a squared normal, variance 2v².
    const double error = 5 * std::sqrt(2.0 / draws);
    EXPECT_NEAR(square_of_skew, 1.0, error);
    EXPECT_NEAR(square_of_part, 2.0, 2 * error);
}

}  // namespace
}  // namespace spectra::mixers
