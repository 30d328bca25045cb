#pragma once

#include "montecarlo/cuda/runtime.cuh"

#include <cstddef>

// Included by kernels only.

namespace spectra::montecarlo::cuda {

struct DeviceLimits {
    int shared_memory = 0;  // per block
    int processors = 0;
};

inline DeviceLimits device_limits() {
    int device = 0;
    DeviceLimits out;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&out.shared_memory, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "cudaDeviceGetAttribute");
    check(cudaDeviceGetAttribute(&out.processors, cudaDevAttrMultiProcessorCount, device),
          "cudaDeviceGetAttribute");
    return out;
}

template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "cudaFuncSetAttribute");
}

/// Blocks that the device holds at once.
template <class Kernel>
int resident_blocks(Kernel kernel, int threads, std::size_t bytes) {
    int out = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&out, kernel, threads, bytes), "cudaOccupancy");
    return out * device_limits().processors;
}

}  // namespace spectra::montecarlo::cuda
