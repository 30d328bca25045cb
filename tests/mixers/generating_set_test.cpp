#include "mixers/generating_set.hpp"

#include <Eigen/Eigenvalues>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace spectra::mixers {
namespace {

using Eigen::MatrixXd;
using Group = std::vector<Permutation>;

Permutation product(const Permutation& g, const Permutation& h) {
    Permutation gh(g.size());
    for (std::size_t i = 0; i < g.size(); ++i) gh[i] = g[static_cast<std::size_t>(h[i])];
    return gh;
}

std::size_t place(const Group& group, const Permutation& p) {
    return static_cast<std::size_t>(std::find(group.begin(), group.end(), p) - group.begin());
}

/// The walk's n!×n! matrix as the paper's algorithm 5 fills it, and all its eigenvalues.
double gap_of_the_walk(const Group& group, const std::vector<int>& set) {
    const auto size = static_cast<Eigen::Index>(group.size());
    MatrixXd walk = MatrixXd::Zero(size, size);
    for (std::size_t g = 0; g < group.size(); ++g)
        for (const int s : set)
            walk(static_cast<Eigen::Index>(g),
                 static_cast<Eigen::Index>(
                     place(group, product(group[g], group[static_cast<std::size_t>(s)])))) +=
                1.0 / static_cast<double>(set.size());
    const Eigen::VectorXcd values = Eigen::EigenSolver<MatrixXd>(walk, false).eigenvalues();
    std::vector<double> moduli;
    for (const auto& value : values) moduli.push_back(std::abs(value));
    std::sort(moduli.rbegin(), moduli.rend());
    return moduli[0] - moduli[1];
}

/// Calls visit with every ascending set of K numbers below `size`.
template <class Visit>
void each_set(int size, int count, const Visit& visit) {
    std::vector<int> set(static_cast<std::size_t>(count));
    std::iota(set.begin(), set.end(), 0);
    while (true) {
        visit(set);
        int k = count - 1;
        while (k >= 0 && set[static_cast<std::size_t>(k)] == size - count + k) --k;
        if (k < 0) return;
        std::iota(set.begin() + k, set.end(), set[static_cast<std::size_t>(k)] + 1);
    }
}

/// Classes of K-sets under conjugation by Burnside's lemma: the mean over g of the sets that g x g⁻¹ maps to themselves,
/// which are unions of cycles of x → g x g⁻¹.
double classes_by_burnside(const Group& group, int count) {
    double sum = 0;
    for (const auto& g : group) {
        Permutation inverse(g.size());
        for (std::size_t i = 0; i < g.size(); ++i)
            inverse[static_cast<std::size_t>(g[i])] = static_cast<int>(i);
        std::vector<bool> seen(group.size(), false);
        std::vector<double> ways(static_cast<std::size_t>(count) + 1,
                                 0.0);  // coefficients of Π (1 + z^length)
        ways[0] = 1;
        for (std::size_t x = 0; x < group.size(); ++x) {
            std::size_t length = 0;
            for (auto y = x; !seen[y]; y = place(group, product(product(g, group[y]), inverse))) {
                seen[y] = true;
                ++length;
            }
            if (length == 0) continue;
            for (std::size_t k = ways.size(); k-- > length;) ways[k] += ways[k - length];
        }
        sum += ways.back();
    }
    return sum / static_cast<double>(group.size());
}

// Homomorphisms to orthogonal matrices, none equivalent to another, and all of them: characters are orthonormal and
// squared dimensions add up to n! with the trivial one.
TEST(Irreducibles, AreAllRepresentationsOfTheGroup) {
    for (const int n : {2, 3, 4, 5}) {
        const Irreducibles all(n);
        const auto& group = all.permutations();
        double squares = 1;
        std::vector<Eigen::VectorXd> characters;
        for (std::size_t r = 0; r < all.count(); ++r) {
            const auto d = all.matrix(r, 0).rows();
            squares += static_cast<double>(d * d);
            auto& character = characters.emplace_back(static_cast<Eigen::Index>(group.size()));
            for (std::size_t k = 0; k < group.size(); ++k) {
                const auto& m = all.matrix(r, k);
                character(static_cast<Eigen::Index>(k)) = m.trace();
                EXPECT_LT((m * m.transpose() - MatrixXd::Identity(d, d)).norm(), 1e-13);
                const auto other = (7 * k + 3) % group.size();
                const auto both = place(group, product(group[k], group[other]));
                EXPECT_LT((m * all.matrix(r, other) - all.matrix(r, both)).norm(), 1e-13);
            }
        }
        EXPECT_EQ(squares, static_cast<double>(group.size()));
        for (std::size_t r = 0; r < characters.size(); ++r) {
            EXPECT_NEAR(characters[r].sum(), 0, 1e-10);
            for (std::size_t s = 0; s <= r; ++s)
                EXPECT_NEAR(characters[r].dot(characters[s]) / static_cast<double>(group.size()),
                            r == s ? 1 : 0, 1e-12);
        }
    }
}

TEST(Irreducibles, HaveTheGapOfTheWalk) {
    for (const int n : {3, 4, 5}) {
        const Irreducibles all(n);
        const auto size = static_cast<int>(all.permutations().size());
        const int trials = n == 5 ? 3 : 20;
        for (int trial = 0; trial < trials; ++trial) {
            std::vector<int> set;
            for (int k = 0; k < 4; ++k) {
                const int element = (trial * 17 + k * k * 5 + k * 11 + 1) % size;
                if (std::find(set.begin(), set.end(), element) == set.end()) set.push_back(element);
            }
            // Both have rounding of √ε where |λ₂| belongs to a defective eigenvalue.
            EXPECT_NEAR(all.gap(set), gap_of_the_walk(all.permutations(), set), 1e-7)
                << "n = " << n << ", " << trial;
        }
    }
    const Irreducibles all(3);
    EXPECT_EQ(all.gap({0}), 0);                          // the identity goes nowhere
    EXPECT_NEAR(all.gap({1, 2, 5}), 0, 1e-14);           // transpositions generate S₃, with period 2
    EXPECT_NEAR(all.gap({0, 1, 2, 3, 4, 5}), 1, 1e-14);  // one step is uniform
}

// All sets, one after the other, with the walk's own matrix.
TEST(LargestGap, IsThatOfAllSets) {
    for (const auto& [n, count] : {std::pair{2, 2}, {3, 1}, {3, 2}, {3, 4}, {4, 2}, {4, 3}}) {
        const auto group = all_permutations(n);
        double best = 0, sets = 0;
        each_set(static_cast<int>(group.size()), count, [&](const std::vector<int>& set) {
            best = std::max(best, gap_of_the_walk(group, set));
            ++sets;
        });
        const auto found = largest_gap(n, count);
        EXPECT_NEAR(found.gap, best, 1e-7) << "n = " << n << ", K = " << count;
        EXPECT_EQ(found.sets, sets);
        ASSERT_EQ(found.permutations.size(), static_cast<std::size_t>(count));
        std::vector<int> set;
        for (const auto& p : found.permutations) set.push_back(static_cast<int>(place(group, p)));
        EXPECT_NEAR(gap_of_the_walk(group, set), best, 1e-7);
        EXPECT_GE(found.best_classes, 1);
    }
}

TEST(LargestGap, TriesOneSetPerClass) {
    for (const auto& [n, count] : {std::pair{3, 1}, {3, 4}, {4, 3}, {4, 4}, {4, 5}, {5, 2}, {5, 3}})
        EXPECT_EQ(static_cast<double>(largest_gap(n, count).classes),
                  classes_by_burnside(all_permutations(n), count))
            << "n = " << n << ", K = " << count;
}

// The sizes of the paper's table 7. Values without a source: they are this search's, the second also by all 10,626 walks
// (spectra reproduce C45).
TEST(LargestGap, OfFourPermutationsUpToFiveStreams) {
    const std::map<int, double> sets{{3, 15}, {4, 10'626}, {5, 8'214'570}};
    for (const auto& [n, count] : sets) {
        const auto found = largest_gap(n, 4);
        EXPECT_EQ(found.sets, count);
        EXPECT_EQ(static_cast<double>(found.classes), classes_by_burnside(all_permutations(n), 4));
        if (n < 5) continue;
        const auto group = all_permutations(n);
        std::vector<int> set;
        for (const auto& p : found.permutations) set.push_back(static_cast<int>(place(group, p)));
        EXPECT_NEAR(gap_of_the_walk(group, set), found.gap, 1e-7);
    }
}

TEST(LargestGap, RefusesWhatItCannotSearch) {
    for (const auto& [n, count] : {std::pair{1, 1}, {8, 2}, {3, 0}, {3, 7}, {5, 5}, {6, 4}, {7, 2}})
        EXPECT_THROW(largest_gap(n, count), std::invalid_argument) << n << ' ' << count;
}

TEST(PermutationMixture, PublishedListIsThatOfThePaper) {
    const auto list = published_permutations(4, 6);
    const Group begin{{0, 1, 2, 3}, {1, 0, 2, 3}, {0, 1, 3, 2}, {1, 2, 3, 0}, {3, 0, 1, 2}};
    ASSERT_EQ(list.size(), 6U);
    EXPECT_TRUE(std::equal(begin.begin(), begin.end(), list.begin()));
    EXPECT_EQ(std::count(begin.begin(), begin.end(), list[5]), 0);
    EXPECT_EQ(published_permutations(4, 6), list);
    auto all = published_permutations(4, 24);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, all_permutations(4));
    EXPECT_EQ(published_permutations(2, 2), all_permutations(2));
}

}  // namespace
}  // namespace spectra::mixers
