#include "mixers/grassmann.hpp"

#include "mixers/defects.hpp"
#include "mixers/draws.hpp"

#include <cmath>

namespace spectra::mixers {
namespace {

using testing::for_each_draw;
using testing::recipe_of;
using testing::rounding;
using testing::sizes;
using testing::stream_of;

void expect_projection(const Eigen::MatrixXd& a, int rank) {
    const int n = static_cast<int>(a.rows());
    EXPECT_LE((a - a.transpose()).cwiseAbs().maxCoeff(), rounding(n));
    EXPECT_LE((a * a - a).cwiseAbs().maxCoeff(), rounding(n));
    const Eigen::VectorXd values = singular_values(a);
    for (int i = 0; i < n; ++i) EXPECT_NEAR(values(i), i < rank ? 1.0 : 0.0, rounding(n));
}

TEST(Grassmann, DrawsProjectOnHalfTheStreams) {
    for_each_draw(recipe_of(Family::grassmann), 10, [](const Mixer& a, int n) {
        expect_projection(a, (n + 1) / 2);
        EXPECT_NEAR(spectral_norm(a), 1.0, rounding(n));
    });
}

TEST(Grassmann, EveryRankCanBeDrawn) {
    for (const int n : sizes) {
        for (int rank = 0; rank <= n; ++rank) {
            random::Stream stream = stream_of(rank, n);
            const Eigen::MatrixXd a = draw_grassmann(n, rank, stream);
            ASSERT_EQ(a.rows(), n);
            expect_projection(a, rank);
        }
        Recipe recipe = recipe_of(Family::grassmann);
        recipe.rank = 0;
        random::Stream stream = stream_of(0, n);
        EXPECT_EQ(draw(recipe, n, stream).cwiseAbs().maxCoeff(), 0.0);
        recipe.rank = n;
        EXPECT_LE(identity_distance(draw(recipe, n, stream)), rounding(n));
    }
}

TEST(Grassmann, SubspaceIsUniform) {
    // E UUᵀ = (r/n) I.
    constexpr int draws = 2000;
    Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(3, 3);
    for (int draw_number = 0; draw_number < draws; ++draw_number) {
        random::Stream stream = stream_of(draw_number);
        mean += draw_grassmann(3, 1, stream) / draws;
    }
    // Entries are at most one: five standard errors are below 5/√draws.
    EXPECT_LE(identity_distance(3.0 * mean), 3 * 5 / std::sqrt(static_cast<double>(draws)));
}

TEST(Grassmann, ProjectorKeepsItsSpan) {
    const Eigen::MatrixXd g = Eigen::MatrixXd{{1, 2}, {0, 1}, {-1, 4}};
    EXPECT_LE((projector(g) * g - g).cwiseAbs().maxCoeff(), rounding(3) * g.norm());
}

}  // namespace
}  // namespace spectra::mixers
