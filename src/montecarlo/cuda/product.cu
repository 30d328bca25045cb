#include "montecarlo/cuda/product.cuh"

#include "montecarlo/cuda/fragments.cuh"
#include "montecarlo/cuda/launch.cuh"
#include "montecarlo/cuda/warp.cuh"

namespace spectra::montecarlo::cuda {
namespace {

constexpr int tile = 64;    // of the product, per block
constexpr int depth = 16;   // of the operands, per stage
constexpr int stages = 3;   // in flight
constexpr int block = 128;  // four warps, each 32×32 of the product

// Strides of rows: with these, the lanes of a warp read different banks.
template <class Real>
struct Pad;
template <>
struct Pad<double> {
    static constexpr int a = tile + 4, b = depth + 4;
};
template <>
struct Pad<float> {
    static constexpr int a = tile + 4, b = depth + 4;
};

template <class Real>
struct Stage {
    alignas(16) Real a[depth * Pad<Real>::a];  // [k][row]
    alignas(16) Real b[tile * Pad<Real>::b];   // [column][k]
};

/// Copies 16 bytes: reads the first `valid`, and sets the others to zero.
__device__ void copy_async(void* to, const void* from, int valid) {
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(valid)
                 : "memory");
}
__device__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int left>
__device__ void wait_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}

template <class Real>
__device__ void fetch(Stage<Real>& stage, const Real* a, int lda, const Real* b, int ldb, int rows, int inner,
                      int columns, int row, int column, int k) {
    constexpr int vector = 16 / sizeof(Real);
    const int tid = static_cast<int>(threadIdx.x);
    for (int i = tid; i < depth * tile / vector; i += block) {
        const int r = i % (tile / vector) * vector, q = i / (tile / vector);
        const int valid = k + q < inner ? min(max(rows - row - r, 0), vector) : 0;
        const Real* from = valid > 0 ? a + static_cast<std::size_t>(k + q) * lda + row + r : a;
        copy_async(&stage.a[q * Pad<Real>::a + r], from, valid * static_cast<int>(sizeof(Real)));
    }
    for (int i = tid; i < depth * tile / vector; i += block) {
        const int q = i % (depth / vector) * vector, c = i / (depth / vector);
        const int valid = column + c < columns ? min(max(inner - k - q, 0), vector) : 0;
        const Real* from = valid > 0 ? b + static_cast<std::size_t>(column + c) * ldb + k + q : b;
        copy_async(&stage.b[c * Pad<Real>::b + q], from, valid * static_cast<int>(sizeof(Real)));
    }
}

/// 32×32 of the product in a warp.
template <class Real>
struct Accumulator;

template <>
struct Accumulator<double> {
    double sum[2][4][4] = {};  // [rows of 16][columns of 8]

    __device__ void add(const Stage<double>& stage, int row, int column, int lane) {
        const int group = lane / 4, member = lane % 4;
#pragma unroll
        for (int k = 0; k < depth; k += 8) {
            double a[2][4], b[4][2];
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int q = 0; q < 4; ++q)
                    a[i][q] =
                        stage.a[(k + member + q / 2 * 4) * Pad<double>::a + row + 16 * i + group + q % 2 * 8];
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int q = 0; q < 2; ++q)
                    b[j][q] = stage.b[(column + 8 * j + group) * Pad<double>::b + k + member + q * 4];
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) multiply_add(sum[i][j], a[i], b[j]);
        }
    }

    template <class Write>
    __device__ void each(int lane, Write write) const {
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int q = 0; q < 4; ++q)
                    write(16 * i + lane / 4 + q / 2 * 8, 8 * j + lane % 4 * 2 + q % 2, sum[i][j][q]);
    }
};

template <>
struct Accumulator<float> {
    float sum[4][8] = {};  // rows lane % 8 + 8 i, columns lane / 8 + 4 j

    __device__ void add(const Stage<float>& stage, int row, int column, int lane) {
#pragma unroll
        for (int k = 0; k < depth; ++k) {
            float a[4], b[8];
#pragma unroll
            for (int i = 0; i < 4; ++i) a[i] = stage.a[k * Pad<float>::a + row + lane % 8 + 8 * i];
#pragma unroll
            for (int j = 0; j < 8; ++j) b[j] = stage.b[(column + lane / 8 + 4 * j) * Pad<float>::b + k];
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
        }
    }

    template <class Write>
    __device__ void each(int lane, Write write) const {
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 8; ++j) write(lane % 8 + 8 * i, lane / 8 + 4 * j, sum[i][j]);
    }
};

template <class Real>
__global__ __launch_bounds__(block) void multiply_tiles(int rows, int inner, int columns,
                                                        Operand<const Real> a, Operand<const Real> b,
                                                        Operand<Real> out, unsigned long long* largest) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    auto* const stage = reinterpret_cast<Stage<Real>*>(shared_bytes);
    // Tiles of one matrix are adjacent in the grid, so that they share the cache.
    const int across = (rows + tile - 1) / tile, tiles = across * ((columns + tile - 1) / tile);
    const std::size_t number = blockIdx.x / static_cast<unsigned>(tiles);
    const int place = static_cast<int>(blockIdx.x % static_cast<unsigned>(tiles));
    const int row = place % across * tile, column = place / across * tile;
    const Real* from_a = a.data + number * a.stride;
    const Real* from_b = b.data + number * b.stride;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int warp_row = warp % 2 * 32, warp_column = warp / 2 * 32;
    const int steps = (inner + depth - 1) / depth;

    const auto begin = [&](int step) {
        if (step < steps)
            fetch(stage[step % stages], from_a, a.leading, from_b, b.leading, rows, inner, columns, row,
                  column, step * depth);
        commit_copies();
    };
    for (int step = 0; step < stages - 1; ++step) begin(step);
    Accumulator<Real> sum;
    for (int step = 0; step < steps; ++step) {
        wait_copies<stages - 2>();
        __syncthreads();
        begin(step + stages - 1);
        sum.add(stage[step % stages], warp_row, warp_column, lane);
    }

    Real* const to = out.data + number * out.stride;
    Real top = 0;
    sum.each(lane, [&](int i, int j, Real x) {
        i += row + warp_row;
        j += column + warp_column;
        if (i >= rows || j >= columns) return;
        to[static_cast<std::size_t>(j) * out.leading + i] = x;
        top = max(top, abs(x));
    });
    if (largest == nullptr) return;
    top = largest_of_warp(top);
    if (lane == 0)
        atomicMax(largest + number,
                  static_cast<unsigned long long>(__double_as_longlong(static_cast<double>(top))));
}

}  // namespace

template <class Real>
void multiply(int rows, int inner, int columns, int count, Operand<const Real> a, Operand<const Real> b,
              Operand<Real> out, unsigned long long* largest, cudaStream_t stream) {
    if (count == 0) return;
    constexpr int bytes = stages * static_cast<int>(sizeof(Stage<Real>));
    allow_shared(multiply_tiles<Real>, bytes);
    const int tiles = (rows + tile - 1) / tile * ((columns + tile - 1) / tile);
    multiply_tiles<Real>
        <<<static_cast<unsigned>(tiles) * static_cast<unsigned>(count), block, bytes, stream>>>(
            rows, inner, columns, a, b, out, largest);
    check(cudaGetLastError(), "multiply");
}

template void multiply(int, int, int, int, Operand<const double>, Operand<const double>, Operand<double>,
                       unsigned long long*, cudaStream_t);
template void multiply(int, int, int, int, Operand<const float>, Operand<const float>, Operand<float>,
                       unsigned long long*, cudaStream_t);

}  // namespace spectra::montecarlo::cuda
