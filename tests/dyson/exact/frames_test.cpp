#include "dyson/exact/frames.hpp"

#include "dyson/exact/mixer_values.hpp"
#include "mixers/mixer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace spectra::dyson {
namespace {

std::vector<Eigen::MatrixXd> draw(mixers::Family family, int n, int depth) {
    mixers::Recipe recipe;
    recipe.family = family;
    const auto layers = mixers::draw_layers(recipe, n, depth, false, 1);
    return {layers.begin(), layers.end()};
}

const std::vector<double> no_floor(1000, -690.0);

TEST(Frames, AreAnExactChangeOfBasisThatMakesMixersTriangular) {
    for (const auto family : {mixers::Family::bistochastic, mixers::Family::gaussian,
                              mixers::Family::spectral_sphere, mixers::Family::grassmann}) {
        const auto layers = draw(family, 4, 40);
        const Frames frames = follow_streams(layers, no_floor);
        ASSERT_TRUE(frames.graded) << mixers::name(family);
        for (std::size_t l = 0; l < layers.size(); ++l) {
            const Eigen::MatrixXd before = frames.adjoint[l].transpose();
            const Eigen::MatrixXd after = frames.adjoint[l + 1].transpose();
            EXPECT_LT((frames.inverse[l] * before - Eigen::MatrixXd::Identity(4, 4)).norm(), 1e-10);
            EXPECT_LT((layers[l] * before - after * frames.mixers[l]).norm(), 1e-12 * before.norm());
            EXPECT_EQ(Eigen::MatrixXd(frames.mixers[l].triangularView<Eigen::StrictlyLower>()).norm(), 0);
            EXPECT_LT(before.cwiseAbs().maxCoeff(), 50);
        }
    }
}

TEST(Frames, SeparatedDirectionsAreLeftUncoupled) {
    const auto layers = draw(mixers::Family::bistochastic, 4, 60);
    const Frames frames = follow_streams(layers, no_floor);
    int diagonal = 0;
    for (const auto& mixer : frames.mixers) diagonal += mixer.isDiagonal(0) ? 1 : 0;
    EXPECT_GE(diagonal, 50);
    // The growth of direction i is ln of the i-th singular value of the product, up to angles.
    const auto exact = log_singular_values_of_product(std::vector<Mixer>(layers.begin(), layers.end()));
    for (Eigen::Index i = 0; i < 4; ++i)
        EXPECT_NEAR(growth_of(frames.log_diagonal, no_floor).back()(i), exact[static_cast<std::size_t>(i)], 6);
}

TEST(Frames, AreNotUsedWhereNothingSeparates) {
    EXPECT_FALSE(follow_streams(draw(mixers::Family::orthogonal, 4, 200), no_floor).graded);
    EXPECT_FALSE(follow_streams(draw(mixers::Family::bistochastic, 4, 2), no_floor).graded);
}

}  // namespace
}  // namespace spectra::dyson
