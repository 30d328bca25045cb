#pragma once

#include "montecarlo/cuda/graded_columns.cuh"

/// Pivoted QR factorisation in units of 2^e, one block per matrix (linalg/graded.hpp describes the
/// algorithm).
namespace spectra::montecarlo::cuda::graded {

struct Factorisation {
    double* columns = nullptr;
    double* reflections = nullptr;
    double* triangle = nullptr;
    double* left = nullptr;         // for Q; null: not needed
    const double* layer = nullptr;  // the layer of the columns; null: they have none
    PerSample exponent;             // the layer's
};

/// Vectors of a factorisation in shared memory. Columns stay in place: order()[j] is the index of the j-th.
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
    // By position in the order, at even and odd steps.
    /// e + log2 of residuals; −∞: taken as zero.
    __device__ double* sizes(int odd) const { return sums + (1 + odd) * size; }
    __device__ int* order(int odd) const { return exponents + (1 + odd) * size; }
};

/// Σ sums, in a fixed order, in every thread.
__device__ inline double total(const double* sums, int count) {
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

/// The position of the largest size from `first` on; the first of equals. `largest` −∞: there is none.
__device__ inline int find_pivot(const double* sizes, int first, int count, double& largest) {
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
    double cut = -INFINITY;  // the size of residuals that are taken as zero
    double last = INFINITY;  // the size of the last pivot
};

/// Pivoted QR of `count` columns, H = I − κ y yᵀ, the y of step k in column k of `reflections`. Everything
/// except applying reflections is done redundantly by every warp: the block synchronises once per step.
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

/// ‖R⁻¹‖ times `norm` or ‖R‖, whichever is larger, with norms from sums over columns. A warp solves R x =
/// e_j.
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

/// P F, and e'.
__device__ inline void take_triangle(const Products& products, const double* columns, int count, int rank,
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

/// The first columns of Q = H_0 H_1 ···; the others are zero.
template <int chunks>
__device__ void take_orthonormal(const Products& products, const double* reflections, int rank,
                                 const Vectors& vectors, double* left) {
    // Two at a time: reflections from number j + 1 on do not change e_j.
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

}  // namespace spectra::montecarlo::cuda::graded
