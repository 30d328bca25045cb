#pragma once

#include "montecarlo/cuda/graded_state.cuh"
#include "montecarlo/cuda/sampling.cuh"

namespace spectra::montecarlo::cuda {

/// linalg/graded.hpp for a batch of products: one block of threads per sample, matrices in device memory, one
/// column at a time in the registers of a warp. There are two differences. C is always factorised with
/// pivoting, which costs nothing beside the reflections, because their warps already have the residuals. And
/// the norms of the inverse triangles are computed, not estimated.
///
/// The numbers of a sample do not depend on the other samples or their number.
class GradedProducts {
public:
    /// J = 1, `count` times.
    void start(int size, int count, cudaStream_t stream);
    /// J ← 2^exponent layer · J for every sample.
    void multiply(Matrices<const double> layers, PerSample exponent, cudaStream_t stream);
    /// ln s in ascending order, −∞ for zeros, NaN if a layer was not finite; `size` per sample. Destroys the
    /// products.
    void log_values(double* out, cudaStream_t stream);

    /// Complete after log_values().
    const GradedState* states() const { return states_.data(); }

    void release() { *this = GradedProducts(); }

private:
    Matrices<double> matrices(Buffer<double>& buffer, int size, int count);
    void factorise(Matrices<const double> layers, PerSample exponent, cudaStream_t stream);
    void normalise(Matrices<double> columns, int* peaks, cudaStream_t stream);

    Matrices<double> left_, right_;  // U and V
    Matrices<double> columns_;       // the matrix to factorise: C, or V; R replaces it
    Matrices<double> reflections_;
    Matrices<double> triangle_;  // P F
    Buffer<double> of_left_, of_right_, of_columns_, of_reflections_, of_triangle_;
    Buffer<int> exponents_, peaks_;
    Buffer<GradedState> states_;
};

}  // namespace spectra::montecarlo::cuda
