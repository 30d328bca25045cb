#pragma once

#include "linalg/large_block.hpp"
#include "linalg/pivot.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

/// Kernels on small complex matrices stored as n² real parts followed by n² imaginary parts, row by
/// row. Splitting the parts lets the compiler vectorise without the NaN rules of std::complex. N is
/// the size if it is known at compile time; otherwise it is 0 and `n` is the size. The kernels of large_block.hpp take over
/// where it is large.
namespace spectra::linalg::block {

template <int N>
struct Size {
    std::size_t n;
    constexpr std::size_t rows() const { return N > 0 ? static_cast<std::size_t>(N) : n; }
    constexpr std::size_t area() const { return rows() * rows(); }
    constexpr std::size_t stride() const { return 2 * area(); }
};

template <int N>
constexpr bool is_large(Size<N> size) {
    return N == 0 && size.rows() >= large_block::smallest;
}
template <int N>
constexpr bool has_large_product(Size<N> size) {
    return size.rows() >= large_block::smallest_product;
}

/// Products in loops over rows, whatever the size.
namespace plain {

/// C = A·B.
template <int N>
void multiply(Size<N> size, const double* a, const double* b, double* __restrict c) {
    const std::size_t n = size.rows(), area = size.area();
    for (std::size_t i = 0; i < n; ++i) {
        double* cr = c + i * n;
        double* ci = c + area + i * n;
        for (std::size_t j = 0; j < n; ++j) cr[j] = ci[j] = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const double ar = a[i * n + k], ai = a[area + i * n + k];
            const double* br = b + k * n;
            const double* bi = b + area + k * n;
            for (std::size_t j = 0; j < n; ++j) {
                cr[j] += ar * br[j] - ai * bi[j];
                ci[j] += ar * bi[j] + ai * br[j];
            }
        }
    }
}

/// C = A·B with A real (n² numbers).
template <int N>
void multiply_real(Size<N> size, const double* a, const double* b, double* __restrict c) {
    const std::size_t n = size.rows(), area = size.area();
    for (std::size_t part = 0; part < 2; ++part) {
        for (std::size_t i = 0; i < n; ++i) {
            double* cr = c + part * area + i * n;
            for (std::size_t j = 0; j < n; ++j) cr[j] = 0;
            for (std::size_t k = 0; k < n; ++k) {
                const double ar = a[i * n + k];
                const double* br = b + part * area + k * n;
                for (std::size_t j = 0; j < n; ++j) cr[j] += ar * br[j];
            }
        }
    }
}

/// C = B·A with A real.
template <int N>
void multiply_by_real(Size<N> size, const double* b, const double* a, double* __restrict c) {
    const std::size_t n = size.rows(), area = size.area();
    for (std::size_t part = 0; part < 2; ++part) {
        for (std::size_t i = 0; i < n; ++i) {
            double* cr = c + part * area + i * n;
            for (std::size_t j = 0; j < n; ++j) cr[j] = 0;
            for (std::size_t k = 0; k < n; ++k) {
                const double bk = b[part * area + i * n + k];
                const double* ak = a + k * n;
                for (std::size_t j = 0; j < n; ++j) cr[j] += bk * ak[j];
            }
        }
    }
}

}  // namespace plain

/// C = A·B.
template <int N>
void multiply(Size<N> size, const double* a, const double* b, double* __restrict c) {
    if (has_large_product(size)) return large_block::multiply(size.rows(), a, b, c);
    plain::multiply(size, a, b, c);
}

/// C = A·B with A real (n² numbers).
template <int N>
void multiply_real(Size<N> size, const double* a, const double* b, double* __restrict c) {
    if (has_large_product(size)) return large_block::multiply_real(size.rows(), a, b, c);
    plain::multiply_real(size, a, b, c);
}

/// C = B·A with A real.
template <int N>
void multiply_by_real(Size<N> size, const double* b, const double* a, double* __restrict c) {
    if (has_large_product(size)) return large_block::multiply_by_real(size.rows(), b, a, c);
    plain::multiply_by_real(size, b, a, c);
}

