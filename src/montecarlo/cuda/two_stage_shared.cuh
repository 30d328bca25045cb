#pragma once

#include "montecarlo/cuda/two_stage_chase.cuh"

#include <cstddef>

/// The second stage of two_stage.cu where a band fits into the shared memory of a thread block, or of the blocks of a
/// cluster.
namespace spectra::montecarlo::cuda::two_stage {

__device__ inline int rank_in_cluster() {
    int rank = 0;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}
/// The same place in the shared memory of another block.
template <class T>
__device__ T* in_block(T* own, int rank) {
    T* out = own;
#if __CUDA_ARCH__ >= 900
    asm("mapa.u64 %0, %1, %2;" : "=l"(out) : "l"(own), "r"(rank));
#endif
    return out;
}
__device__ inline void meet_cluster() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
template <bool of_cluster>
__device__ unsigned acquire_shared(const unsigned* from) {
    unsigned seen = 0;
#if __CUDA_ARCH__ >= 900
    if constexpr (of_cluster) {
        asm volatile("ld.acquire.cluster.u32 %0, [%1];" : "=r"(seen) : "l"(from) : "memory");
        return seen;
    }
#endif
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(from));
    asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(address) : "memory");
    return seen;
}
/// Also releases what the threads of the warp wrote before they last met.
template <bool of_cluster>
__device__ void add_one_shared(unsigned* to) {
#if __CUDA_ARCH__ >= 900
    if constexpr (of_cluster) {
        asm volatile("red.release.cluster.add.u32 [%0], 1;" ::"l"(to) : "memory");
        return;
    }
#endif
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("red.release.cta.shared.add.u32 [%0], 1;" ::"r"(address) : "memory");
}

/// Of a column, 64 rows are stored, row r at r mod 64: the windows of a sweep reach 32 rows above c and 31 below. A
/// sweep moves them by one row; the row that comes in takes the place of one that is zero.
///
/// If it is spread over a cluster, each block has `share` columns, and the tasks whose first column is among them.
/// Their windows may reach into the next block's columns. A sweep is passed on to the next block in one of two boxes
/// in its memory, by the sweep's parity: when one is passed on, the next block has begun with the second sweep
/// before it.
template <class Real, bool spread_>
class SharedBand {
    static constexpr int rows = 2 * band_width;
    // The lanes of a window's access are in different banks.
    static constexpr int leading = rows + (sizeof(Real) == 8 ? 2 : 4);

public:
    using Number = Real;
    static constexpr bool spread = spread_;

    /// `share`: stored columns of a block.
    static std::size_t bytes(int size, int share) {
        return static_cast<std::size_t>(share * leading + boxes * carried) * sizeof(Real) +
               static_cast<std::size_t>(size + boxes) * sizeof(unsigned);
    }

    __device__ SharedBand(int size, int share, unsigned char* memory)
        : size_(size),
          begin_(spread ? rank_in_cluster() * share : 0),
          end_(min(begin_ + share, size)),
          own_(reinterpret_cast<Real*>(memory)) {
        boxes_ = own_ + share * leading;
        progress_ = reinterpret_cast<unsigned*>(boxes_ + boxes * carried);
        passed_ = progress_ + size;
        own_ -= begin_ * leading;
        if constexpr (spread) {
            if (end_ < size) {
                const int next = rank_in_cluster() + 1;
                next_ = in_block(own_ + begin_ * leading, next) - end_ * leading;
                next_boxes_ = in_block(boxes_, next);
                next_passed_ = in_block(passed_, next);
            }
            if (begin_ > 0) before_progress_ = in_block(progress_, rank_in_cluster() - 1);
        }
    }

    __device__ int begin() const { return begin_; }
    __device__ int end() const { return end_; }

    /// Whether windows whose first column is c do.
    __device__ bool reaches_beyond(int c) const { return spread && end_ < size_ && c + 2 * band_width > end_; }

    /// In column + more, where `more` is a constant.
    template <bool beyond>
    __device__ Real* at(int row, int column, int more) const {
        Real* const entries = beyond && column + more >= end_ && end_ < size_ ? next_ : own_;
        return entries + column * leading + (row & (rows - 1)) + more * leading;
    }
    __device__ static Real load(const Real* from) { return *from; }
    __device__ static void store(Real* to, Real x) { *to = x; }

