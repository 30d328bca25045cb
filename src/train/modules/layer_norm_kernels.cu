// A warp takes a row: it reads it once, and sums by shuffles. In a step of the matched gpt (rows of 128) the 19 norms and
// their gradients cost a third of what they do with Torch's kernels.

#include "train/modules/layer_norm_kernels.hpp"

#include <algorithm>
#include <cstdint>

#include "train/modules/constant_size.cuh"
#include "train/modules/float4.cuh"

namespace spectra::train::cuda {
namespace {

constexpr int lanes = 32, warps = 8;
constexpr unsigned all_lanes = 0xffffffffU;

__device__ float sum_of_lanes(float value) {
    for (int offset = lanes / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(all_lanes, value, offset);
    return value;
}

/// Number `lane` of every 32 quadruples of a row.
template <int quads>
struct Row {
    float4 part[quads];

    __device__ void read(const float* row, int lane) {
        const auto* const from = reinterpret_cast<const float4*>(row);
        for (int k = 0; k < quads; ++k) part[k] = from[lane + k * lanes];
    }
    /// Of a row at any address, as parameters have that lie one behind the other.
    __device__ void read_anywhere(const float* row, int lane) {
        if (reinterpret_cast<std::uintptr_t>(row) % sizeof(float4) == 0) return read(row, lane);
        for (int k = 0; k < quads; ++k) {
            const float* const from = row + 4 * (lane + k * lanes);
            part[k] = {from[0], from[1], from[2], from[3]};
        }
    }
    __device__ void write(float* row, int lane) const {
        auto* const to = reinterpret_cast<float4*>(row);
        for (int k = 0; k < quads; ++k) to[lane + k * lanes] = part[k];
    }
};

template <int quads>
__global__ void __launch_bounds__(lanes* warps)
    normalise(const float* x, Norm norm, float* y, float* means, float* scales, std::int64_t rows) {
    constexpr int width = 4 * lanes * quads;
    const int lane = threadIdx.x % lanes;
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / lanes;
    if (row >= rows) return;
    Row<quads> values, gains, shifts;
    values.read(x + row * width, lane);
    gains.read_anywhere(norm.weight, lane);
    if (norm.bias) shifts.read_anywhere(norm.bias, lane);
    float total = 0;
    for (int k = 0; k < quads; ++k) total += sum(values.part[k]);
    const float mean = norm.centred ? sum_of_lanes(total) / width : 0;
    total = 0;
    for (int k = 0; k < quads; ++k) {
        values.part[k] = values.part[k] - mean;
        total += sum(values.part[k] * values.part[k]);
    }
    const float scale = rsqrtf(sum_of_lanes(total) / width + norm.epsilon);
    for (int k = 0; k < quads; ++k) values.part[k] = scale * (gains.part[k] * values.part[k]);
    if (norm.bias)
        for (int k = 0; k < quads; ++k) values.part[k] = values.part[k] + shifts.part[k];
    values.write(y + row * width, lane);
    if (lane == 0) {
        means[row] = mean;
        scales[row] = scale;
    }
}

/// Writes the sum of what the warps of a block hold to the block's row.
template <int quads>
__device__ void write_block_sum(const Row<quads>& part, float* rows) {
    __shared__ float4 parts[warps][lanes * quads];
    const int lane = threadIdx.x % lanes, warp = threadIdx.x / lanes;
    __syncthreads();
    for (int k = 0; k < quads; ++k) parts[warp][lane + k * lanes] = part.part[k];
    __syncthreads();
    auto* const to = reinterpret_cast<float4*>(rows) + static_cast<std::int64_t>(blockIdx.x) * lanes * quads;
    for (int column = threadIdx.x; column < lanes * quads; column += lanes * warps) {
        float4 total = parts[0][column];
        for (int other = 1; other < warps; ++other) total = total + parts[other][column];
        to[column] = total;
    }
}

template <int quads>
__global__ void __launch_bounds__(lanes* warps)
    normalise_slope(const float* g, const float* x, Norm norm, const float* means, const float* scales,
                    float* slope, float* weight_parts, float* bias_parts, std::int64_t rows) {
    constexpr int width = 4 * lanes * quads;
    const int lane = threadIdx.x % lanes, warp = threadIdx.x / lanes;
    Row<quads> gains, weight_slope = {}, bias_slope = {};
    gains.read_anywhere(norm.weight, lane);
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + warp; row < rows;
         row += static_cast<std::int64_t>(gridDim.x) * warps) {
        Row<quads> values, slopes;
        values.read(x + row * width, lane);
        slopes.read(g + row * width, lane);
        const float mean = means[row], scale = scales[row];
        float total = 0, along = 0;
        for (int k = 0; k < quads; ++k) {
            values.part[k] = scale * (values.part[k] - mean);
            weight_slope.part[k] = weight_slope.part[k] + slopes.part[k] * values.part[k];
            bias_slope.part[k] = bias_slope.part[k] + slopes.part[k];
            slopes.part[k] = gains.part[k] * slopes.part[k];
            total += sum(slopes.part[k]);
            along += sum(slopes.part[k] * values.part[k]);
        }
        const float mean_slope = norm.centred ? sum_of_lanes(total) / width : 0,
                    mean_along = sum_of_lanes(along) / width;
        for (int k = 0; k < quads; ++k)
            slopes.part[k] = scale * (slopes.part[k] - mean_slope - mean_along * values.part[k]);
        slopes.write(slope + row * width, lane);
    }
    write_block_sum(weight_slope, weight_parts);
    if (bias_parts) write_block_sum(bias_slope, bias_parts);
}

/// Calls f with the number of quadruples of a thread as a constant.
template <class F>
void with_quads(std::int64_t width, const F& f) {
    with_constant<1, 8>(static_cast<int>(width / (4 * lanes)), f);
}

}  // namespace

void layer_norm(const float* x, const Norm& norm, float* y, float* mean, float* scale, std::int64_t rows,
                std::int64_t width, CUstream_st* stream) {
    if (rows == 0) return;
    with_quads(width, [&](auto quads) {
        normalise<quads()><<<static_cast<unsigned>((rows + warps - 1) / warps), lanes * warps, 0, stream>>>(
            x, norm, y, mean, scale, rows);
    });
}

int layer_norm_parts(std::int64_t rows) {
    return static_cast<int>(std::clamp<std::int64_t>(rows / (2 * warps), 1, 512));
}

void layer_norm_slope(const float* g, const float* x, const Norm& norm, const float* mean, const float* scale,
                      float* slope, float* weight_parts, float* bias_parts, std::int64_t rows,
                      std::int64_t width, CUstream_st* stream) {
    with_quads(width, [&](auto quads) {
        normalise_slope<quads()>
            <<<static_cast<unsigned>(layer_norm_parts(rows)), lanes * warps, 0, stream>>>(
                g, x, norm, mean, scale, slope, weight_parts, bias_parts, rows);
    });
}

}  // namespace spectra::train::cuda
