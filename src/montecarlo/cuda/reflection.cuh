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

/// 1/x and 1/√x to the last digit or two, without the branches of divisions and roots, which take most of the time
/// of a short reflection. Not for numbers that cannot be squared.
__device__ inline double inverse(double x) {
    double out = 0;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(out) : "d"(x));  // 20 bits
    out = fma(out, fma(-x, out, 1.0), out);
    return fma(out, fma(-x, out, 1.0), out);
}
__device__ inline float inverse(float x) {
    return __fdividef(1.0F, x);
}
__device__ inline double inverse_root(double x) {
    double out = 0;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(out) : "d"(x));  // 20 bits
    const double off = fma(-x * out, out, 1.0);
    return fma(off * out, fma(0.375, off, 0.5), out);
}
__device__ inline float inverse_root(float x) {
    const float out = rsqrtf(x);
    return fmaf(fmaf(-x * out, out, 1.0F) * out, 0.5F, out);
}

template <class Real>
struct UnitReflection {
    Real beta, tau, scale;
};

/// The same as H = I − τ v vᵀ with v = (1, c_2 scale, …).
template <class Real>
__device__ UnitReflection<Real> unit_reflection(Real alpha, Real tail2) {
    const Real square = alpha * alpha + tail2, over_norm = inverse_root(square);
    const Real norm = square * over_norm;
    const Real beta = alpha < 0 ? norm : -norm;
    if (tail2 == 0 || beta * (beta - alpha) <= underflow<Real>) return {alpha, 0, 0};
    return {beta, 1 + abs(alpha) * over_norm, inverse(alpha - beta)};
}

}  // namespace spectra::montecarlo::cuda
