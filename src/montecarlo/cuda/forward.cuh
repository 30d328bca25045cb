#pragma once

#include "montecarlo/cuda/sampling.cuh"

namespace spectra::montecarlo::cuda {

/// The state of a network run forward (montecarlo/sample/forward.hpp), for a batch: x[s] = 2^exponent[s]
/// values[s], with a stride of `size` numbers.
struct Forward {
    double* values = nullptr;
    int* exponents = nullptr;
    double *carried = nullptr, *branch = nullptr;  ///< workspace, as large as values
};

/// branch = W x, summed in order; W divided by 2^exponent of the layer.
template <class Real>
void preactivations(Matrices<const Real> weights, Forward forward, cudaStream_t stream);

/// Advances from h in `branch` to the next layer: slopes φ'(h), x ← (A ⊗ I) x + φ(h). `exponent` is that of
/// the layer. If slopes is null, the layer has no noise: x ← (A ⊗ I) x.
void advance(int kind, PerSample exponent, Skip skip, int count, Forward forward, double* slopes,
             cudaStream_t stream);

}  // namespace spectra::montecarlo::cuda
