#include "mixers/permutation.hpp"

#include "mixers/defects.hpp"
#include "mixers/draws.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace spectra::mixers {
namespace {

using testing::for_each_draw;
using testing::recipe_of;
using testing::rounding;
using testing::stream_of;

bool is_permutation_of_indices(Permutation p) {
    std::sort(p.begin(), p.end());
    for (std::size_t i = 0; i < p.size(); ++i)
        if (p[i] != static_cast<int>(i)) return false;
    return true;
}

TEST(PermutationMixture, DrawsAreBistochastic) {
    for (const int count : {1, 2, 6, 40}) {
        Recipe recipe = recipe_of(Family::permutation);
        recipe.permutations = count;
        for_each_draw(recipe, 10, [count](const Mixer& a, int n) {
            EXPECT_LE(row_sum_defect(a), rounding(count));
            EXPECT_LE(column_sum_defect(a), rounding(count));
            EXPECT_GE(smallest_entry(a), 0.0);
            EXPECT_NEAR(spectral_norm(a), 1.0, rounding(n + count));
        });
    }
}

TEST(PermutationMixture, OnePermutationIsTheIdentity) {
    Recipe recipe = recipe_of(Family::permutation);
    recipe.permutations = 1;
    for_each_draw(recipe, 3, [](const Mixer& a, int) { EXPECT_EQ(identity_distance(a), 0.0); });
}

TEST(PermutationMixture, ListBeginsInItsOrder) {
    random::Stream stream = stream_of(0);
    const auto list = permutation_list(4, 9, stream);
    ASSERT_EQ(list.size(), 9U);
    const std::vector<Permutation> begin{{0, 1, 2, 3}, {1, 0, 2, 3}, {0, 2, 1, 3}, {0, 1, 3, 2},
                                         {1, 2, 3, 0}, {2, 3, 0, 1}, {3, 0, 1, 2}};
    EXPECT_TRUE(std::equal(begin.begin(), begin.end(), list.begin()));
    for (std::size_t k = 7; k < 9; ++k) {
        EXPECT_TRUE(is_permutation_of_indices(list[k]));
        EXPECT_EQ(std::count(begin.begin(), begin.end(), list[k]), 0);
    }
}

TEST(PermutationMixture, ListIsDistinctWhereItCanBe) {
    const std::map<int, std::size_t> factorial{{1, 1}, {2, 2}, {3, 6}, {4, 24}, {5, 120}};
    for (const auto& [n, all] : factorial) {
        for (const int count : {1, 2, 3, 5, 6, 24, 119, 120, 300}) {
            random::Stream stream = stream_of(count, n);
            const auto list = permutation_list(n, count, stream);
            ASSERT_EQ(list.size(), static_cast<std::size_t>(count));
            EXPECT_TRUE(std::all_of(list.begin(), list.end(), is_permutation_of_indices));
            const std::set<Permutation> distinct(list.begin(), list.end());
            EXPECT_EQ(distinct.size(), std::min(all, static_cast<std::size_t>(count))) << n << ' ' << count;
        }
    }
    random::Stream stream = stream_of(0, 33);
    const auto list = permutation_list(33, 200, stream);
    EXPECT_EQ(std::set<Permutation>(list.begin(), list.end()).size(), 200U);
}

TEST(PermutationMixture, RandomPermutationsAreUniform) {
    // The one free place of 6 at n = 3 after the first five is forced; the repeats beyond n! are free.
    constexpr int repeats = 6000;
    random::Stream stream = stream_of(0);
    const auto list = permutation_list(3, 6 + repeats, stream);
    std::map<Permutation, int> count;
    for (std::size_t k = 6; k < list.size(); ++k) ++count[list[k]];
    ASSERT_EQ(count.size(), 6U);
    for (const auto& [p, times] : count) EXPECT_NEAR(times, repeats / 6.0, 5 * std::sqrt(repeats / 6.0));
}

TEST(PermutationMixture, MatrixMovesStreams) {
    const Eigen::Vector3d x(10, 20, 30);
    EXPECT_EQ(permutation_matrix({1, 2, 0}) * x, Eigen::Vector3d(20, 30, 10));
    const Eigen::VectorXd w = Eigen::VectorXd{{0.25, 0.75}};
    const Eigen::MatrixXd expected =
        0.25 * permutation_matrix({1, 2, 0}) + 0.75 * permutation_matrix({0, 2, 1});
    EXPECT_EQ(permutation_mixture({{1, 2, 0}, {0, 2, 1}}, w), expected);
}

TEST(PermutationMixture, SoftmaxIsSafe) {
    const Eigen::VectorXd huge = Eigen::VectorXd{{1e4, 1e4 + std::log(3.0), -1e4}};
    const Eigen::VectorXd w = softmax(huge);
    EXPECT_NEAR(w(0), 0.25, 1e-11);  // ln 3 is rounded to 1e4·ε
    EXPECT_NEAR(w(1), 0.75, 1e-11);
    EXPECT_EQ(w(2), 0.0);
}

}  // namespace
}  // namespace spectra::mixers
