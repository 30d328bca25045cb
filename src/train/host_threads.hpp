#pragma once

#include "jacobian/torch.hpp"

#include <optional>

namespace spectra::train {

/// Sets the number of threads that Torch and BLAS use on the CPU, and returns it: `wanted`, or without it
/// OMP_NUM_THREADS, or all cores. Where a GPU computes, two are enough to feed it; more would only wait.
int use_threads(std::optional<int> wanted, torch::Device device);

/// From now on a thread that waits for the GPU sleeps instead of keeping a core busy, so that several processes can
/// share a machine. To be called before the first use of the GPU; does nothing if Torch has no CUDA.
void sleep_while_gpu_works();

}  // namespace spectra::train
