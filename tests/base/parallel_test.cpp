#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

namespace spectra {
namespace {

TEST(ParallelFor, DoesEverythingOnce) {
    for (const int threads : {0, 1, 3, 8})
        for (const std::size_t count : {0UL, 1UL, 2UL, 1000UL}) {
            std::vector<int> done(count, 0);
            parallel_for(count, threads, [&](std::size_t k) { ++done[k]; });
            EXPECT_EQ(done, std::vector<int>(count, 1));
        }
}

TEST(ParallelFor, GivesEveryThreadAStateOfItsOwn) {
    std::vector<long> sums(4, 0);
    parallel_for(10'000, sums, [](long& sum, std::size_t k) { sum += static_cast<long>(k); });
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0L), 10'000L * 9'999 / 2);
}

TEST(ParallelFor, CarriesTheFirstException) {
    for (const int threads : {1, 4}) {
        std::atomic<int> done = 0;
        try {
            parallel_for(10'000, threads, [&](std::size_t k) {
                if (k == 7) throw std::runtime_error("seven");
                if (k > 100) std::this_thread::sleep_for(std::chrono::microseconds(10));
                ++done;
            });
            ADD_FAILURE() << "nothing was thrown";
        } catch (const std::runtime_error& error) {
            EXPECT_EQ(std::string(error.what()), "seven");
        }
        EXPECT_LT(done, 9'999) << "the rest is not begun";
    }
}

}  // namespace
}  // namespace spectra
