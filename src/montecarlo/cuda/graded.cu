#include "montecarlo/cuda/graded.cuh"

#include "montecarlo/cuda/product.cuh"

#include <cfloat>
#include <cmath>
#include <type_traits>
#include <utility>

namespace spectra::montecarlo::cuda {
namespace {

constexpr int block = 256, warps = block / 32;
/// Blocks a multiprocessor is to hold: what columns leave of the registers, measured.
constexpr int resident(int chunks) {
    return chunks <= 4 ? 4 : chunks <= 8 ? 2 : 1;
}
constexpr double unit = DBL_EPSILON / 2;
constexpr double most_error = 1e-3;

/// x·2^exponent for any exponent; what is below 2^−150 is nothing beside columns of norm ½.
__device__ double shifted(double x, int exponent) {
    return exponent < -150 ? 0 : ldexp(x, min(exponent, 2000));
}

__device__ int exponent_of(double x) {
    int exponent = 0;
    frexp(x, &exponent);
    return exponent;
}

__device__ double sum_of_warp(double x) {
    for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffU, x, step);
    return x;
}
__device__ double largest_of_warp(double x) {
    for (int step = 16; step > 0; step /= 2) x = fmax(x, __shfl_xor_sync(0xffffffffU, x, step));
    return x;
}

/// The largest of the block's, in every thread.
__device__ double largest_of_block(double x) {
    __shared__ double of_warp[warps];
    x = largest_of_warp(x);
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    for (const double other : of_warp) x = fmax(x, other);
    return x;
}

__device__ int lane_number() {
    return static_cast<int>(threadIdx.x) % 32;
}
__device__ int warp_number() {
    return static_cast<int>(threadIdx.x) / 32;
}

/// A column in a warp's registers: row lane + 32 c in x[c], zero from `size` on.
template <int chunks>
struct Column {
    double x[chunks];

    /// Zero above `first`.
    __device__ void load(const double* from, int size, int first = 0) {
#pragma unroll
        for (int c = 0; c < chunks; ++c) {
            const int i = lane_number() + 32 * c;
            x[c] = i >= first && i < size ? from[i] : 0;
        }
    }
    __device__ void store(double* to, int size, int first = 0) const {
#pragma unroll
        for (int c = 0; c < chunks; ++c) {
            const int i = lane_number() + 32 * c;
            if (i >= first && i < size) to[i] = x[c];
        }
    }
    __device__ void set_unit(int row) {
#pragma unroll
        for (int c = 0; c < chunks; ++c) x[c] = lane_number() + 32 * c == row ? 1 : 0;
    }
    __device__ void add(int row, double y) {
#pragma unroll
        for (int c = 0; c < chunks; ++c)
            if (lane_number() + 32 * c == row) x[c] += y;
    }
    /// this += factor · other
    __device__ void add(double factor, const Column& other) {
#pragma unroll
        for (int c = 0; c < chunks; ++c) x[c] += factor * other.x[c];
    }
    __device__ void scale(double factor) {
#pragma unroll
        for (int c = 0; c < chunks; ++c) x[c] *= factor;
    }
    __device__ double dot(const Column& other) const {
        double sum = 0;
#pragma unroll
        for (int c = 0; c < chunks; ++c) sum += x[c] * other.x[c];
        return sum_of_warp(sum);
    }
    /// From row `first` on.
    __device__ double norm2(int first = 0) const {
        double sum = 0;
#pragma unroll
        for (int c = 0; c < chunks; ++c)
            if (lane_number() + 32 * c >= first) sum += x[c] * x[c];
        return sum_of_warp(sum);
    }
    __device__ double absolute_sum() const {
        double sum = 0;
#pragma unroll
        for (int c = 0; c < chunks; ++c) sum += fabs(x[c]);
        return sum_of_warp(sum);
    }
};

/// What the kernels work on: sample s has its matrices, `size` exponents and a state.
struct Products {
    int size = 0;
    int leading = 0;
    std::size_t stride = 0;
    int* exponents = nullptr;
    GradedState* states = nullptr;

