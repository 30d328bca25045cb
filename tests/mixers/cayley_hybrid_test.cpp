#include "mixers/cayley_hybrid.hpp"

#include "mixers/defects.hpp"
#include "mixers/draws.hpp"
#include "mixers/gaussian.hpp"
#include "mixers/householder.hpp"

#include <Eigen/LU>

#include <cmath>
#include <limits>

namespace spectra::mixers {
namespace {

using testing::for_each_draw;
using testing::recipe_of;
using testing::rounding;
using testing::sizes;
using testing::stream_of;

/// (I + M)⁻¹(I − M), M = (β/2)(uvᵀ − vuᵀ), as it is defined.
Eigen::MatrixXd dense_rotation(const Eigen::VectorXd& u, const Eigen::VectorXd& v, double beta) {
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(u.size(), u.size());
    const Eigen::MatrixXd m = 0.5 * beta * (u * v.transpose() - v * u.transpose());
    return (identity + m).inverse() * (identity - m);
}

TEST(CayleyHybrid, RotationEqualsItsDefinition) {
    for (const int n : sizes) {
        for (const double beta : {-2.0, 0.0, 0.3, 1.0, 5.0}) {
            random::Stream stream = stream_of(0, n);
            const Eigen::VectorXd u = standard_normal(n, 1, stream);
            const Eigen::VectorXd v = standard_normal(n, 1, stream);
            const Eigen::MatrixXd q = plane_rotation(u, v, beta);
            const double size = 1 + std::abs(beta) * u.norm() * v.norm();  // conditions I + M
            EXPECT_LE((q - dense_rotation(u, v, beta)).cwiseAbs().maxCoeff(), rounding(n) * size)
                << n << ' ' << beta;
            EXPECT_LE(orthogonality_defect(q), rounding(n));
            EXPECT_NEAR(q.determinant(), 1.0, rounding(n));
        }
    }
}

TEST(CayleyHybrid, RotationSurvivesDegenerateVectors) {
    for (const int n : {2, 3, 5, 16}) {
        random::Stream stream = stream_of(1, n);
        const Eigen::VectorXd u = standard_normal(n, 1, stream);
        const Eigen::VectorXd w = standard_normal(n, 1, stream);
        const Eigen::VectorXd zero = Eigen::VectorXd::Zero(n);
        EXPECT_EQ(identity_distance(plane_rotation(u, -3.0 * u, 1.0)), 0.0);
        EXPECT_EQ(identity_distance(plane_rotation(zero, w, 1.0)), 0.0);
        EXPECT_EQ(identity_distance(plane_rotation(u, zero, 1.0)), 0.0);
        EXPECT_EQ(identity_distance(plane_rotation(u, w, 0.0)), 0.0);
        for (const double closeness : {1e-4, 1e-8, 1e-12}) {
            const Eigen::VectorXd near = u + closeness * w;
            EXPECT_LE(orthogonality_defect(plane_rotation(u, near, 1e6 / closeness)), rounding(n));
        }
        for (const double beta : {1e100, -1e100, std::numeric_limits<double>::max()}) {
            const Eigen::MatrixXd q = plane_rotation(u, w, beta);  // half a turn
            EXPECT_LE(orthogonality_defect(q), rounding(n));
            EXPECT_NEAR(q.trace(), n - 4.0, rounding(n));
        }
    }
}

TEST(CayleyHybrid, IsOrthogonalAtTheEndsOfTheGateOnly) {
    for (const double beta : {0.5, 1.0}) {
        Recipe recipe = recipe_of(Family::cayley_hybrid);
        recipe.beta = beta;
        recipe.gate = 1.0;
        for_each_draw(recipe, 10, [](const Mixer& a, int n) {
            EXPECT_LE(orthogonality_defect(a), rounding(n));
            EXPECT_NEAR(a.determinant(), 1.0, rounding(n));
        });
        recipe.gate = 0.0;
        for_each_draw(recipe, 10, [](const Mixer& a, int n) {
            EXPECT_LE(orthogonality_defect(a), rounding(n));
            EXPECT_NEAR(a.determinant(), -1.0, rounding(n));
        });
        for (const double gate : {0.05, 0.5, 0.95}) {
            recipe.gate = gate;
            for_each_draw(recipe, 10, [gate](const Mixer& a, int n) {
                // QᵀH₂ has determinant −1, hence an eigenvalue −1: a singular value |2γ − 1|.
                EXPECT_GE(orthogonality_defect(a), 4 * gate * (1 - gate) / n - rounding(n));
                EXPECT_LE(spectral_norm(a), 1.0 + rounding(n));
            });
        }
    }
}

TEST(CayleyHybrid, IsTheGatedSum) {
    const int n = 6;
    random::Stream stream = stream_of(2, n);
    const Eigen::VectorXd u = standard_normal(n, 1, stream);
    const Eigen::VectorXd v = standard_normal(n, 1, stream);
    const Eigen::VectorXd k = 3.0 * unit_vector(n, stream);
    const Eigen::MatrixXd expected =
        0.7 * dense_rotation(u, v, 0.8) +
        0.3 * (Eigen::MatrixXd::Identity(n, n) - 2 * k * k.transpose() / k.squaredNorm());
    EXPECT_LE((cayley_hybrid(u, v, k, 0.8, 0.7) - expected).cwiseAbs().maxCoeff(), rounding(n, 64));
}

TEST(CayleyHybrid, OneStreamIsTheGateAlone) {
    random::Stream stream = stream_of(3);
    EXPECT_NEAR(draw(recipe_of(Family::cayley_hybrid), 1, stream)(0, 0), 0.95 - 0.05, rounding(1));
}

}  // namespace
}  // namespace spectra::mixers
