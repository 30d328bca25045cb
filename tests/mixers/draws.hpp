#pragma once

#include "mixers/mixer.hpp"
#include "random/stream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace spectra::mixers::testing {

/// One, even, odd, powers of two and one past a power of two.
inline constexpr std::array<int, 8> sizes{1, 2, 3, 4, 5, 8, 16, 33};

/// A tolerance for results of O(n) rounded operations on numbers of order one.
inline double rounding(int n, double operations = 16) {
    return operations * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
}

inline random::Stream stream_of(int draw, int n = 0, std::uint64_t seed = 11) {
    return {seed, random::Purpose::test, static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(draw)};
}

/// Calls check(mixer, n) for `draws` mixers of every size, naming the draw where it fails.
template <typename Check>
void for_each_draw(const Recipe& recipe, int draws, Check&& check) {
    for (const int n : sizes) {
        for (int draw_number = 0; draw_number < draws; ++draw_number) {
            SCOPED_TRACE("n = " + std::to_string(n) + ", draw " + std::to_string(draw_number));
            random::Stream stream = stream_of(draw_number, n);
            const Mixer a = draw(recipe, n, stream);
            ASSERT_EQ(a.rows(), n);
            ASSERT_EQ(a.cols(), n);
            check(a, n);
            if (::testing::Test::HasFailure()) return;
        }
    }
}

inline Recipe recipe_of(Family family) {
    Recipe recipe;
    recipe.family = family;
    return recipe;
}

}  // namespace spectra::mixers::testing
