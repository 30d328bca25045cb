#pragma once

#include "montecarlo/cuda/runtime.cuh"
#include "montecarlo/cuda/two_stage_chase.cuh"

#include <cstddef>

/// The second stage of two_stage.cu where bands stay in device memory, or its cache.
namespace spectra::montecarlo::cuda::two_stage {

constexpr unsigned most_polls = 4000000;  // a second or more: then something is wrong

__device__ inline unsigned acquire(const unsigned* from) {
    unsigned seen = 0;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(from) : "memory");
    return seen;
}
/// Also releases what the threads of the warp wrote before they last met.
__device__ inline void add_one(unsigned* to) {
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(to) : "memory");
}

template <class Real>
class DeviceBand {
public:
    using Number = Real;
    static constexpr bool spread = false;

    __device__ DeviceBand(int size, Real* entries, unsigned* progress, unsigned* failures)
        : size_(size), entries_(entries), progress_(progress), failures_(failures) {}

    __device__ static int begin() { return 0; }
    __device__ int end() const { return size_; }

    __device__ static bool reaches_beyond(int) { return false; }

    /// In column + more, where `more` is a constant.
    template <bool>
    __device__ Real* at(int row, int column, int more) const {
        return entries_ + static_cast<std::size_t>(column) * band_leading + (row - column + 2 * band_width) +
               more * (band_leading - 1);
    }
    __device__ static Real load(const Real* from) { return __ldcg(from); }
    __device__ static void store(Real* to, Real x) { __stcg(to, x); }

    /// If it waits in vain the result is wrong, which `failures` tells.
    template <bool>
    __device__ void wait(int sweep, unsigned needed, unsigned& seen) {
        for (unsigned polls = 1; seen < needed && !failed_; ++polls) {
            seen = acquire(progress_ + sweep);
            if (seen >= needed) break;
            if (polls == most_polls || (polls % 4096 == 0 && acquire(failures_) != 0)) {
                failed_ = true;
                if (lane_number() == 0) atomicAdd(failures_, 1U);
            }
        }
    }
    template <bool>
    __device__ void add_task(int sweep, int) const { add_one(progress_ + sweep); }

private:
    int size_;
    Real* entries_;
    unsigned* progress_;  // tasks that each sweep has done, in each warp
    unsigned* failures_;
    bool failed_ = false;
};

/// Teams of `workers` blocks have a matrix each, and every block of a team each workers-th sweep.
template <class Real>
__global__ __launch_bounds__(chase_threads) void chase(int size, int count, int workers, Real* band,
                                                       std::size_t stride, unsigned* progress,
                                                       unsigned* failures) {
    __shared__ __align__(16) unsigned char memory[Chase<DeviceBand<Real>>::bytes];
    const int worker = static_cast<int>(blockIdx.x) % workers, team = static_cast<int>(blockIdx.x) / workers;
    const int teams = static_cast<int>(gridDim.x) / workers;
    for (int number = team; number < count; number += teams) {
        const auto place = static_cast<std::size_t>(number);
        unsigned* const own = progress + place * static_cast<std::size_t>(size);
        Chase<DeviceBand<Real>> one(size, 0, memory, {size, band + place * stride, own, failures});
        for (int sweep = worker; sweep < size - 2; sweep += workers) one.sweep(sweep);
    }
}

}  // namespace spectra::montecarlo::cuda::two_stage
