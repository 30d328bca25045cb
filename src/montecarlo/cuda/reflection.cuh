#pragma once

// Included by kernels only.

namespace spectra::montecarlo::cuda {

template <class Real>
constexpr Real underflow = Real(1e-290);
template <>
inline constexpr float underflow<float> = 1e-34F;

template <class Real>
struct Reflection {
    Real beta, kappa;
};

/// H = I − κ y yᵀ with y = c − β e₁ maps c = (alpha, …) to β e₁; tail2 is the sum of squares of the others.
/// Numbers too small to be squared count as zero; NaN is kept.
template <class Real>
__device__ Reflection<Real> reflection(Real alpha, Real tail2) {
    const Real norm = sqrt(alpha * alpha + tail2);
    const Real beta = alpha < 0 ? norm : -norm;
    const Real product = beta * (beta - alpha);
    if (tail2 == 0 || product <= underflow<Real>) return {alpha, 0};
    return {beta, 1 / product};
}

template <class Real>
struct UnitReflection {
    Real beta, tau, scale;
};

/// The same as H = I − τ v vᵀ with v = (1, c_2 scale, …).
template <class Real>
__device__ UnitReflection<Real> unit_reflection(Real alpha, Real tail2) {
    const Real norm = sqrt(alpha * alpha + tail2);
    const Real beta = alpha < 0 ? norm : -norm;
    if (tail2 == 0 || beta * (beta - alpha) <= underflow<Real>) return {alpha, 0, 0};
    return {beta, (beta - alpha) / beta, 1 / (alpha - beta)};
}

}  // namespace spectra::montecarlo::cuda
