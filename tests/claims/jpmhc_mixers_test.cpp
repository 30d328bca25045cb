#include "claims/jpmhc_mixers.hpp"

#include "mixers/permutation.hpp"

#include <gtest/gtest.h>

namespace spectra::claims::jpmhc {
namespace {

TEST(SpectralGap, IsThatOfWalksKnownByHand) {
    // All elements at once: one step is uniform. Transpositions alone alternate between even and odd.
    EXPECT_NEAR(spectral_gap(mixers::all_permutations(3), 3), 1, 1e-12);
    EXPECT_NEAR(spectral_gap({{1, 0, 2}, {0, 2, 1}}, 3), 0, 1e-12);
    EXPECT_EQ(spectral_gap({{0, 1, 2}, {1, 0, 2}}, 3), 0) << "does not generate the group";
    // S₂ with the identity and the transposition: T has the eigenvalues 1 and 0.
    EXPECT_NEAR(spectral_gap({{0, 1}, {1, 0}}, 2), 1, 1e-12);
}

TEST(Closure, CountsTheGroup) {
    EXPECT_EQ(closure_size({{0, 1, 2, 3}}), 1);
    EXPECT_EQ(closure_size({{1, 2, 3, 0}}), 4);
    EXPECT_EQ(closure_size({{1, 0, 2, 3}, {1, 2, 3, 0}}), 24);
    EXPECT_EQ(closure_size({{1, 2, 0, 3}, {0, 2, 3, 1}}), 12) << "even permutations";
}

}  // namespace
}  // namespace spectra::claims::jpmhc
