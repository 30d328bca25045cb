#include "montecarlo/cuda/product.cuh"

#include "montecarlo/cuda/fragments.cuh"
#include "montecarlo/cuda/launch.cuh"
#include "montecarlo/cuda/warp.cuh"

#include <type_traits>

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

/// What a thread copies of the operands: in every step the same rows of a and columns of b, so that most of their
/// addresses is known before.
template <class Real>
class Copies {
    static constexpr int vector = 16 / sizeof(Real), each = depth * tile / vector / block;
    static constexpr int apart_a = block / (tile / vector), apart_b = block / (depth / vector);
    static_assert(each * block * vector == depth * tile);

public:
    /// Of the tile that begins at (row, column), from matrices `rows`×`inner` and `inner`×`columns`.
    __device__ Copies(const Real* a, int lda, const Real* b, int ldb, int rows, int inner, int columns, int row,
                      int column)
        : lda_(static_cast<std::size_t>(lda)), ldb_(static_cast<std::size_t>(ldb)), inner_(inner), b_(b) {
        const int tid = static_cast<int>(threadIdx.x);
        row_ = tid % (tile / vector) * vector;
        k_of_a_ = tid / (tile / vector);
        column_ = tid / (depth / vector);
        k_of_b_ = tid % (depth / vector) * vector;
        valid_of_a_ = bytes(rows - row - row_);
        columns_ = columns - column - column_;
        from_a_ = valid_of_a_ > 0 ? a + row + row_ : a;
        from_b_ = b + static_cast<std::size_t>(column + column_) * ldb_ + k_of_b_;
    }

    __device__ void start(Stage<Real>& stage, int k) const {
        const int valid_of_b = bytes(inner_ - k - k_of_b_);
#pragma unroll
        for (int p = 0; p < each; ++p) {
            const int q = k_of_a_ + p * apart_a;
            const bool inside = k + q < inner_;
            copy_async(&stage.a[q * Pad<Real>::a + row_],
                       inside ? from_a_ + static_cast<std::size_t>(k + q) * lda_ : from_a_,
                       inside ? valid_of_a_ : 0);
        }
#pragma unroll
        for (int p = 0; p < each; ++p) {
            const bool inside = p * apart_b < columns_ && valid_of_b > 0;
            copy_async(&stage.b[(column_ + p * apart_b) * Pad<Real>::b + k_of_b_],
                       inside ? from_b_ + k + static_cast<std::size_t>(p * apart_b) * ldb_ : b_,
                       inside ? valid_of_b : 0);
        }
    }

private:
    __device__ static int bytes(int left) {
        return min(max(left, 0), vector) * static_cast<int>(sizeof(Real));
    }

    std::size_t lda_, ldb_;
    int inner_, row_, k_of_a_, column_, k_of_b_, valid_of_a_, columns_;
    const Real *b_, *from_a_, *from_b_;
};

/// 32×32 of the product in a warp. `add` takes the first `deep` of a stage; what of the sums lies beyond `rows` and
/// `columns` may be left out, unless `whole`.
template <class Real>
struct Accumulator;

template <>
struct Accumulator<double> {
    double sum[2][4][4] = {};  // [rows of 16][columns of 8]

    template <bool whole>
    __device__ void add(const Stage<double>& stage, int row, int column, int deep, int rows, int columns,
                        int lane) {
        const int group = lane / 4, member = lane % 4;
#pragma unroll
        for (int k = 0; k < depth; k += 8) {
            if (k >= deep) return;
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
                for (int j = 0; j < 4; ++j)
                    if (whole || (16 * i < rows && 8 * j < columns)) multiply_add(sum[i][j], a[i], b[j]);
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

    template <bool>
    __device__ void add(const Stage<float>& stage, int row, int column, int, int, int, int lane) {
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

/// Blocks per processor: as many as its shared memory holds in double precision.
template <class Real>
constexpr int together = sizeof(Real) == 8 ? 3 : 5;

template <class Real>
__global__ __launch_bounds__(block, together<Real>) void multiply_tiles(int rows, int inner, int columns,
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
    // Tiles at the edges have less work for some places: these change between the warps of a processor.
    const int lane = lane_number(), warp = (warp_number() + static_cast<int>(number % 4)) % 4;
    const int warp_row = warp % 2 * 32, warp_column = warp / 2 * 32;
    const int rows_left = rows - row - warp_row, columns_left = columns - column - warp_column;
    const bool whole = rows_left > 16 && columns_left > 24;
    const int steps = (inner + depth - 1) / depth;

    const Copies<Real> copies(from_a, a.leading, from_b, b.leading, rows, inner, columns, row, column);
    const auto begin = [&](int step) {
        if (step < steps) copies.start(stage[step % stages], step * depth);
        commit_copies();
    };
    for (int step = 0; step < stages - 1; ++step) begin(step);
    Accumulator<Real> sum;
    const auto add = [&](auto is_whole, int step) {
        sum.template add<decltype(is_whole)::value>(stage[step % stages], warp_row, warp_column,
                                                    inner - step * depth, rows_left, columns_left, lane);
    };
    for (int step = 0; step < steps; ++step) {
        wait_copies<stages - 2>();
        __syncthreads();
        begin(step + stages - 1);
        if (whole)
            add(std::true_type(), step);
        else
            add(std::false_type(), step);
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
