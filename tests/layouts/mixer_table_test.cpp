#include "layouts/mixer_table.hpp"

#include "mixers/mixer.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::layouts {
namespace {

Mixer matrix(double a, double b, double c, double d) {
    Mixer m(2, 2);
    m << a, b, c, d;
    return m;
}

TEST(MixerTable, ByHand) {
    // Rows sum to 1.1 and 0.5, columns to 0.9 and 0.7.
    const auto table = tabulate(std::vector<Mixer>{matrix(0.8, 0.3, 0.1, 0.4)});
    ASSERT_EQ(table.layers.size(), 1U);
    const auto& row = table.layers[0];
    EXPECT_NEAR(row.row_sums(0), 1.1, 1e-15);
    EXPECT_NEAR(row.row_sums(1), 0.5, 1e-15);
    EXPECT_NEAR(row.column_sums(0), 0.9, 1e-15);
    EXPECT_NEAR(row.column_sums(1), 0.7, 1e-15);
    EXPECT_NEAR(table.row_sum_defect, 0.5, 1e-15);
    EXPECT_NEAR(table.column_sum_defect, 0.3, 1e-15);
    EXPECT_NEAR(row.identity_distance, 0.6, 1e-15);
    EXPECT_NEAR(row.smallest_entry, 0.1, 1e-15);
    EXPECT_EQ(row.diagonal_dominant_share, 1);
    // AᵀA = [0.65 0.28; 0.28 0.25]: eigenvalues 0.45 ± √(0.04 + 0.0784).
    EXPECT_NEAR(row.spectral_norm, std::sqrt(0.45 + std::sqrt(0.1184)), 1e-14);
    EXPECT_NEAR(row.orthogonality_defect, 0.75, 1e-15);
    ASSERT_EQ(table.composites.size(), 1U);
    EXPECT_NEAR(table.composites[0].column_sum_min, 0.7, 1e-15);
    EXPECT_NEAR(table.composites[0].column_sum_max, 0.9, 1e-15);
}

TEST(MixerTable, ProductsTakeTheFirstLayerFirst) {
    const auto first = matrix(1, 2, 3, 4), second = matrix(0, 1, 1, 1);
    const auto table = tabulate(std::vector<Mixer>{first, second});
    ASSERT_EQ(table.composites.size(), 2U);
    // second · first = [3 4; 4 6]; first · second would be [2 3; 4 7].
    EXPECT_EQ(table.composites[1].column_sum_min, 7);
    EXPECT_EQ(table.composites[1].column_sum_max, 10);
    EXPECT_EQ(table.smallest_entry, 0);
    EXPECT_EQ(table.spectral_norm_max,
              std::max(table.layers[0].spectral_norm, table.layers[1].spectral_norm));
}

TEST(MixerTable, GainsAreThoseOfTheSignalForwardsAndOfTheGradientBackwards) {
    const auto first = matrix(1, -2, 3, 4), second = matrix(0, 1, 1, 1);
    const auto table = tabulate(std::vector<Mixer>{first, second});
    // first: rows 3 and 7. second · first = [3 4; 4 2]: rows 7 and 6, columns 7 and 6. second: columns 1 and 2.
    EXPECT_EQ(table.composites[0].forward_gain, 7);
    EXPECT_EQ(table.composites[1].forward_gain, 7);
    EXPECT_EQ(table.composites[0].backward_gain, 7);
    EXPECT_EQ(table.composites[1].backward_gain, 2);
    EXPECT_EQ(table.forward_gain, 7);
    EXPECT_EQ(table.backward_gain, 7);
    // Not symmetric: [1 2; 0 0] has rows of 3 and 0, columns of 1 and 2.
    const auto one = tabulate(std::vector<Mixer>{matrix(1, 2, 0, 0)});
    EXPECT_EQ(one.forward_gain, 3);
    EXPECT_EQ(one.backward_gain, 2);
    EXPECT_TRUE(std::isnan(tabulate(std::vector<Mixer>{matrix(NAN, 2, 0, 0), matrix(1, 0, 0, 1)}).forward_gain));
}

TEST(MixerTable, TheDiagonalIsLargestByValue) {
    // −3 is larger than 1 in magnitude only; an equal entry beside it leaves the diagonal its place.
    EXPECT_EQ(tabulate(std::vector<Mixer>{matrix(1, -3, 2, 2)}).diagonal_dominant_share, 1);
    EXPECT_EQ(tabulate(std::vector<Mixer>{matrix(1, 1.5, 0, 1)}).diagonal_dominant_share, 0.5);
    EXPECT_EQ(tabulate(std::vector<Mixer>{matrix(0, 1, 1, 0), Mixer::Identity(2, 2)}).diagonal_dominant_share,
              0.5);
}

TEST(MixerTable, FamiliesKeepTheirPromiseAtAnyDepth) {
    mixers::Recipe recipe;
    recipe.family = mixers::Family::bistochastic;
    const auto balanced = tabulate(mixers::draw_layers(recipe, 4, 100, false, 1));
    EXPECT_LT(balanced.row_sum_defect, 1e-12);
    EXPECT_LT(balanced.column_sum_defect, 1e-12);
    EXPECT_NEAR(balanced.spectral_norm_max, 1, 1e-12);
    EXPECT_NEAR(balanced.composites.back().spectral_norm, 1, 1e-11);
    EXPECT_NEAR(balanced.composites.back().column_sum_min, 1, 1e-11);
    EXPECT_GE(balanced.smallest_entry, 0);
    recipe.family = mixers::Family::orthogonal;
    const auto turned = tabulate(mixers::draw_layers(recipe, 4, 100, false, 1));
    EXPECT_LT(turned.orthogonality_defect, 1e-13);
    EXPECT_NEAR(turned.composites.back().spectral_norm, 1, 1e-12);
}

TEST(MixerTable, NamesAndNaN) {
    Stack stack;
    stack.connections = {{"h.0.attn", Mixer::Identity(2, 2), {}, {}},
                         {"h.0.mlp", matrix(1, NAN, 0, 1), {}, {}},
                         {"h.1.attn", Mixer::Identity(2, 2), {}, {}}};
    const auto table = tabulate(stack);
    EXPECT_EQ(table.layers[1].name, "h.0.mlp");
    EXPECT_TRUE(std::isnan(table.row_sum_defect));
    EXPECT_TRUE(std::isnan(table.spectral_norm_max));
    EXPECT_TRUE(std::isnan(table.identity_distance));
    EXPECT_TRUE(std::isnan(table.smallest_entry));
    EXPECT_TRUE(std::isnan(table.composites.back().column_sum_max));
    EXPECT_EQ(table.composites.front().spectral_norm, 1);
}

}  // namespace
}  // namespace spectra::layouts
