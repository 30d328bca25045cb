#include "tasks/pass_at_k.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <stdexcept>

namespace spectra::tasks {
namespace {

/// The share of all sets of k among n samples, of which the first `right` are right, that hold a right one.
double by_enumeration(int n, int right, int k) {
    int sets = 0, passed = 0;
    for (unsigned set = 0; set < (1U << n); ++set) {
        if (std::popcount(set) != k) continue;
        ++sets;
        if ((set & ((1U << right) - 1)) != 0) ++passed;
    }
    return static_cast<double>(passed) / sets;
}

TEST(PassAtK, CountsTheSetsWithARightSample) {
    for (const int n : {1, 2, 5, 10})
        for (int right = 0; right <= n; ++right)
            for (int k = 1; k <= n; ++k)
                EXPECT_NEAR(pass_at_k(n, right, k), by_enumeration(n, right, k), 1e-14)
                    << n << " " << right << " " << k;
}

TEST(PassAtK, DoesNotOverflow) {
    EXPECT_NEAR(pass_at_k(100'000, 1, 50'000), 0.5, 1e-12);
    EXPECT_EQ(pass_at_k(100'000, 50'001, 50'000), 1);
}

TEST(PassAtK, RefusesWhatHasNoMeaning) {
    EXPECT_THROW(pass_at_k(3, 1, 4), std::invalid_argument);
    EXPECT_THROW(pass_at_k(3, 4, 1), std::invalid_argument);
    EXPECT_THROW(pass_at_k(3, -1, 1), std::invalid_argument);
    EXPECT_THROW(pass_at_k(3, 1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace spectra::tasks