    __device__ double* matrix(double* data) const { return data + blockIdx.x * stride; }
    __device__ int* own_exponents() const {
        return exponents + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(size);
    }
    __device__ std::size_t at(int j) const {
        return static_cast<std::size_t>(j) * static_cast<std::size_t>(leading);
    }
};

struct Factorisation {
    double* columns = nullptr;
    double* reflections = nullptr;
    double* triangle = nullptr;
    double* left = nullptr;         // for Q; null: it is not wanted
    const double* layer = nullptr;  // that the columns are of; null: they are their own
    PerSample exponent;             // the layer's
};

/// Vectors of a factorisation in shared memory. Columns stay in place: order()[j] says which is the j-th.
struct Vectors {
    int size;
    double *diagonal, *kappa, *sums;
    int *chosen, *place, *exponents;  // chosen[k]: the pivot of step k; place[chosen[k]] = k

    static constexpr int bytes_a_column = 5 * sizeof(double) + 5 * sizeof(int);
    __device__ Vectors(unsigned char* memory, int the_size) : size(the_size) {
        diagonal = reinterpret_cast<double*>(memory);
        kappa = diagonal + size;
        sums = kappa + size;
        chosen = reinterpret_cast<int*>(sums + 3 * size);
        place = chosen + size;
        exponents = place + size;
    }
    // By place in the order, at even and odd steps.
    /// e + log2 of residuals; −∞: taken as zero.
    __device__ double* sizes(int odd) const { return sums + (1 + odd) * size; }
    __device__ int* order(int odd) const { return exponents + (1 + odd) * size; }
};

/// Σ sums, in a fixed order, in every thread.
__device__ double total(const double* sums, int count) {
    double sum = 0;
    for (int j = lane_number(); j < count; j += 32) sum += sums[j];
    return sum_of_warp(sum);
}

/// False: the layer is not finite. norm and shift: of layer / 2^shift, the largest entry in [½, 1).
template <int chunks>
__device__ bool measure_layer(const Products& products, const double* layer, double* sums, double& norm,
                              int& shift) {
    const int size = products.size;
    Column<chunks> column;
    double top = 0;
    int finite = 1;
    for (int j = warp_number(); j < size; j += warps) {
        column.load(layer + products.at(j), size);
        for (const double x : column.x) {
            top = fmax(top, fabs(x));
            finite &= isfinite(x) ? 1 : 0;
        }
    }
    if (__syncthreads_and(finite) == 0) return false;
    shift = min(max(exponent_of(largest_of_block(top)), -1000), 1000);
    for (int j = warp_number(); j < size; j += warps) {
        column.load(layer + products.at(j), size);
        column.scale(ldexp(1.0, -shift));
        const double norm2 = column.norm2();
        if (lane_number() == 0) sums[j] = norm2;
    }
    __syncthreads();
    norm = sqrt(total(sums, size));
    return true;
}

/// The place of the largest size from `first` on; the first of equals. `largest` −∞: there is none.
__device__ int find_pivot(const double* sizes, int first, int count, double& largest) {
    largest = -INFINITY;
    int place = count;
    for (int j = first + lane_number(); j < count; j += 32) {
        if (sizes[j] > largest) {
            largest = sizes[j];
            place = j;
        }
    }
    for (int step = 16; step > 0; step /= 2) {
        const double other = __shfl_xor_sync(0xffffffffU, largest, step);
        const int of_other = __shfl_xor_sync(0xffffffffU, place, step);
        if (other > largest || (other == largest && of_other < place)) {
            largest = other;
            place = of_other;
        }
    }
    return place;
}

struct Rank {
    int rank = 0;
    double cut = -INFINITY;  // the size of what is taken as zero
    double last = INFINITY;  // that of the last pivot
};

/// Pivoted QR of `count` columns, H = I − κ y yᵀ, the y of step k in column k of `reflections`. All but the
/// application of reflections is done by every warp alike: the block meets once a step.
template <int chunks>
__device__ Rank reflect(const Products& products, double* columns, double* reflections, int count,
                        double zero, double scale, const Vectors& vectors) {
    const int size = products.size, lane = lane_number();
    Rank out;
    double cut = -INFINITY;
    // The residual of `column` in the rows from `first` on.
    const auto keep = [&](Column<chunks>& residual, int first, int place, int column, double* sizes,
                          int* order) {
        const double norm = sqrt(residual.norm2(first));
        const double exponent = vectors.exponents[column];
        if (norm > 0 && !(norm > zero)) {
#pragma unroll
            for (int c = 0; c < chunks; ++c)
                if (lane + 32 * c >= first) residual.x[c] = 0;
            cut = fmax(cut, exponent + log2(zero));
        }
        if (lane == 0) {
            sizes[place] = norm > zero ? exponent + log2(norm) : -INFINITY;
            order[place] = column;
        }
    };

    Column<chunks> y, column;
    for (int j = warp_number(); j < count; j += warps) {
        column.load(columns + products.at(j), size);
        column.scale(scale);
        keep(column, 0, j, j, vectors.sizes(0), vectors.order(0));
        column.store(columns + products.at(j), size);
    }
    for (int now = 0; out.rank < count; ++out.rank, now = 1 - now) {
        __syncthreads();
        const int k = out.rank;
        const int* const order = vectors.order(now);
        double largest = 0;
        const int pivot = find_pivot(vectors.sizes(now), k, count, largest);
        if (largest == -INFINITY) break;
        out.last = largest;
        const double* const of_pivot = columns + products.at(order[pivot]);
        y.load(of_pivot, size, k);
        const double norm = sqrt(y.norm2());
        const double first = of_pivot[k] / norm;
        const double sign = first < 0 ? -1 : 1;
        const double kappa = 1 / (1 + fabs(first));
        y.scale(1 / norm);
        y.add(k, sign);
        if (warp_number() == 0) {
            y.store(reflections + products.at(k), size);
            if (lane == 0) {
                vectors.kappa[k] = kappa;
                vectors.diagonal[k] = -sign * norm;
                vectors.chosen[k] = order[pivot];
                vectors.place[order[pivot]] = k;
            }
        }
        for (int j = k + 1 + warp_number(); j < count; j += warps) {
            const int from = j == pivot ? k : j;
            const int number = order[from];
            if (vectors.sizes(now)[from] == -INFINITY) {
                if (lane == 0) {
                    vectors.sizes(1 - now)[j] = -INFINITY;
                    vectors.order(1 - now)[j] = number;
                }
                continue;
            }
            column.load(columns + products.at(number), size, k);
            column.add(-kappa * y.dot(column), y);
            keep(column, k + 1, j, number, vectors.sizes(1 - now), vectors.order(1 - now));
            column.store(columns + products.at(number), size, k);
        }
    }
    out.cut = largest_of_block(cut);
    return out;
}

/// ‖R⁻¹‖ times `norm` or ‖R‖, whichever is larger; norms of columns' sums. A warp solves R x = e_j.
template <int chunks>
__device__ double condition(const Products& products, const double* columns, int rank, double norm,
                            const Vectors& vectors) {
    double own = 0, inverse = 0;
    Column<chunks> x, column;
    for (int j = warp_number(); j < rank; j += warps) {
        column.load(columns + products.at(vectors.chosen[j]), j);
        own = fmax(own, column.absolute_sum() + fabs(vectors.diagonal[j]));
        x.set_unit(j);
#pragma unroll
        for (int c = chunks - 1; c >= 0; --c) {
            for (int k = min(j, 32 * c + 31); k >= 32 * c; --k) {
                const double value = __shfl_sync(0xffffffffU, x.x[c], k % 32) / vectors.diagonal[k];
                column.load(columns + products.at(vectors.chosen[k]), k);
#pragma unroll
                for (int b = 0; b <= c; ++b) x.x[b] -= value * column.x[b];
                if (lane_number() == k % 32) x.x[c] = value;
            }
        }
        const double sum = x.absolute_sum();
        inverse = isfinite(sum) ? fmax(inverse, sum) : INFINITY;
    }
    own = largest_of_block(own);
    inverse = largest_of_block(inverse);
    return fmax(1.0, norm / own) / fmax(1 / (own * inverse), unit * unit);
}

/// P F, and e' with it.
__device__ void take_triangle(const Products& products, const double* columns, int count, int rank,
                              const Vectors& vectors, double* triangle) {
    int* const exponents = products.own_exponents();
    for (int i = warp_number(); i < products.size; i += warps) {
        const bool kept = i < rank;
        const int exponent =
            kept ? vectors.exponents[vectors.chosen[i]] + exponent_of(vectors.diagonal[i]) : 0;
        if (lane_number() == 0) exponents[i] = exponent;
        for (int j = lane_number(); j < products.size; j += 32) {
            double x = 0;
            if (kept && j < count && vectors.place[j] >= i) {
                x = vectors.place[j] == i ? vectors.diagonal[i] : columns[products.at(j) + i];
                x = shifted(x, vectors.exponents[j] - exponent);
            }
            triangle[products.at(i) + j] = x;
        }
    }
}

/// The first columns of Q = H_0 H_1 ···; zeros in place of the others.
template <int chunks>
__device__ void take_orthonormal(const Products& products, const double* reflections, int rank,
                                 const Vectors& vectors, double* left) {
    // Two at a time: reflections of number j + 1 leave e_j as it is.
    Column<chunks> first, second, y;
    for (int j = 2 * warp_number(); j < products.size; j += 2 * warps) {
        first.set_unit(j < rank ? j : -1);
        second.set_unit(j + 1 < rank ? j + 1 : -1);
        for (int k = j < rank ? min(j + 1, rank - 1) : -1; k >= 0; --k) {
            y.load(reflections + products.at(k), products.size, k);
            const double kappa = vectors.kappa[k];
            first.add(-kappa * y.dot(first), y);
            second.add(-kappa * y.dot(second), y);
        }
        first.store(left + products.at(j), products.size);
        if (j + 1 < products.size) second.store(left + products.at(j + 1), products.size);
    }
}

template <int chunks>
__global__ __launch_bounds__(block, resident(chunks)) void factorise_kernel(Products products,
                                                                            Factorisation f) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    const int size = products.size, thread = static_cast<int>(threadIdx.x);
    GradedState& state = products.states[blockIdx.x];
    const int count = state.rank;
    if (state.info != 0) return;
    const Vectors vectors(shared_bytes, size);
    double* const columns = products.matrix(f.columns);
    double norm = 0;
    int shift = 0;
    if (f.layer != nullptr) {
        const double* const layer = f.layer + blockIdx.x * products.stride;
        if (!measure_layer<chunks>(products, layer, vectors.sums, norm, shift)) {
            if (thread == 0) state.info = 1;
            return;
        }
    } else {
        Column<chunks> column;
        for (int j = warp_number(); j < count; j += warps) {
            column.load(columns + products.at(j), size);
            const double norm2 = column.norm2();
            if (lane_number() == 0) vectors.sums[j] = norm2;
        }
        __syncthreads();
        norm = sqrt(total(vectors.sums, count));
    }
    int added = shift;
    if (f.exponent.data != nullptr)
        added += static_cast<int>(f.exponent.data[blockIdx.x * f.exponent.stride]);
    for (int j = thread; j < size; j += block) {
        vectors.exponents[j] = products.own_exponents()[j] + added;
        vectors.place[j] = size;
    }
    __syncthreads();
    const double zero = 16 * sqrt(static_cast<double>(size)) * unit * norm;
    double* const reflections = products.matrix(f.reflections);
    const Rank found =
        reflect<chunks>(products, columns, reflections, count, zero, ldexp(1.0, -shift), vectors);
    __syncthreads();
    double condition2 = 0;
    if (found.rank > 0) {
        const double of_triangle = condition<chunks>(products, columns, found.rank, norm, vectors);
        condition2 =
            of_triangle * of_triangle + exp2(fmin(2 * (found.cut - found.last), 900.0)) / (unit * unit);
    }
    take_triangle(products, columns, count, found.rank, vectors, products.matrix(f.triangle));
    if (f.left != nullptr)
        take_orthonormal<chunks>(products, reflections, found.rank, vectors, products.matrix(f.left));
    if (thread == 0) {
        state.condition2 += condition2;
        state.rank_before = count;
        state.rank = found.rank;
    }
}

