#pragma once

#include "montecarlo/cuda/graded_columns.cuh"

/// One-sided Jacobi rotations of columns, each in its own unit, one block per matrix (linalg/graded.hpp).
namespace spectra::montecarlo::cuda::graded {

/// Rotations of two columns (linalg/graded.hpp), by one warp.
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

    /// False if the two are already orthogonal to rounding.
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
        // |y'|² = |y|² (1 − τγ), unless that cancels.
        const double norm2 = tau * gamma < 0.5 ? of_small * (1 - tau * gamma) : normalise(small, exponent);
        small.store(columns + products.at(j), products.size);
        set(i, of_large * (1 + rho2 * tau * gamma), exponents[i]);
        set(j, norm2, exponent);
    }
};

/// Every column is paired with every other once per sweep, count/2 pairs at a time. False: no convergence.
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

}  // namespace spectra::montecarlo::cuda::graded
