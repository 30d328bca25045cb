#include "mixers/spectral_sphere.hpp"

#include "mixers/cayley.hpp"
#include "mixers/defects.hpp"
#include "mixers/draws.hpp"

#include <algorithm>
#include <vector>

namespace spectra::mixers {
namespace {

using testing::for_each_draw;
using testing::recipe_of;
using testing::rounding;
using testing::sizes;
using testing::stream_of;

TEST(SpectralSphere, HelmertBasisSpansTheComplementOfTheConstant) {
    for (const int n : sizes) {
        const Eigen::MatrixXd z = helmert_basis(n);
        ASSERT_EQ(z.rows(), n);
        ASSERT_EQ(z.cols(), n - 1);
        const Eigen::MatrixXd projector =
            z * z.transpose() + Eigen::MatrixXd::Constant(n, n, 1.0 / n);  // must be complete
        EXPECT_LE(identity_distance(projector), rounding(n));
        if (n > 1) {
            EXPECT_LE(orthogonality_defect(z.transpose() * z), rounding(n));
            EXPECT_LE(z.colwise().sum().cwiseAbs().maxCoeff(), rounding(n));
        }
    }
}

TEST(SpectralSphere, DrawsHaveUnitSumsAndSpectralNormOne) {
    int negative = 0;
    for_each_draw(recipe_of(Family::spectral_sphere), 20, [&](const Mixer& a, int n) {
        EXPECT_LE(row_sum_defect(a), rounding(n));
        EXPECT_LE(column_sum_defect(a), rounding(n));
        EXPECT_NEAR(spectral_norm(a), 1.0, rounding(n));
        negative += smallest_entry(a) < 0 ? 1 : 0;
    });
    EXPECT_GT(negative, 0) << "a sphere wider than the Birkhoff polytope";
}

TEST(SpectralSphere, IsClosedUnderProducts) {
    for (const int n : sizes) {
        Mixer product = Mixer::Identity(n, n);
        for (const Mixer& a : draw_layers(recipe_of(Family::spectral_sphere), n, 20, false, 5)) {
            product = a * product;
            EXPECT_LE(row_sum_defect(product), rounding(n, 20 * 16));
            EXPECT_LE(column_sum_defect(product), rounding(n, 20 * 16));
            EXPECT_NEAR(spectral_norm(product), 1.0, rounding(n, 20 * 16));
        }
    }
}

TEST(SpectralSphere, HasTheSingularValuesItIsGiven) {
    for (const int n : sizes) {
        random::Stream stream = stream_of(0, n);
        const Eigen::MatrixXd u = cayley_transform(draw_skew(n - 1, stream));
        const Eigen::MatrixXd v = cayley_transform(draw_skew(n - 1, stream));
        Eigen::VectorXd sigma(n - 1);
        std::vector<double> expected{1.0};
        for (int i = 0; i + 1 < n; ++i) {
            sigma(i) = (i % 2 == 0 ? 1.0 : -1.0) * (i + 0.5) / n;
            expected.push_back((i + 0.5) / n);
        }
        std::sort(expected.rbegin(), expected.rend());
        const Eigen::VectorXd found = singular_values(spectral_sphere(u, sigma, v));
        for (int i = 0; i < n; ++i) EXPECT_NEAR(found(i), expected[static_cast<std::size_t>(i)], rounding(n));
    }
}

TEST(SpectralSphere, ItsStartIsTheIdentity) {
    const Eigen::MatrixXd core = cayley_transform(Eigen::MatrixXd::Zero(3, 3));
    EXPECT_LE(identity_distance(spectral_sphere(core, Eigen::VectorXd::Ones(3), core)), rounding(4));
}

}  // namespace
}  // namespace spectra::mixers