/// Brings the norm of a column to [½, 1) and its power of two to `exponent`; the square of the norm.
template <int chunks>
__device__ double normalise(Column<chunks>& column, int& exponent) {
    const double norm2 = column.norm2();
    const int shift = exponent_of(sqrt(norm2));
    if (shift == 0) return norm2;
    column.scale(ldexp(1.0, -shift));
    exponent += shift;
    return column.norm2();
}

/// With peaks, the largest e_i − e_j so far, i < j: log2 g as well.
template <int chunks>
__global__ __launch_bounds__(block) void normalise_kernel(Products products, double* matrices, int* peaks) {
    GradedState& state = products.states[blockIdx.x];
    const int size = products.size, rank = state.rank;
    const bool same_rank = rank == state.rank_before;
    if (state.info != 0) return;
    double* const columns = products.matrix(matrices);
    int* const exponents = products.own_exponents();
    Column<chunks> column;
    for (int j = warp_number(); j < rank; j += warps) {
        column.load(columns + products.at(j), size);
        int exponent = exponents[j];
        normalise(column, exponent);
        column.store(columns + products.at(j), size);
        if (lane_number() == 0) exponents[j] = exponent;
    }
    if (peaks == nullptr) return;
    __syncthreads();
    peaks += blockIdx.x * static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
    int fall = 0;
    for (int i = warp_number(); i < rank; i += warps) {
        for (int j = i + 1 + lane_number(); j < rank; j += 32) {
            int& peak = peaks[static_cast<std::size_t>(i) * static_cast<std::size_t>(size) + j];
            const int ratio = exponents[i] - exponents[j];
            peak = same_rank ? max(peak, ratio) : ratio;
            fall = max(fall, peak - ratio);
        }
    }
    const double largest = largest_of_block(fall);
    if (threadIdx.x == 0) state.fall = max(state.fall, static_cast<int>(largest));
}

