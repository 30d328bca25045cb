#pragma once

#include "montecarlo/cuda/activation.cuh"
#include "montecarlo/cuda/bisection.cuh"
#include "montecarlo/cuda/runtime.cuh"

#include <cstdint>

namespace spectra::montecarlo::cuda {

// Purpose of random/stream.hpp, which nvcc does not read; backend.cpp checks that they agree.
inline constexpr std::uint32_t branch_purpose = 2, slope_purpose = 4;

/// Numbers that may differ between samples, with a stride; 0 if all samples share them.
struct PerSample {
    const double* data = nullptr;
    std::size_t stride = 0;
};

/// Counters of random/stream.hpp for a batch: sample s of it is sample `first` + s of the run.
struct Draws {
    std::uint64_t seed = 0;
    std::uint32_t first = 0;
    std::uint32_t layer = 0;
};

/// A layer's mixer ⊗ I_p; streams = 0: none is added.
struct Skip {
    PerSample mixer;  ///< n×n, column-major
    int streams = 0;
    int width = 0;
};

/// φ'(h) of every neuron, from its law.
struct SlopeLaw {
    int kind = linear;
    double probability = 0;
    double deviation = 0;
};

/// slopes[s][i], with a stride of `size`.
void draw_slopes(SlopeLaw law, int size, int count, Draws draws, double* out, cudaStream_t stream);

/// x[s][i], with a stride of `size`: the inputs of forward.hpp.
void draw_inputs(int size, int count, Draws draws, double* x, cudaStream_t stream);

/// out = scale · diag(slopes) · normals + skip, with normals from number `skipped` of the stream on.
/// No slopes: null. No scale: 1.
template <class Real>
void draw_normals(Matrices<Real> out, Draws draws, std::uint32_t skipped, PerSample scale,
                  const double* slopes, Skip skip, cudaStream_t stream);

/// out = skip (if factor is null) or skip + (post preᵀ) ⊗ factor.
template <class Real>
void fill_layer(Matrices<Real> out, Skip skip, const double* pre, const double* post,
                Matrices<const Real> factor, cudaStream_t stream);

/// out = matrix + skip, plus what `out` holds if `onto`. All samples share the matrix, which has the leading dimension
/// of `out`.
template <class Real>
void add_shared(Matrices<Real> out, const Real* matrix, Skip skip, bool onto, cudaStream_t stream);

/// out = (preᵀ ⊗ I_p) in: p×N.
template <class Real>
void read_streams(Matrices<const Real> in, int streams, const double* pre, Real* out, int leading,
                  std::size_t stride, cudaStream_t stream);

/// out = (mixer ⊗ I_p) in, plus post ⊗ written if that is not null. largest as in product.cuh.
template <class Real>
void apply_mixer(Matrices<const Real> in, Skip skip, const double* post, const Real* written, int leading,
                 std::size_t stride, Matrices<Real> out, unsigned long long* largest, cudaStream_t stream);

/// Rescales matrices with a largest entry beyond 2^±limit so that it lies in [½, 1), and adjusts their
/// exponents.
template <class Real>
void rescale(Matrices<Real> matrices, const unsigned long long* largest, int limit, SampleState* states,
             cudaStream_t stream);

/// Products with the Q of factorise_qr (householder.cuh), transposed:
///
///     out = (Q diag(sign·values))ᵀ           if in is null
///     out = scale (Q diag(sign) in)ᵀ + skip  otherwise
///
/// so that two calls give scale U diag(values) Vᵀ + skip.
template <class Real>
void apply_reflections(Matrices<const Real> reflections, const Real* kappa, const Real* sign,
                       const double* values, const Real* in, PerSample scale, Skip skip, Matrices<Real> out,
                       cudaStream_t stream);

}  // namespace spectra::montecarlo::cuda
