// As many lanes as a stream has quadruples, 32 at most, take a row. They read every stream once and sum by shuffles, always in
// the same order. In batched products of Torch's every 4×4 matrix is a matrix product of its own, and sums read the streams
// again.

#include "train/modules/streams_kernels.hpp"

#include <cstdint>

#include "train/modules/constant_size.cuh"
#include "train/modules/float4.cuh"

namespace spectra::train::cuda {
namespace {

constexpr int warp = 32, threads = 256;
constexpr unsigned all_lanes = 0xffffffffU;

__device__ float product(float4 a, float4 b) {
    return (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w);
}

/// Where a thread works: quadruples `lane`, `lane` + `lanes`, … of every stream of a row. Threads behind the last row work on
/// the last one, and write nothing: their neighbours' shuffles wait for them.
struct Place {
    std::int64_t row;
    int lane, lanes, quads;
    bool inside;

    __device__ Place(StreamSizes sizes, int lanes_of_row)
        : row((static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) / lanes_of_row),
          lane(threadIdx.x % lanes_of_row),
          lanes(lanes_of_row),
          quads(sizes.width / 4),
          inside(row < sizes.rows) {
        if (!inside) row = sizes.rows - 1;
    }

    /// Stream 0 of the row, of `streams`.
    __device__ const float4* in(const float* rows, int streams) const {
        return reinterpret_cast<const float4*>(rows) + row * streams * quads;
    }
    __device__ float4* out(float* rows, int streams) const {
        return reinterpret_cast<float4*>(rows) + row * streams * quads;
    }
    /// Over the lanes of the row.
    __device__ float sum(float value) const {
        for (int offset = lanes / 2; offset > 0; offset /= 2)
            value += __shfl_xor_sync(all_lanes, value, offset);
        return value;
    }
};

template <int count>
__device__ void load(float (&numbers)[count], const float* from, std::int64_t row) {
    for (int k = 0; k < count; ++k) numbers[k] = from[row * count + k];
}

template <int count>
__device__ void store_sums(const float (&parts)[count], float* to, const Place& at) {
    for (int k = 0; k < count; ++k) {
        const float total = at.sum(parts[k]);
        if (at.inside && at.lane == 0) to[at.row * count + k] = total;
    }
}

template <int n>
__global__ void __launch_bounds__(threads)
    read(const float* pre, const float* x, float* y, int copies, StreamSizes sizes, int lanes) {
    const Place at(sizes, lanes);
    if (!at.inside) return;
    float weights[n];
    load(weights, pre, at.row);
    const auto* const from = at.in(x, n);
    auto* const to = at.out(y, copies);
    for (int q = at.lane; q < at.quads; q += at.lanes) {
        float4 total = weights[0] * from[q];
        for (int i = 1; i < n; ++i) total = total + weights[i] * from[i * at.quads + q];
        for (int copy = 0; copy < copies; ++copy) to[copy * at.quads + q] = total;
    }
}

template <int n>
__global__ void __launch_bounds__(threads)
    read_slope(const float* g, const float* pre, const float* x, float* pre_slope, float* x_slope, int copies,
               StreamSizes sizes, int lanes) {
    const Place at(sizes, lanes);
    float weights[n], along[n] = {};
    load(weights, pre, at.row);
    const auto* const from = at.in(x, n);
    const auto* const slopes = at.in(g, copies);
    auto* const to = at.out(x_slope, n);
    for (int q = at.lane; q < at.quads; q += at.lanes) {
        float4 slope = slopes[q];
        for (int copy = 1; copy < copies; ++copy) slope = slope + slopes[copy * at.quads + q];
        for (int i = 0; i < n; ++i) {
            along[i] += product(from[i * at.quads + q], slope);
            if (at.inside) to[i * at.quads + q] = weights[i] * slope;
        }
    }
    store_sums(along, pre_slope, at);
}

template <int n>
__global__ void __launch_bounds__(threads) write(Written in, float* out, StreamSizes sizes, int lanes) {
    const Place at(sizes, lanes);
    if (!at.inside) return;
    float a[n * n], post[n];
    load(a, in.matrix, at.row);
    if (in.y) load(post, in.post, at.row);
    const auto* const from = at.in(in.x, n);
    const auto* const added = at.in(in.y, in.all_streams ? n : 1);
    auto* const to = at.out(out, n);
    for (int q = at.lane; q < at.quads; q += at.lanes) {
        float4 x[n];
        for (int j = 0; j < n; ++j) x[j] = from[j * at.quads + q];
        for (int i = 0; i < n; ++i) {
            float4 total = a[i * n] * x[0];
            for (int j = 1; j < n; ++j) total = total + a[i * n + j] * x[j];
            if (in.y) total = total + post[i] * added[(in.all_streams ? i * at.quads : 0) + q];
            to[i * at.quads + q] = total;
        }
    }
}

template <int n>
__global__ void __launch_bounds__(threads)
    write_slope(const float* g, Written in, WrittenSlopes slopes, StreamSizes sizes, int lanes) {
    const Place at(sizes, lanes);
    float a[n * n], post[n], a_slope[n * n] = {}, post_slope[n] = {};
    load(a, in.matrix, at.row);
    if (in.y) load(post, in.post, at.row);
    const auto* const from = at.in(in.x, n);
    const auto* const above = at.in(g, n);
    auto* const to = at.out(slopes.x, n);
    for (int q = at.lane; q < at.quads; q += at.lanes) {
        float4 gs[n], x[n];
        for (int i = 0; i < n; ++i) gs[i] = above[i * at.quads + q];
        for (int j = 0; j < n; ++j) x[j] = from[j * at.quads + q];
        for (int j = 0; j < n; ++j) {
            float4 total = a[j] * gs[0];
            for (int i = 1; i < n; ++i) total = total + a[i * n + j] * gs[i];
            for (int i = 0; i < n; ++i) a_slope[i * n + j] += product(gs[i], x[j]);
            if (at.inside) to[j * at.quads + q] = total;
        }
        if (!in.y) continue;
        const auto* const added = at.in(in.y, in.all_streams ? n : 1);
        auto* const y_slope = at.out(slopes.y, in.all_streams ? n : 1);
        float4 total = {0, 0, 0, 0};
        for (int i = 0; i < n; ++i) {
            const int place = (in.all_streams ? i * at.quads : 0) + q;
            post_slope[i] += product(gs[i], added[place]);
            total = in.all_streams ? post[i] * gs[i] : total + post[i] * gs[i];
            if (at.inside && (in.all_streams || i == n - 1)) y_slope[place] = total;
        }
    }
    store_sums(a_slope, slopes.matrix, at);
    if (in.y) store_sums(post_slope, slopes.post, at);
}

/// Calls f with the number of streams as a constant, the number of blocks, and the lanes of a row.
template <class F>
void launch(StreamSizes sizes, const F& f) {
    if (sizes.rows == 0) return;
    int lanes = 1;
    while (lanes < warp && lanes < sizes.width / 4) lanes *= 2;
    const auto blocks = static_cast<unsigned>((sizes.rows * lanes + threads - 1) / threads);
    with_constant<2, 8>(sizes.streams, [&](auto n) { f(n, blocks, lanes); });
}

}  // namespace

void read_streams(const float* pre, const float* x, float* y, int copies, StreamSizes sizes,
                  CUstream_st* stream) {
    launch(sizes, [&](auto n, unsigned blocks, int lanes) {
        read<n()><<<blocks, threads, 0, stream>>>(pre, x, y, copies, sizes, lanes);
    });
}

void read_streams_slope(const float* g, const float* pre, const float* x, float* pre_slope, float* x_slope,
                        int copies, StreamSizes sizes, CUstream_st* stream) {
    launch(sizes, [&](auto n, unsigned blocks, int lanes) {
        read_slope<n()>
            <<<blocks, threads, 0, stream>>>(g, pre, x, pre_slope, x_slope, copies, sizes, lanes);
    });
}

void write_streams(const Written& in, float* out, StreamSizes sizes, CUstream_st* stream) {
    launch(sizes, [&](auto n, unsigned blocks, int lanes) {
        write<n()><<<blocks, threads, 0, stream>>>(in, out, sizes, lanes);
    });
}

void write_streams_slope(const float* g, const Written& in, const WrittenSlopes& slopes, StreamSizes sizes,
                         CUstream_st* stream) {
    launch(sizes, [&](auto n, unsigned blocks, int lanes) {
        write_slope<n()><<<blocks, threads, 0, stream>>>(g, in, slopes, sizes, lanes);
    });
}

}  // namespace spectra::train::cuda