/// Rotations of two columns (graded.hpp), by a warp.
template <int chunks>
struct Rotations {
    const Products& products;
    double* columns;
    double* norms2;
    int* exponents;
    double tolerance;

    __device__ double ratio2(int i, int j) const {
        return shifted(norms2[j] / norms2[i], 2 * (exponents[j] - exponents[i]));
    }

    __device__ void measure(int j) const {
        Column<chunks> column;
        column.load(columns + products.at(j), products.size);
        int exponent = exponents[j];
        const double norm2 = normalise(column, exponent);
        column.store(columns + products.at(j), products.size);
        set(j, norm2, exponent);
    }

    __device__ void set(int j, double norm2, int exponent) const {
        __syncwarp();
        if (lane_number() == 0) {
            norms2[j] = norm2;
            exponents[j] = exponent;
        }
        __syncwarp();
    }

    /// False where the two are orthogonal to rounding.
    __device__ bool turn(int i, int j) const {
        Column<chunks> large, small;
        large.load(columns + products.at(i), products.size);
        small.load(columns + products.at(j), products.size);
        const double norms = sqrt(norms2[i] * norms2[j]);
        const double dot = large.dot(small);
        if (!(fabs(dot) > tolerance * norms)) return false;
        if (ratio2(i, j) > 1) {
            turn(j, i, small, large, dot / norms);
        } else {
            turn(i, j, large, small, dot / norms);
        }
        return true;
    }

