// Attention in tiles (Dao et al., arXiv:2205.14135 and 2307.08691): the scores are never stored. Products run on tensor cores
// in TF32, each number as the sum of two, x = high + low, and a b = high high + high low + low high: what is left out is
// 2⁻²² of a product, as float32 rounds. A warp has 16 rows; gradients of queries and of keys are two kernels, so that every
// number is summed by one thread in one order.
//
// Layout of mma.m16n8k8 (lane = 4 g + t): the left factor has rows g and g + 8 and columns t and t + 4; the right one rows t
// and t + 4 of column g; sums have rows g and g + 8, columns 2t and 2t + 1. A product's inner index may run in any order: sums
// become a left factor as they are where rows 2t and 2t + 1 of the right one stand for t and t + 4.

#include "train/modules/attention_kernels.hpp"

#include <cuda_pipeline_primitives.h>

#include <cmath>
#include <cstddef>

namespace spectra::train::cuda {
namespace {

constexpr int lanes = 32, warps = 4, warp_rows = 16, block_rows = warps * warp_rows;
constexpr int columns = 32;  // rows of the other side, in a tile
constexpr int groups = columns / 8;
constexpr int resident = 3;  // blocks at a time on a multiprocessor: leaves 168 registers per thread
constexpr unsigned all_lanes = 0xffffffffU;

struct Split {
    unsigned high, low;
};

// Devices before compute capability 8 have no TF32; self_attention_fits() keeps them away.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__device__ unsigned tf32(float x) {
    unsigned y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return y;
}

__device__ void multiply_add(float (&sum)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                             unsigned b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
#else
__device__ unsigned tf32(float) {
    return 0;
}
__device__ void multiply_add(float (&)[4], unsigned, unsigned, unsigned, unsigned, unsigned, unsigned) {
    __trap();
}
#endif

__device__ Split split(float x) {
    const unsigned high = tf32(x);
    return {high, tf32(x - __uint_as_float(high))};
}

__device__ void multiply_add(float (&sum)[4], const Split (&a)[4], Split b0, Split b1) {
    multiply_add(sum, a[0].low, a[1].low, a[2].low, a[3].low, b0.high, b1.high);
    multiply_add(sum, a[0].high, a[1].high, a[2].high, a[3].high, b0.low, b1.low);
    multiply_add(sum, a[0].high, a[1].high, a[2].high, a[3].high, b0.high, b1.high);
}

/// Rows of one sequence and head, or of its gradients.
template <class T>
struct Rows {
    T* first;
    std::size_t stride;
    __device__ T* operator[](int token) const { return first + static_cast<std::size_t>(token) * stride; }
};

/// What a block works on.
template <int width>
struct Head {
    int sequence, head, heads, tokens;

    __device__ Head(const AttentionSizes& sizes)
        : sequence(static_cast<int>(blockIdx.y) / sizes.heads),
          head(static_cast<int>(blockIdx.y) % sizes.heads),
          heads(sizes.heads),
          tokens(sizes.tokens) {}

    /// Part 0, 1, 2: queries, keys, values.
    template <class T>
    __device__ Rows<T> packed(T* all, int part) const {
        const auto stride = static_cast<std::size_t>(3 * heads * width);
        return {all + static_cast<std::size_t>(sequence) * tokens * stride + (part * heads + head) * width,
                stride};
    }
    template <class T>
    __device__ Rows<T> plain(T* all) const {
        const auto stride = static_cast<std::size_t>(heads * width);
        return {all + static_cast<std::size_t>(sequence) * tokens * stride + head * width, stride};
    }
    /// One number per token.
    template <class T>
    __device__ T* by_token(T* all) const {
        return all + static_cast<std::size_t>(blockIdx.y) * tokens;
    }
};

/// Places of a thread in its warp.
struct Lane {
    int g = static_cast<int>(threadIdx.x) % lanes / 4, t = static_cast<int>(threadIdx.x) % 4;
};

/// Rows in shared memory; the padding keeps every access below free of bank conflicts.
template <int width>
struct Tile {
    float at[columns][width + 4];

    /// Begins to read rows first, …; zeros beyond the last token.
    __device__ void begin(Rows<const float> from, int first, int tokens) {
        constexpr int quads = width / 4;
        for (int k = static_cast<int>(threadIdx.x); k < columns * quads; k += warps * lanes) {
            const int row = k / quads, column = 4 * (k % quads), token = first + row;
            const bool there = token < tokens;
            __pipeline_memcpy_async(&at[row][column], from[there ? token : 0] + column, 16, there ? 0 : 16);
        }
    }
};

/// 16 rows as a left factor.
template <int width>
struct LeftRows {
    Split part[width / 8][4];

    __device__ LeftRows(Rows<const float> from, int first, int tokens, Lane lane) {
        for (int r = 0; r < 2; ++r) {
            const int token = first + lane.g + 8 * r;
            const bool there = token < tokens;
            const float* const row = from[there ? token : 0];
            for (int k = 0; k < width / 8; ++k)
                for (int c = 0; c < 2; ++c)
                    part[k][r + 2 * c] = split(there ? row[8 * k + 4 * c + lane.t] : 0.0F);
        }
    }
};

using Scores = float[groups][4];

/// rows · tileᵀ.
template <int width>
__device__ void products(const LeftRows<width>& rows, const Tile<width>& tile, Lane lane, Scores& out) {
#pragma unroll
    for (int c = 0; c < groups; ++c)
        for (int e = 0; e < 4; ++e) out[c][e] = 0;
#pragma unroll
    for (int k = 0; k < width / 8; ++k)
#pragma unroll
        for (int c = 0; c < groups; ++c) {
            const float* const row = tile.at[8 * c + lane.g] + 8 * k + lane.t;
            multiply_add(out[c], rows.part[k], split(row[0]), split(row[4]));
        }
}

/// out += weights · tile.
template <int width>
__device__ void add_weighted(const Scores& weights, const Tile<width>& tile, Lane lane,
                             float (&out)[width / 8][4]) {
#pragma unroll
    for (int c = 0; c < groups; ++c) {
        const Split left[4] = {split(weights[c][0]), split(weights[c][2]), split(weights[c][1]),
                               split(weights[c][3])};
        const float *const row = tile.at[8 * c + 2 * lane.t] + lane.g, *const next = row + width + 4;
#pragma unroll
        for (int k = 0; k < width / 8; ++k) multiply_add(out[k], left, split(row[8 * k]), split(next[8 * k]));
    }
}

/// Of the four lanes that share rows.
__device__ float row_sum(float x) {
    x += __shfl_xor_sync(all_lanes, x, 1);
    return x + __shfl_xor_sync(all_lanes, x, 2);
}
__device__ float row_largest(float x) {
    x = fmaxf(x, __shfl_xor_sync(all_lanes, x, 1));
    return fmaxf(x, __shfl_xor_sync(all_lanes, x, 2));
}

/// scale · sums of 16 rows, from row `first` on.
template <int width>
__device__ void write(const float (&sums)[width / 8][4], const float (&scale)[2], Rows<float> to, int first,
                      int tokens, Lane lane) {
    for (int r = 0; r < 2; ++r) {
        const int token = first + lane.g + 8 * r;
        if (token >= tokens) continue;
        for (int k = 0; k < width / 8; ++k)
            *reinterpret_cast<float2*>(to[token] + 8 * k + 2 * lane.t) = {scale[r] * sums[k][2 * r],
                                                                          scale[r] * sums[k][2 * r + 1]};
    }
}

/// Calls work(tiles of a, of b; first row) for rows begin, … end − 1 of both, the next two read meanwhile.
template <int width, class Work>
__device__ void for_tiles(Rows<const float> a, Rows<const float> b, int begin, int end, int tokens,
                          const Work& work) {
    __shared__ Tile<width> tiles[2][2];
    const auto read = [&](int first, int buffer) {
        if (first < end) {
            tiles[buffer][0].begin(a, first, tokens);
            tiles[buffer][1].begin(b, first, tokens);
        }
        __pipeline_commit();
    };
    read(begin, 0);
    int buffer = 0;
    for (int first = begin; first < end; first += columns, buffer ^= 1) {
        read(first + columns, buffer ^ 1);
        __pipeline_wait_prior(1);
        __syncthreads();
        work(tiles[buffer][0], tiles[buffer][1], first);
        __syncthreads();
    }
}

/// Column of entry e of group c, and row of entry e.
__device__ int column_of(int c, int e, Lane lane) {
    return 8 * c + 2 * lane.t + e % 2;
}
__device__ int row_of(int e, Lane lane) {
    return lane.g + 8 * (e / 2);
}

__device__ bool sees(int query, int key, const AttentionSizes& sizes) {
    return key < sizes.tokens && query < sizes.tokens && (!sizes.causal || key <= query);
}

/// log₂ e/√h: softmax in powers of 2.
__host__ __device__ float score_scale(int width) {
    return 1.44269504F / sqrtf(static_cast<float>(width));
}

template <int width>
__global__ void __launch_bounds__(warps* lanes, resident)
    attend(const float* packed, float* y, float* log_sums, AttentionSizes sizes) {
    const Head<width> head(sizes);
    const Lane lane;
    // The blocks with most to do come first.
    const int first = (static_cast<int>(gridDim.x) - 1 - static_cast<int>(blockIdx.x)) * block_rows;
    const int own = first + static_cast<int>(threadIdx.x) / lanes * warp_rows;
    const LeftRows<width> queries(head.packed(packed, 0), own, sizes.tokens, lane);
    const float scale = score_scale(width);
    float sums[width / 8][4] = {}, largest[2] = {-INFINITY, -INFINITY}, total[2] = {};
    for_tiles<width>(
        head.packed(packed, 1), head.packed(packed, 2), 0,
        sizes.causal ? min(first + block_rows, sizes.tokens) : sizes.tokens, sizes.tokens,
        [&](const Tile<width>& keys, const Tile<width>& values, int key) {
            if (sizes.causal && key >= own + warp_rows) return;
            Scores scores;
            products(queries, keys, lane, scores);
            float top[2] = {largest[0], largest[1]};
            for (int c = 0; c < groups; ++c)
                for (int e = 0; e < 4; ++e) {
                    scores[c][e] = sees(own + row_of(e, lane), key + column_of(c, e, lane), sizes)
                                       ? scale * scores[c][e]
                                       : -INFINITY;
                    top[e / 2] = fmaxf(top[e / 2], scores[c][e]);
                }
            for (int r = 0; r < 2; ++r) {
                top[r] = row_largest(top[r]);
                const float from = top[r] == -INFINITY ? 0 : top[r], shrink = exp2f(largest[r] - from);
                largest[r] = top[r];
                total[r] *= shrink;
                for (int k = 0; k < width / 8; ++k) {
                    sums[k][2 * r] *= shrink;
                    sums[k][2 * r + 1] *= shrink;
                }
                for (int c = 0; c < groups; ++c)
                    for (int e = 2 * r; e < 2 * r + 2; ++e) {
                        scores[c][e] = exp2f(scores[c][e] - from);
                        total[r] += scores[c][e];
                    }
            }
            add_weighted(scores, values, lane, sums);
        });
    float share[2];
    for (int r = 0; r < 2; ++r) {
        total[r] = row_sum(total[r]);
        share[r] = 1 / total[r];
        const int query = own + lane.g + 8 * r;
        if (lane.t == 0 && query < sizes.tokens)
            head.by_token(log_sums)[query] = largest[r] + log2f(total[r]);
    }
    write<width>(sums, share, head.plain(y), own, sizes.tokens, lane);
}

/// Gradients of queries, and g · y of every token.
template <int width>
__global__ void __launch_bounds__(warps* lanes, resident)
    query_slopes(const float* g, const float* packed, const float* y, const float* log_sums, float* along,
                 float* slope, AttentionSizes sizes) {
    const Head<width> head(sizes);
    const Lane lane;
    const int first = (static_cast<int>(gridDim.x) - 1 - static_cast<int>(blockIdx.x)) * block_rows;
    const int own = first + static_cast<int>(threadIdx.x) / lanes * warp_rows;
    const LeftRows<width> queries(head.packed(packed, 0), own, sizes.tokens, lane),
        slopes(head.plain(g), own, sizes.tokens, lane);
    const float scale = score_scale(width);
    float log_sum[2], with_y[2];
    for (int r = 0; r < 2; ++r) {
        const int query = own + lane.g + 8 * r;
        const bool there = query < sizes.tokens;
        const int row = there ? query : 0;
        float part = 0;
        for (int k = lane.t; k < width; k += 4) part += head.plain(g)[row][k] * head.plain(y)[row][k];
        with_y[r] = row_sum(part);
        log_sum[r] = head.by_token(log_sums)[row];
        if (lane.t == 0 && there) head.by_token(along)[query] = with_y[r];
    }
    float sums[width / 8][4] = {};
    for_tiles<width>(head.packed(packed, 1), head.packed(packed, 2), 0,
                     sizes.causal ? min(first + block_rows, sizes.tokens) : sizes.tokens, sizes.tokens,
                     [&](const Tile<width>& keys, const Tile<width>& values, int key) {
                         if (sizes.causal && key >= own + warp_rows) return;
                         Scores weights, changes;
                         products(queries, keys, lane, weights);
                         products(slopes, values, lane, changes);
                         for (int c = 0; c < groups; ++c)
                             for (int e = 0; e < 4; ++e)
                                 weights[c][e] =
                                     sees(own + row_of(e, lane), key + column_of(c, e, lane), sizes)
                                         ? exp2f(scale * weights[c][e] - log_sum[e / 2]) *
                                               (changes[c][e] - with_y[e / 2])
                                         : 0.0F;
                         add_weighted(weights, keys, lane, sums);
                     });
    const float plain_scale = 1 / sqrtf(static_cast<float>(width));
    const float scales[2] = {plain_scale, plain_scale};
    write<width>(sums, scales, head.packed(slope, 0), own, sizes.tokens, lane);
}

/// Gradients of keys and values; rows are keys here, columns queries.
template <int width>
__global__ void __launch_bounds__(warps* lanes, resident)
    key_slopes(const float* g, const float* packed, const float* log_sums, const float* along, float* slope,
               AttentionSizes sizes) {
    const Head<width> head(sizes);
    const Lane lane;
    const int first = static_cast<int>(blockIdx.x) * block_rows;
    const int own = first + static_cast<int>(threadIdx.x) / lanes * warp_rows;
    const LeftRows<width> keys(head.packed(packed, 1), own, sizes.tokens, lane),
        values(head.packed(packed, 2), own, sizes.tokens, lane);
    const float scale = score_scale(width);
    const float *const log_sum = head.by_token(log_sums), *const with_y = head.by_token(along);
    float of_keys[width / 8][4] = {}, of_values[width / 8][4] = {};
    for_tiles<width>(head.packed(packed, 0), head.plain(g), sizes.causal ? first : 0, sizes.tokens,
                     sizes.tokens, [&](const Tile<width>& queries, const Tile<width>& slopes, int query) {
                         if (sizes.causal && query + columns <= own) return;
                         Scores weights, changes;
                         products(keys, queries, lane, weights);
                         products(values, slopes, lane, changes);
                         for (int c = 0; c < groups; ++c)
                             for (int e = 0; e < 4; ++e) {
                                 const int at = query + column_of(c, e, lane);
                                 const bool seen = sees(at, own + row_of(e, lane), sizes);
                                 weights[c][e] = seen ? exp2f(scale * weights[c][e] - log_sum[at]) : 0.0F;
                                 changes[c][e] = seen ? weights[c][e] * (changes[c][e] - with_y[at]) : 0.0F;
                             }
                         add_weighted(weights, slopes, lane, of_values);
                         add_weighted(changes, queries, lane, of_keys);
                     });
    const float plain_scale = 1 / sqrtf(static_cast<float>(width));
    const float scales[2] = {plain_scale, plain_scale}, ones[2] = {1, 1};
    write<width>(of_keys, scales, head.packed(slope, 1), own, sizes.tokens, lane);
    write<width>(of_values, ones, head.packed(slope, 2), own, sizes.tokens, lane);
}

dim3 grid_of(const AttentionSizes& sizes) {
    return {static_cast<unsigned>((sizes.tokens + block_rows - 1) / block_rows),
            static_cast<unsigned>(sizes.batch * sizes.heads)};
}

template <int width>
void attend_on(const float* packed, float* y, float* log_sums, const AttentionSizes& sizes,
               CUstream_st* stream) {
    attend<width><<<grid_of(sizes), warps * lanes, 0, stream>>>(packed, y, log_sums, sizes);
}

template <int width>
void slopes_on(const float* g, const float* packed, const float* y, const float* log_sums, float* along,
               float* slope, const AttentionSizes& sizes, CUstream_st* stream) {
    query_slopes<width>
        <<<grid_of(sizes), warps * lanes, 0, stream>>>(g, packed, y, log_sums, along, slope, sizes);
    key_slopes<width><<<grid_of(sizes), warps * lanes, 0, stream>>>(g, packed, log_sums, along, slope, sizes);
}

}  // namespace

bool self_attention_fits(std::int64_t batch_times_heads, std::int64_t width) {
    int device = 0, major = 0;
    return (width == 16 || width == 32) && batch_times_heads < 65536 &&
           cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
           major >= 8;
}

void self_attention(const float* packed, float* y, float* log_sums, const AttentionSizes& sizes,
                    CUstream_st* stream) {
    (sizes.width == 16 ? attend_on<16> : attend_on<32>)(packed, y, log_sums, sizes, stream);
}

void self_attention_slope(const float* g, const float* packed, const float* y, const float* log_sums,
                          float* along, float* slope, const AttentionSizes& sizes, CUstream_st* stream) {
    (sizes.width == 16 ? slopes_on<16> : slopes_on<32>)(g, packed, y, log_sums, along, slope, sizes, stream);
}

}  // namespace spectra::train::cuda
