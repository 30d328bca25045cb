#pragma once

#include "montecarlo/cuda/sampling.cuh"

namespace spectra::montecarlo::cuda {

/// What montecarlo/forward.hpp holds of a network run forward, for a batch: x[s] = 2^exponent[s] values[s],
/// `size` numbers apart.
struct Forward {
    double* values = nullptr;
    int* exponents = nullptr;
    double *carried = nullptr, *branch = nullptr;  ///< to work with, as large as values
};

/// branch = W x, summed in order; W divided by 2^exponent of the layer.
template <class Real>
void preactivations(Matrices<const Real> weights, Forward forward, cudaStream_t stream);

/// From h in `branch` on to the next layer: slopes φ'(h), x ← (A ⊗ I) x + φ(h). `exponent`: of the layer.
/// slopes null: a layer without noise, x ← (A ⊗ I) x.
void advance(int kind, PerSample exponent, Skip skip, int count, Forward forward, double* slopes,
             cudaStream_t stream);

}  // namespace spectra::montecarlo::cuda
