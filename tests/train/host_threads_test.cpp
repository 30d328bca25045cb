#include "train/host_threads.hpp"

#include <gtest/gtest.h>

namespace spectra::train {
namespace {

TEST(HostThreads, AGpuNeedsFew) {
    const int before = at::get_num_threads();
    EXPECT_LE(use_threads({}, torch::kCUDA), 2);
    EXPECT_LE(at::get_num_threads(), 2);
    EXPECT_EQ(use_threads(3, torch::kCUDA), 3);
    EXPECT_EQ(at::get_num_threads(), 3);
    EXPECT_EQ(use_threads(1, torch::kCPU), 1);
    EXPECT_EQ(at::get_num_threads(), 1);
    use_threads(before, torch::kCPU);
}

}  // namespace
}  // namespace spectra::train