    __device__ void turn(int i, int j, Column<chunks>& large, Column<chunks>& small, double gamma) const {
        const double rho2 = ratio2(i, j), of_large = norms2[i], of_small = norms2[j];
        const double tau = 2 * gamma / (1 - rho2 + hypot(1 - rho2, 2 * sqrt(rho2) * gamma));
        const double units = sqrt(of_small / of_large);
        if (rho2 < 0x1p-120) {
            small.add(-tau * units, large);
        } else {
            const double cosine = 1 / sqrt(1 + rho2 * tau * tau);
            const double of_sum = cosine * rho2 * tau / units, of_difference = cosine * tau * units;
#pragma unroll
            for (int c = 0; c < chunks; ++c) {
                const double x = large.x[c], y = small.x[c];
                large.x[c] = cosine * x + of_sum * y;
                small.x[c] = cosine * y - of_difference * x;
            }
            large.store(columns + products.at(i), products.size);
        }
        int exponent = exponents[j];
        // |y'|² = |y|² (1 − τγ), but where that cancels.
        const double norm2 = tau * gamma < 0.5 ? of_small * (1 - tau * gamma) : normalise(small, exponent);
        small.store(columns + products.at(j), products.size);
        set(i, of_large * (1 + rho2 * tau * gamma), exponents[i]);
        set(j, norm2, exponent);
    }
};

