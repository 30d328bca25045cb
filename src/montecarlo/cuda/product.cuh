#pragma once

#include "montecarlo/cuda/runtime.cuh"

namespace spectra::montecarlo::cuda {

/// An operand of a batch of products, column-major.
template <class Real>
struct Operand {
    Real* data = nullptr;
    int leading = 0;         ///< a multiple of 8
    std::size_t stride = 0;  ///< elements between matrices, a multiple of 8
};

/// out = a·b for each of `count` matrices, rows×inner by inner×columns. largest[s] is raised to the largest
/// |entry| of product s, as the bits of a double; null: not needed.
///
/// Sums run over `inner` in order, in fused steps of eight (double, on the tensor cores) or one (float).
template <class Real>
void multiply(int rows, int inner, int columns, int count, Operand<const Real> a, Operand<const Real> b,
              Operand<Real> out, unsigned long long* largest, cudaStream_t stream);

}  // namespace spectra::montecarlo::cuda