/// C = Bᵀ.
template <int N>
void transpose(Size<N> size, const double* b, double* __restrict c) {
    const std::size_t n = size.rows(), area = size.area();
    for (std::size_t part = 0; part < 2; ++part)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) c[part * area + j * n + i] = b[part * area + i * n + j];
}

/// B += (re + i·im)·I.
template <int N>
void add_identity(Size<N> size, double re, double im, double* b) {
    const std::size_t n = size.rows(), area = size.area();
    for (std::size_t i = 0; i < n; ++i) {
        b[i * n + i] += re;
        b[area + i * n + i] += im;
    }
}

/// C = (re + i·im)·B.
template <int N>
void scale(Size<N> size, double re, double im, const double* b, double* c) {
    const std::size_t area = size.area();
    for (std::size_t k = 0; k < area; ++k) {
        const double br = b[k], bi = b[area + k];
        c[k] = re * br - im * bi;
        c[area + k] = re * bi + im * br;
    }
}

/// Σ_ij A_ij B_ij = tr(A Bᵀ).
template <int N>
std::pair<double, double> inner(Size<N> size, const double* a, const double* b) {
    if (is_large(size)) return large_block::inner(size.rows(), a, b);
    const std::size_t area = size.area();
    double re = 0, im = 0;
    for (std::size_t k = 0; k < area; ++k) {
        re += a[k] * b[k] - a[area + k] * b[area + k];
        im += a[k] * b[area + k] + a[area + k] * b[k];
    }
    return {re, im};
}

/// Largest modulus of a real or imaginary part.
template <int N>
double largest(Size<N> size, const double* a) {
    double value = 0;
    for (std::size_t k = 0; k < size.stride(); ++k) value = std::max(value, std::abs(a[k]));
    return value;
}

template <int N>
std::pair<double, double> trace(Size<N> size, const double* a) {
    const std::size_t n = size.rows(), area = size.area();
    double re = 0, im = 0;
    for (std::size_t i = 0; i < n; ++i) {
        re += a[i * n + i];
        im += a[area + i * n + i];
    }
    return {re, im};
}

/// B ← B⁻¹ in place by Gauss–Jordan elimination with row pivoting; false if singular.
/// `pivots` holds n indices.
template <int N>
bool invert(Size<N> size, double* b, std::size_t* pivots) {
    if (is_large(size)) return large_block::invert(size.rows(), b, pivots);
    const std::size_t n = size.rows(), area = size.area();
    double* br = b;
    double* bi = b + area;
    for (std::size_t k = 0; k < n; ++k) {
        const auto [p, best] = largest_pivot(k, n, [&](std::size_t i) {
            return br[i * n + k] * br[i * n + k] + bi[i * n + k] * bi[i * n + k];
        });
        if (!(best > 0) || !std::isfinite(best)) return false;
        pivots[k] = p;
        if (p != k) {
            for (std::size_t j = 0; j < n; ++j) {
                std::swap(br[k * n + j], br[p * n + j]);
                std::swap(bi[k * n + j], bi[p * n + j]);
            }
        }
        const double ir = br[k * n + k] / best, ii = -bi[k * n + k] / best;
        br[k * n + k] = 1;
        bi[k * n + k] = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const double r = br[k * n + j], m = bi[k * n + j];
            br[k * n + j] = r * ir - m * ii;
            bi[k * n + j] = r * ii + m * ir;
        }
        for (std::size_t i = 0; i < n; ++i) {
            if (i == k) continue;
            const double fr = br[i * n + k], fi = bi[i * n + k];
            br[i * n + k] = 0;
            bi[i * n + k] = 0;
            for (std::size_t j = 0; j < n; ++j) {
                const double r = br[k * n + j], m = bi[k * n + j];
                br[i * n + j] -= fr * r - fi * m;
                bi[i * n + j] -= fr * m + fi * r;
            }
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        const std::size_t p = pivots[k];
        if (p == k) continue;
        for (std::size_t i = 0; i < n; ++i) {
            std::swap(br[i * n + k], br[i * n + p]);
            std::swap(bi[i * n + k], bi[i * n + p]);
        }
    }
    return true;
}

}  // namespace spectra::linalg::block
