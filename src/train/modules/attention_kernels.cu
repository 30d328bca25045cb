// Attention in tiles (Dao et al., arXiv:2205.14135 and 2307.08691): the scores are never stored. Products run on tensor cores
// in TF32, each number as the sum of two, x = high + low, and a b = high high + high low + low high: what is left out is
// below 3 · 2⁻²⁰ of a product. Gradients of queries and of keys are two kernels, so that every number is summed by one thread in
// one order.
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
constexpr int columns = 64;  // rows of the other side, in a tile
constexpr int resident =
    2;  // blocks at a time on a multiprocessor: more, with fewer registers, were not faster
constexpr unsigned all_lanes = 0xffffffffU;

struct Split {
    unsigned high, low;
};

__device__ void multiply_add(float (&sum)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                             unsigned b1) {
    // Devices before compute capability 8 have no TF32; self_attention_fits() keeps them away.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#else
    __trap();
#endif
}

/// The 10 bits after the leading one that TF32 holds, and the rest, of which the products take as many.
__device__ Split split(float x) {
    const unsigned high = __float_as_uint(x) & 0xffffe000U;
    return {high, __float_as_uint(x - __uint_as_float(high))};
}

/// The same where it stands: kept over a loop, both parts would take more registers than there are.
__device__ Split split_here(float x) {
    unsigned high;
    asm volatile("and.b32 %0, %1, 0xffffe000;" : "=r"(high) : "r"(__float_as_uint(x)));
    return {high, __float_as_uint(x - __uint_as_float(high))};
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
        : sequence(static_cast<int>(blockIdx.x) / sizes.heads),
          head(static_cast<int>(blockIdx.x) % sizes.heads),
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
        return all + static_cast<std::size_t>(blockIdx.x) * tokens;
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

/// Sums of 16 rows and 8 · parts columns, as the tensor cores leave them.
template <int parts>
struct Sums {
    float at[parts][4];

    __device__ void clear() {
#pragma unroll
        for (int c = 0; c < parts; ++c)
            for (int e = 0; e < 4; ++e) at[c][e] = 0;
    }
};

/// 16 rows as a left factor.
template <int width>
struct LeftRows {
    float part[width / 8][4];

    __device__ LeftRows(Rows<const float> from, int first, int tokens, Lane lane) {
        for (int r = 0; r < 2; ++r) {
            const int token = first + lane.g + 8 * r;
            const bool there = token < tokens;
            const float* const row = from[there ? token : 0];
            for (int k = 0; k < width / 8; ++k)
                for (int c = 0; c < 2; ++c) part[k][r + 2 * c] = there ? row[8 * k + 4 * c + lane.t] : 0.0F;
        }
    }
};

using Scores = Sums<columns / 8>;

/// rows · tileᵀ.
template <int width>
__device__ Scores products(const LeftRows<width>& rows, const Tile<width>& tile, Lane lane) {
    Scores out;
    out.clear();
#pragma unroll
    for (int k = 0; k < width / 8; ++k) {
        Split left[4];
        for (int e = 0; e < 4; ++e) left[e] = split_here(rows.part[k][e]);
#pragma unroll
        for (int c = 0; c < columns / 8; ++c) {
            const float* const row = tile.at[8 * c + lane.g] + 8 * k + lane.t;
            multiply_add(out.at[c], left, split(row[0]), split(row[4]));
        }
    }
    return out;
}

/// out += weights · tile. Tensor cores cut their sums off: those of a tile begin at 0.
template <int width>
__device__ void add_weighted(const Scores& weights, const Tile<width>& tile, Lane lane,
                             Sums<width / 8>& out) {
    Sums<width / 8> sums;
    sums.clear();
#pragma unroll
    for (int c = 0; c < columns / 8; ++c) {
        const float(&w)[4] = weights.at[c];
        const Split left[4] = {split(w[0]), split(w[2]), split(w[1]), split(w[3])};
        const float *const row = tile.at[8 * c + 2 * lane.t] + lane.g, *const next = row + width + 4;
#pragma unroll
        for (int k = 0; k < width / 8; ++k)
            multiply_add(sums.at[k], left, split(row[8 * k]), split(next[8 * k]));
    }
#pragma unroll
    for (int k = 0; k < width / 8; ++k)
        for (int e = 0; e < 4; ++e) out.at[k][e] += sums.at[k][e];
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

/// scale · sums of rows first, …, which two of a lane's rows have.
template <int width>
__device__ void write(const Sums<width / 8>& sums, const float (&scale)[2], Rows<float> to, int first,
                      int tokens, Lane lane) {
    for (int r = 0; r < 2; ++r) {
        const int token = first + lane.g + 8 * r;
        if (token >= tokens) continue;
        for (int k = 0; k < width / 8; ++k)
            *reinterpret_cast<float2*>(to[token] + 8 * k + 2 * lane.t) = {scale[r] * sums.at[k][2 * r],
                                                                          scale[r] * sums.at[k][2 * r + 1]};
    }
}

template <int width>
__device__ void write(const Sums<width / 8>& sums, float scale, Rows<float> to, int first, int tokens,
                      Lane lane) {
    const float scales[2] = {scale, scale};
    write<width>(sums, scales, to, first, tokens, lane);
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

/// Column of entry e of part c, and row of entry e.
__device__ int column_of(int c, int e, Lane lane) {
    return 8 * c + 2 * lane.t + e % 2;
}
__device__ int row_of(int e, Lane lane) {
    return lane.g + 8 * (e / 2);
}

/// Whether every one of so many queries sees every one of so many keys.
__device__ bool all_see(int query, int queries, int key, int keys, const AttentionSizes& sizes) {
    return query + queries <= sizes.tokens && key + keys <= sizes.tokens &&
           (!sizes.causal || key + keys - 1 <= query);
}

__device__ bool sees(int query, int key, const AttentionSizes& sizes) {
    return key < sizes.tokens && query < sizes.tokens && (!sizes.causal || key <= query);
}

/// Scores of what is not seen become −∞.
template <class Seen>
__device__ void hide(Scores& scores, const Seen& seen, Lane lane) {
#pragma unroll
    for (int c = 0; c < columns / 8; ++c)
        for (int e = 0; e < 4; ++e)
            if (!seen(row_of(e, lane), column_of(c, e, lane))) scores.at[c][e] = -INFINITY;
}

/// To 2⁻²² of it.
__device__ float power_of_2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
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
    const int first = (static_cast<int>(gridDim.y) - 1 - static_cast<int>(blockIdx.y)) * block_rows;
    const int own = first + static_cast<int>(threadIdx.x) / lanes * warp_rows;
    const LeftRows<width> queries(head.packed(packed, 0), own, sizes.tokens, lane);
    const float scale = score_scale(width);
    Sums<width / 8> sums;
    sums.clear();
    float largest[2] = {-INFINITY, -INFINITY}, total[2] = {0, 0};
    for_tiles<width>(
        head.packed(packed, 1), head.packed(packed, 2), 0,
        sizes.causal ? min(first + block_rows, sizes.tokens) : sizes.tokens, sizes.tokens,
        [&](const Tile<width>& keys, const Tile<width>& values, int key) {
            if (sizes.causal && key >= own + warp_rows) return;
            Scores scores = products(queries, keys, lane);
            if (!all_see(own, warp_rows, key, columns, sizes))
                hide(
                    scores, [&](int row, int column) { return sees(own + row, key + column, sizes); }, lane);
            for (int r = 0; r < 2; ++r) {
                float top = largest[r];
                for (int c = 0; c < columns / 8; ++c)
                    for (int e = 2 * r; e < 2 * r + 2; ++e) top = fmaxf(top, scores.at[c][e]);
                top = row_largest(top);
                const float from = top == -INFINITY ? 0 : scale * top;
                const float shrink = power_of_2(scale * largest[r] - from);
                largest[r] = top;
                total[r] *= shrink;
                for (int k = 0; k < width / 8; ++k)
                    for (int e = 2 * r; e < 2 * r + 2; ++e) sums.at[k][e] *= shrink;
                for (int c = 0; c < columns / 8; ++c)
                    for (int e = 2 * r; e < 2 * r + 2; ++e) {
                        float& score = scores.at[c][e];
                        score = power_of_2(scale * score - from);
                        total[r] += score;
                    }
            }
            add_weighted(scores, values, lane, sums);
        });
    float share[2];
    for (int r = 0; r < 2; ++r) {
        const float all = row_sum(total[r]);
        share[r] = 1 / all;
        const int query = own + lane.g + 8 * r;
        if (lane.t == 0 && query < sizes.tokens)
            head.by_token(log_sums)[query] = scale * largest[r] + log2f(all);
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
    const int first = (static_cast<int>(gridDim.y) - 1 - static_cast<int>(blockIdx.y)) * block_rows;
    const int own = first + static_cast<int>(threadIdx.x) / lanes * warp_rows;
    const LeftRows<width> queries(head.packed(packed, 0), own, sizes.tokens, lane),
        slopes(head.plain(g), own, sizes.tokens, lane);
    const float scale = score_scale(width);
    Sums<width / 8> sums;
    sums.clear();
    float log_sum[2], with_y[2];
    for (int r = 0; r < 2; ++r) {
        const int query = own + lane.g + 8 * r;
        const bool there = query < sizes.tokens;
        const float* const row = head.plain(y)[there ? query : 0];
        float part = 0;
        for (int k = 0; k < width / 8; ++k)
            for (int c = 0; c < 2; ++c) part += slopes.part[k][r + 2 * c] * row[8 * k + 4 * c + lane.t];
        with_y[r] = row_sum(part);
        log_sum[r] = head.by_token(log_sums)[there ? query : 0];
        if (lane.t == 0 && there) head.by_token(along)[query] = with_y[r];
    }
    for_tiles<width>(
        head.packed(packed, 1), head.packed(packed, 2), 0,
        sizes.causal ? min(first + block_rows, sizes.tokens) : sizes.tokens, sizes.tokens,
        [&](const Tile<width>& keys, const Tile<width>& values, int key) {
            if (sizes.causal && key >= own + warp_rows) return;
            Scores weights = products(queries, keys, lane);
            const Scores changes = products(slopes, values, lane);
            if (!all_see(own, warp_rows, key, columns, sizes))
                hide(
                    weights, [&](int row, int column) { return sees(own + row, key + column, sizes); }, lane);
            for (int c = 0; c < columns / 8; ++c)
                for (int e = 0; e < 4; ++e) {
                    float& weight = weights.at[c][e];
                    weight = power_of_2(scale * weight - log_sum[e / 2]) * (changes.at[c][e] - with_y[e / 2]);
                }
            add_weighted(weights, keys, lane, sums);
        });
    write<width>(sums, 1 / sqrtf(static_cast<float>(width)), head.packed(slope, 0), own, sizes.tokens, lane);
}

/// Gradients of keys and values; rows are keys here, columns queries.
template <int width>
__global__ void __launch_bounds__(warps* lanes, resident)
    key_slopes(const float* g, const float* packed, const float* log_sums, const float* along, float* slope,
               AttentionSizes sizes) {
    const Head<width> head(sizes);
    const Lane lane;
    const int first = static_cast<int>(blockIdx.y) * block_rows;
    const int own = first + static_cast<int>(threadIdx.x) / lanes * warp_rows;
    const LeftRows<width> keys(head.packed(packed, 1), own, sizes.tokens, lane),
        values(head.packed(packed, 2), own, sizes.tokens, lane);
    const float scale = score_scale(width);
    const float *const log_sum = head.by_token(log_sums), *const with_y = head.by_token(along);
    Sums<width / 8> of_keys, of_values;
    of_keys.clear();
    of_values.clear();
    for_tiles<width>(
        head.packed(packed, 0), head.plain(g), sizes.causal ? first : 0, sizes.tokens, sizes.tokens,
        [&](const Tile<width>& queries, const Tile<width>& slopes, int query) {
            if (sizes.causal && query + columns <= own) return;
            Scores weights = products(keys, queries, lane), changes = products(values, slopes, lane);
            if (!all_see(query, columns, own, warp_rows, sizes))
                hide(
                    weights, [&](int row, int column) { return sees(query + column, own + row, sizes); },
                    lane);
            for (int c = 0; c < columns / 8; ++c)
                for (int b = 0; b < 2; ++b) {
                    const int at = min(query + column_of(c, b, lane), sizes.tokens - 1);
                    const float log_sum_at = log_sum[at], with_y_at = with_y[at];
                    for (int e = b; e < 4; e += 2) {
                        float &weight = weights.at[c][e], &change = changes.at[c][e];
                        weight = power_of_2(scale * weight - log_sum_at);
                        change = weight * (change - with_y_at);
                    }
                }
            add_weighted(weights, slopes, lane, of_values);
            add_weighted(changes, queries, lane, of_keys);
        });
    write<width>(of_keys, 1 / sqrtf(static_cast<float>(width)), head.packed(slope, 1), own, sizes.tokens,
                 lane);
    write<width>(of_values, 1.0F, head.packed(slope, 2), own, sizes.tokens, lane);
}

dim3 grid_of(const AttentionSizes& sizes) {
    return {static_cast<unsigned>(sizes.batch * sizes.heads),
            static_cast<unsigned>((sizes.tokens + block_rows - 1) / block_rows)};
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

bool self_attention_fits(std::int64_t tokens, std::int64_t width) {
    int device = 0, major = 0;
    return (width == 16 || width == 32) && tokens <= 65535 * block_rows &&
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