/// Every column meets every other once a sweep, count/2 pairs at a time. False: no convergence.
template <int chunks>
__device__ bool orthogonalise(const Rotations<chunks>& rotations, int count) {
    constexpr int most_sweeps = 60;
    const int turning = (count + 1) / 2 * 2 - 1;  // the last column stays, the others move in a circle
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        for (int j = warp_number(); j < count; j += warps) rotations.measure(j);
        int turned = 0;
        for (int round = 0; round < turning; ++round) {
            __syncthreads();
            for (int pair = warp_number(); 2 * pair < turning; pair += warps) {
                const int a = pair == 0 ? turning : (round + pair) % turning;
                const int b = (round + turning - pair) % turning;
                if (max(a, b) < count && rotations.turn(min(a, b), max(a, b))) turned = 1;
            }
        }
        if (__syncthreads_or(turned) == 0) return true;
    }
    return false;
}

template <int chunks>
__global__ __launch_bounds__(block, resident(chunks)) void log_values_kernel(Products products,
                                                                             double* matrices, double* out) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    GradedState& state = products.states[blockIdx.x];
    const int size = products.size, rank = state.rank, thread = static_cast<int>(threadIdx.x);
    out += static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(size);
    if (state.info != 0) {
        for (int j = thread; j < size; j += block) out[j] = NAN;
        return;
    }
    auto* const norms2 = reinterpret_cast<double*>(shared_bytes);
    auto* const exponents = reinterpret_cast<int*>(norms2 + size);
    for (int j = thread; j < size; j += block) exponents[j] = products.own_exponents()[j];
    __syncthreads();
    const Rotations<chunks> rotations{products, products.matrix(matrices), norms2, exponents,
                                      unit * max(size, 8)};
    const bool converged = orthogonalise(rotations, rank);
    // The values in place of the norms.
    Column<chunks> column;
    for (int j = warp_number(); j < size; j += warps) {
        double value = -INFINITY;
        if (j < rank) {
            column.load(rotations.columns + products.at(j), size);
            value = log(sqrt(column.norm2())) + exponents[j] * M_LN2;
        }
        if (lane_number() == 0) norms2[j] = value;
    }
    __syncthreads();
    for (int j = thread; j < size; j += block) {
        int place = 0;
        for (int i = 0; i < size; ++i)
            place += norms2[i] < norms2[j] || (norms2[i] == norms2[j] && i < j) ? 1 : 0;
        out[place] = norms2[j];
    }
    const double error =
        unit * (8 * sqrt(static_cast<double>(size)) + ldexp(sqrt(state.condition2), min(state.fall, 500)));
    if (thread == 0 && !(converged && error <= most_error)) state.info = 2;
}

__global__ __launch_bounds__(block) void start_kernel(Products products, double* left, double* right) {
    const int size = products.size;
    if (threadIdx.x == 0) products.states[blockIdx.x] = GradedState{0, size, size, 0, 0};
    for (int j = warp_number(); j < size; j += warps) {
        if (lane_number() == 0) products.own_exponents()[j] = 0;
        for (int i = lane_number(); i < size; i += 32)
            products.matrix(left)[products.at(j) + i] = products.matrix(right)[products.at(j) + i] =
                i == j ? 1 : 0;
    }
}

/// In multiples of 16: the compiler joins loads.
std::size_t shared_size(int size, int bytes_a_column) {
    return (static_cast<std::size_t>(size) * static_cast<std::size_t>(bytes_a_column) + 15) / 16 * 16;
}

/// Calls with the registers a column needs, as std::integral_constant.
template <class Call>
void with_chunks(int size, Call call) {
    if (size <= 32) return call(std::integral_constant<int, 1>());
    if (size <= 64) return call(std::integral_constant<int, 2>());
    if (size <= 128) return call(std::integral_constant<int, 4>());
    if (size <= 256) return call(std::integral_constant<int, 8>());
    if (size <= 512) return call(std::integral_constant<int, 16>());
    call(std::integral_constant<int, max_graded_size / 32>());
}

Products products_of(const Matrices<double>& m, int* exponents, GradedState* states) {
    return {m.size, m.leading, m.stride, exponents, states};
}

Operand<double> operand(const Matrices<double>& m) {
    return {m.data, m.leading, m.stride};
}