    template <bool beyond>
    __device__ void wait(int sweep, unsigned needed, unsigned& seen) const {
        do seen = acquire_shared<beyond>(progress_ + sweep);
        while (seen < needed);
    }
    /// That its task on the windows with the first column c is done. For the first one here the block before waits.
    template <bool beyond>
    __device__ void add_task(int sweep, int c) const {
        add_one_shared<beyond>(progress_ + sweep);
        if (spread && begin_ > 0 && c < begin_ + band_width) add_one_shared<spread>(before_progress_ + sweep);
    }

    __device__ const Real* received(int sweep) const { return boxes_ + sweep % boxes * carried; }
    __device__ Real* passed(int sweep) const { return next_boxes_ + sweep % boxes * carried; }
    __device__ void wait_for_sweep(int sweep) const {
        const auto needed = static_cast<unsigned>((sweep / boxes + 1) * chase_warps);
        while (acquire_shared<spread>(passed_ + sweep % boxes) < needed) continue;
        __syncwarp();
    }
    __device__ void add_sweep(int sweep) const { add_one_shared<spread>(next_passed_ + sweep % boxes); }

    /// By all threads of the block, of a stored band.
    __device__ void read(const Real* from) const {
        const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
        for (int i = thread; i < size_ + boxes; i += threads) progress_[i] = 0;
        const int last = end_ < size_ ? end_ : band_columns(size_);
        for (int i = begin_ * rows + thread; i < last * rows; i += threads) {
            const int column = i / rows, above = i % rows;
            *at<false>(column - above, column, 0) = from[column * band_leading + 2 * band_width - above];
        }
    }
    __device__ void write(Real* diagonal, Real* beside) const {
        for (int i = begin_ + static_cast<int>(threadIdx.x); i < end_; i += static_cast<int>(blockDim.x)) {
            diagonal[i] = *at<false>(i, i, 0);
            if (i > 0) beside[i - 1] = *at<false>(i - 1, i, 0);
        }
    }
    /// Before and after all sweeps.
    __device__ static void meet() {
        if constexpr (spread)
            meet_cluster();
        else
            __syncthreads();
    }

private:
    static constexpr int boxes = spread ? 2 : 0;

    int size_, begin_, end_;
    Real* own_;           // [column][row mod 64]
    Real* boxes_;         // sweeps from the block before
    unsigned* progress_;  // tasks that each sweep has done here, and the first one beyond, in each warp
    unsigned* passed_;    // sweeps to each box, in each warp
    // In other blocks of a cluster.
    Real* next_ = nullptr;
    Real* next_boxes_ = nullptr;
    unsigned* next_passed_ = nullptr;
    unsigned* before_progress_ = nullptr;
};

/// At once in a block: so many have registers enough.
template <class Real, bool spread>
constexpr int most_sweeps = sizeof(Real) == 8 ? (spread ? 5 : 6) : (spread ? 8 : 10);

/// A block or a cluster per matrix, and every group of warps each groups-th sweep.
template <class Real, bool spread>
__global__ __launch_bounds__(most_sweeps<Real, spread>* chase_threads) void chase_shared(
    int size, int share, int blocks, int groups, const Real* from, std::size_t stride, Real* diagonal,
    Real* beside) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    using Band = SharedBand<Real, spread>;
    const std::size_t number = blockIdx.x / static_cast<unsigned>(blocks);
    const Band band(size, share, shared_bytes + groups * Chase<Band>::bytes);
    band.read(from + number * stride);
    Band::meet();
    const int group = static_cast<int>(threadIdx.x) / chase_threads;
    Chase<Band> one(size, group, shared_bytes, band);
    for (int i = group; i < min(size - 2, band.end() - 1); i += groups) one.sweep(i);
    Band::meet();
    const std::size_t offset = number * static_cast<std::size_t>(size);
    band.write(diagonal + offset, beside + offset);
}

}  // namespace spectra::montecarlo::cuda::two_stage