Operand<const double> constant_operand(const Matrices<double>& m) {
    return {m.data, m.leading, m.stride};
}

template <class T>
void reserve(Buffer<T>& buffer, std::size_t numbers) {
    if (buffer.size() >= numbers) return;
    buffer = Buffer<T>();
    buffer = Buffer<T>(numbers);
}

}  // namespace

Matrices<double> GradedProducts::matrices(Buffer<double>& buffer, int size, int count) {
    const int leading = leading_dimension(size);
    const std::size_t stride = static_cast<std::size_t>(leading) * static_cast<std::size_t>(size);
    reserve(buffer, stride * static_cast<std::size_t>(count));
    return {buffer.data(), size, leading, stride, count};
}

void GradedProducts::start(int size, int count, cudaStream_t stream) {
    left_ = matrices(of_left_, size, count);
    right_ = matrices(of_right_, size, count);
    columns_ = matrices(of_columns_, size, count);
    reflections_ = matrices(of_reflections_, size, count);
    triangle_ = matrices(of_triangle_, size, count);
    const auto numbers = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
    reserve(exponents_, numbers);
    reserve(peaks_, numbers * static_cast<std::size_t>(size));
    reserve(states_, static_cast<std::size_t>(count));
    check(cudaMemsetAsync(peaks_.data(), 0, numbers * static_cast<std::size_t>(size) * sizeof(int), stream),
          "cudaMemset");
    start_kernel<<<static_cast<unsigned>(count), block, 0, stream>>>(
        products_of(left_, exponents_.data(), states_.data()), left_.data, right_.data);
    check(cudaGetLastError(), "GradedProducts::start");
}

void GradedProducts::factorise(Matrices<const double> layers, PerSample exponent, cudaStream_t stream) {
    const Factorisation f{columns_.data,  reflections_.data,
                          triangle_.data, layers.data != nullptr ? left_.data : nullptr,
                          layers.data,    exponent};
    const std::size_t bytes = shared_size(columns_.size, Vectors::bytes_a_column);
    with_chunks(columns_.size, [&](auto chunks) {
        const auto kernel = factorise_kernel<decltype(chunks)::value>;
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes)),
              "cudaFuncSetAttribute");
        kernel<<<static_cast<unsigned>(columns_.count), block, bytes, stream>>>(
            products_of(columns_, exponents_.data(), states_.data()), f);
    });
    check(cudaGetLastError(), "GradedProducts::factorise");
}

void GradedProducts::normalise(Matrices<double> columns, int* peaks, cudaStream_t stream) {
    with_chunks(columns.size, [&](auto chunks) {
        normalise_kernel<decltype(chunks)::value><<<static_cast<unsigned>(columns.count), block, 0, stream>>>(
            products_of(columns, exponents_.data(), states_.data()), columns.data, peaks);
    });
    check(cudaGetLastError(), "GradedProducts::normalise");
}

void GradedProducts::multiply(Matrices<const double> layers, PerSample exponent, cudaStream_t stream) {
    const int size = layers.size;
    cuda::multiply<double>(size, size, size, layers.count, {layers.data, layers.leading, layers.stride},
                           constant_operand(left_), operand(columns_), nullptr, stream);
    factorise(layers, exponent, stream);
    cuda::multiply<double>(size, size, size, layers.count, constant_operand(right_),
                           constant_operand(triangle_), operand(columns_), nullptr, stream);
    std::swap(right_, columns_);
    normalise(right_, peaks_.data(), stream);
}

void GradedProducts::log_values(double* out, cudaStream_t stream) {
    constexpr int factorisations = 3;
    std::swap(columns_, right_);
    for (int k = 0; k < factorisations; ++k) {
        factorise({}, {}, stream);
        normalise(triangle_, nullptr, stream);
        std::swap(columns_, triangle_);
    }
    const std::size_t bytes = shared_size(columns_.size, sizeof(double) + sizeof(int));
    with_chunks(columns_.size, [&](auto chunks) {
        log_values_kernel<decltype(chunks)::value>
            <<<static_cast<unsigned>(columns_.count), block, bytes, stream>>>(
                products_of(columns_, exponents_.data(), states_.data()), columns_.data, out);
    });
    check(cudaGetLastError(), "GradedProducts::log_values");
}

}  // namespace spectra::montecarlo::cuda
