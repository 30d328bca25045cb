#include "linalg/large_block.hpp"

#include "linalg/pivot.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace spectra::linalg::large_block {
namespace {

// Vectors of g++ and clang++, as wide as a register of AVX-512, of AVX2, and of SSE2 or NEON.
using Eight = double __attribute__((vector_size(64)));
using Four = double __attribute__((vector_size(32)));
using Two = double __attribute__((vector_size(16)));

#define SPECTRA_INLINE [[gnu::always_inline]] inline

template <class V>
inline constexpr std::size_t lanes = sizeof(V) / sizeof(double);

template <class V>
inline constexpr std::size_t parts = 8 / lanes<V>;  // of eight numbers

constexpr std::size_t rows_at_once = 4;
constexpr std::size_t packed_rows =
    128;  // rows a power of two apart share few places of the cache: such columns are copied

enum class RealFactor { none, left, right };

/// Columns of B beside each other: row k at re + k·stride and im + k·stride.
struct Packed {
    const double *re, *im;
    std::size_t stride;
};

/// Rows × lanes of A·B at a and c: sums over k in registers.
template <class V, std::size_t Rows, RealFactor Real>
SPECTRA_INLINE void multiply_tile(std::size_t n, const double* a, const Packed& b, double* c) {
    const std::size_t area = n * n;
    V re[Rows], im[Rows];
    for (std::size_t r = 0; r < Rows; ++r) re[r] = im[r] = V{};
    for (std::size_t k = 0; k < n; ++k) {
        V br, bi{};
        std::memcpy(&br, b.re + k * b.stride, sizeof(V));
        if constexpr (Real != RealFactor::right) std::memcpy(&bi, b.im + k * b.stride, sizeof(V));
        for (std::size_t r = 0; r < Rows; ++r) {
            const double ar = a[r * n + k];
            if constexpr (Real == RealFactor::left) {
                re[r] += ar * br;
                im[r] += ar * bi;
            } else {
                const double ai = a[area + r * n + k];
                if constexpr (Real == RealFactor::right) {
                    re[r] += ar * br;
                    im[r] += ai * br;
                } else {
                    re[r] += ar * br - ai * bi;
                    im[r] += ar * bi + ai * br;
                }
            }
        }
    }
    for (std::size_t r = 0; r < Rows; ++r) {
        std::memcpy(c + r * n, &re[r], sizeof(V));
        std::memcpy(c + area + r * n, &im[r], sizeof(V));
    }
}

template <class V, RealFactor Real>
SPECTRA_INLINE void multiply_columns(std::size_t n, const double* a, const double* b, double* c) {
    const std::size_t area = n * n;
    Packed columns{b, b + area, n};
    double copy[packed_rows * 2 * lanes<V>];
    if (n <= packed_rows) {
        for (std::size_t k = 0; k < n; ++k) {
            std::memcpy(copy + 2 * k * lanes<V>, b + k * n, sizeof(V));
            if constexpr (Real != RealFactor::right)
                std::memcpy(copy + (2 * k + 1) * lanes<V>, b + area + k * n, sizeof(V));
        }
        columns = {copy, copy + lanes<V>, 2 * lanes<V>};
    }
    std::size_t i = 0;
    for (; i + rows_at_once <= n; i += rows_at_once)
        multiply_tile<V, rows_at_once, Real>(n, a + i * n, columns, c + i * n);
    for (; i < n; ++i) multiply_tile<V, 1, Real>(n, a + i * n, columns, c + i * n);
}

template <class V, RealFactor Real>
SPECTRA_INLINE void multiply_all(std::size_t n, const double* a, const double* b, double* c) {
    std::size_t j = 0;
    for (; j + lanes<V> <= n; j += lanes<V>) multiply_columns<V, Real>(n, a, b + j, c + j);
    if constexpr (lanes<V> == 8)
        for (; j + 4 <= n; j += 4) multiply_columns<Four, Real>(n, a, b + j, c + j);
    if constexpr (lanes<V> >= 4)
        for (; j + 2 <= n; j += 2) multiply_columns<Two, Real>(n, a, b + j, c + j);
    for (; j < n; ++j) multiply_columns<double, Real>(n, a, b + j, c + j);
}

template <class V>
SPECTRA_INLINE void inner_of(std::size_t n, const double* a, const double* b,
                             std::pair<double, double>& sum) {
    const std::size_t area = n * n;
    V re[parts<V>], im[parts<V>];
    for (std::size_t i = 0; i < parts<V>; ++i) re[i] = im[i] = V{};
    std::size_t k = 0;
    for (; k + 8 <= area; k += 8) {
        for (std::size_t i = 0; i < parts<V>; ++i) {
            const std::size_t at = k + i * lanes<V>;
            V ar, ai, br, bi;
            std::memcpy(&ar, a + at, sizeof(V));
            std::memcpy(&ai, a + area + at, sizeof(V));
            std::memcpy(&br, b + at, sizeof(V));
            std::memcpy(&bi, b + area + at, sizeof(V));
            re[i] += ar * br - ai * bi;
            im[i] += ar * bi + ai * br;
        }
    }
    sum = {0, 0};
    for (std::size_t i = 0; i < 8; ++i) {
        sum.first += re[i / lanes<V>][i % lanes<V>];
        sum.second += im[i / lanes<V>][i % lanes<V>];
    }
    for (; k < area; ++k) {
        sum.first += a[k] * b[k] - a[area + k] * b[area + k];
        sum.second += a[k] * b[area + k] + a[area + k] * b[k];
    }
}

// ---- the inverse -----------------------------------------------------------------------------------

constexpr std::size_t group = 8;  // pivots at a time

/// Eight columns beside each other: n × 8 real parts, then as many imaginary parts.
class Columns {
public:
    explicit Columns(std::size_t n) : values_(2 * n * group), half_(n * group) {}
    double* re(std::size_t row) { return values_.data() + row * group; }
    double* im(std::size_t row) { return re(row) + half_; }
    const double* re(std::size_t row) const { return values_.data() + row * group; }
    const double* im(std::size_t row) const { return re(row) + half_; }
    void exchange(std::size_t row, std::size_t other) {
        std::swap_ranges(re(row), re(row) + group, re(other));
        std::swap_ranges(im(row), im(row) + group, im(other));
    }

private:
    std::vector<double> values_;
    std::size_t half_;
};

/// The elimination of a group of pivots: inverse pivot values, and by row what every step subtracts of its pivot row.
struct Steps {
    explicit Steps(std::size_t n) : own(n), factors(n) {}
    std::size_t first = 0, count = 0;
    double inverse_re[group] = {}, inverse_im[group] = {};
    Columns own;  ///< the group's columns; zeros beyond the last
    Columns factors;
};

/// Elimination in the group's own columns. Rows are exchanged in all columns.
template <class V>
SPECTRA_INLINE bool eliminate_group(std::size_t n, double* b, std::size_t* pivots, Steps& steps) {
    const std::size_t area = n * n;
    Columns &own = steps.own, &factors = steps.factors;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t t = 0; t < group; ++t) {
            const std::size_t at = i * n + steps.first + t;
            own.re(i)[t] = t < steps.count ? b[at] : 0;
            own.im(i)[t] = t < steps.count ? b[area + at] : 0;
        }
    }
    for (std::size_t t = 0; t < steps.count; ++t) {
        const std::size_t k = steps.first + t;
        const auto [p, best] = largest_pivot(k, n, [&](std::size_t i) {
            const double re = own.re(i)[t], im = own.im(i)[t];
            return re * re + im * im;
        });
        if (!(best > 0) || !std::isfinite(best)) return false;
        pivots[k] = p;
        if (p != k) {
            own.exchange(k, p);
            factors.exchange(k, p);
            std::swap_ranges(b + k * n, b + k * n + n, b + p * n);
            std::swap_ranges(b + area + k * n, b + area + k * n + n, b + area + p * n);
        }
        const double ir = own.re(k)[t] / best, ii = -own.im(k)[t] / best;
        steps.inverse_re[t] = ir;
        steps.inverse_im[t] = ii;
        own.re(k)[t] = 1;
        own.im(k)[t] = 0;
        const double pivot_re = 1 * ir - 0 * ii, pivot_im = 1 * ii + 0 * ir;
        V row_re[parts<V>], row_im[parts<V>];
        for (std::size_t j = 0; j < parts<V>; ++j) {
            V re, im;
            std::memcpy(&re, own.re(k) + j * lanes<V>, sizeof(V));
            std::memcpy(&im, own.im(k) + j * lanes<V>, sizeof(V));
            row_re[j] = re * ir - im * ii;
            row_im[j] = re * ii + im * ir;
        }
        for (std::size_t i = 0; i < n; ++i) {
            double *to_re = own.re(i), *to_im = own.im(i);
            const double fr = to_re[t], fi = to_im[t];
            factors.re(i)[t] = fr;
            factors.im(i)[t] = fi;
            for (std::size_t j = 0; j < parts<V>; ++j) {
                V re, im;
                std::memcpy(&re, to_re + j * lanes<V>, sizeof(V));
                std::memcpy(&im, to_im + j * lanes<V>, sizeof(V));
                re -= fr * row_re[j] - fi * row_im[j];
                im -= fr * row_im[j] + fi * row_re[j];
                std::memcpy(to_re + j * lanes<V>, &re, sizeof(V));
                std::memcpy(to_im + j * lanes<V>, &im, sizeof(V));
            }
            // The pivot's own column starts from zero (set afterwards: the loads above must not wait for a store).
            to_re[t] = 0 - (fr * pivot_re - fi * pivot_im);
            to_im[t] = 0 - (fr * pivot_im + fi * pivot_re);
        }
        std::memcpy(own.re(k), row_re, sizeof(row_re));
        std::memcpy(own.im(k), row_im, sizeof(row_im));
    }
    for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(own.re(i), steps.count, b + i * n + steps.first);
        std::copy_n(own.im(i), steps.count, b + area + i * n + steps.first);
    }
    return true;
}

template <class V, std::size_t Rows>
SPECTRA_INLINE void subtract_rows(std::size_t n, double* b, const Steps& steps, std::size_t i,
                                  const V* row_re, const V* row_im) {
    const std::size_t area = n * n;
    const double *fr = steps.factors.re(i), *fi = steps.factors.im(i);
    V re[Rows], im[Rows];
    for (std::size_t r = 0; r < Rows; ++r) {
        std::memcpy(&re[r], b + (i + r) * n, sizeof(V));
        std::memcpy(&im[r], b + area + (i + r) * n, sizeof(V));
    }
    for (std::size_t t = 0; t < steps.count; ++t) {
        for (std::size_t r = 0; r < Rows; ++r) {
            re[r] -= fr[r * group + t] * row_re[t] - fi[r * group + t] * row_im[t];
            im[r] -= fr[r * group + t] * row_im[t] + fi[r * group + t] * row_re[t];
        }
    }
    for (std::size_t r = 0; r < Rows; ++r) {
        std::memcpy(b + (i + r) * n, &re[r], sizeof(V));
        std::memcpy(b + area + (i + r) * n, &im[r], sizeof(V));
    }
}

/// The steps of a group in other columns, at b.
template <class V>
SPECTRA_INLINE void apply_group(std::size_t n, double* b, const Steps& steps) {
    const std::size_t area = n * n, first = steps.first, count = steps.count;
    V row_re[group], row_im[group];  // the pivot rows right after their own step
    for (std::size_t t = 0; t < count; ++t) {
        const double *fr = steps.factors.re(first + t), *fi = steps.factors.im(first + t);
        V re, im;
        std::memcpy(&re, b + (first + t) * n, sizeof(V));
        std::memcpy(&im, b + area + (first + t) * n, sizeof(V));
        for (std::size_t s = 0; s < t; ++s) {
            re -= fr[s] * row_re[s] - fi[s] * row_im[s];
            im -= fr[s] * row_im[s] + fi[s] * row_re[s];
        }
        row_re[t] = re * steps.inverse_re[t] - im * steps.inverse_im[t];
        row_im[t] = re * steps.inverse_im[t] + im * steps.inverse_re[t];
    }
    for (std::size_t t = 0; t < count; ++t) {
        const double *fr = steps.factors.re(first + t), *fi = steps.factors.im(first + t);
        V re = row_re[t], im = row_im[t];
        for (std::size_t s = t + 1; s < count; ++s) {
            re -= fr[s] * row_re[s] - fi[s] * row_im[s];
            im -= fr[s] * row_im[s] + fi[s] * row_re[s];
        }
        std::memcpy(b + (first + t) * n, &re, sizeof(V));
        std::memcpy(b + area + (first + t) * n, &im, sizeof(V));
    }
    std::size_t i = 0;
    for (; i + 2 <= first; i += 2) subtract_rows<V, 2>(n, b, steps, i, row_re, row_im);
    for (; i < first; ++i) subtract_rows<V, 1>(n, b, steps, i, row_re, row_im);
    i = first + count;
    for (; i + 2 <= n; i += 2) subtract_rows<V, 2>(n, b, steps, i, row_re, row_im);
    for (; i < n; ++i) subtract_rows<V, 1>(n, b, steps, i, row_re, row_im);
}

template <class V>
SPECTRA_INLINE void apply_to_columns(std::size_t n, double* b, const Steps& steps, std::size_t begin,
                                     std::size_t end) {
    std::size_t j = begin;
    for (; j + lanes<V> <= end; j += lanes<V>) apply_group<V>(n, b + j, steps);
    if constexpr (lanes<V> == 8)
        for (; j + 4 <= end; j += 4) apply_group<Four>(n, b + j, steps);
    if constexpr (lanes<V> >= 4)
        for (; j + 2 <= end; j += 2) apply_group<Two>(n, b + j, steps);
    for (; j < end; ++j) apply_group<double>(n, b + j, steps);
}

template <class V>
SPECTRA_INLINE bool invert_all(std::size_t n, double* b, std::size_t* pivots) {
    Steps steps(n);
    for (steps.first = 0; steps.first < n; steps.first += group) {
        steps.count = std::min(group, n - steps.first);
        if (!eliminate_group<V>(n, b, pivots, steps)) return false;
        apply_to_columns<V>(n, b, steps, 0, steps.first);
        apply_to_columns<V>(n, b, steps, steps.first + steps.count, n);
    }
    for (std::size_t i = 0; i < 2 * n; ++i)
        for (std::size_t k = n; k-- > 0;) std::swap(b[i * n + k], b[i * n + pivots[k]]);
    return true;
}

// ---- one set for every kind of vectors -------------------------------------------------------------

#define SPECTRA_KERNELS(name, attribute, V)                                                                 \
    namespace name {                                                                                        \
    attribute void multiply(std::size_t n, const double* a, const double* b, double* c) {                   \
        multiply_all<V, RealFactor::none>(n, a, b, c);                                                      \
    }                                                                                                       \
    attribute void multiply_real(std::size_t n, const double* a, const double* b, double* c) {              \
        multiply_all<V, RealFactor::left>(n, a, b, c);                                                      \
    }                                                                                                       \
    attribute void multiply_by_real(std::size_t n, const double* b, const double* a, double* c) {           \
        multiply_all<V, RealFactor::right>(n, b, a, c);                                                     \
    }                                                                                                       \
    attribute void inner(std::size_t n, const double* a, const double* b, std::pair<double, double>& sum) { \
        inner_of<V>(n, a, b, sum);                                                                          \
    }                                                                                                       \
    attribute bool invert(std::size_t n, double* b, std::size_t* pivots) {                                  \
        return invert_all<V>(n, b, pivots);                                                                 \
    }                                                                                                       \
    constexpr Kernels kernels{multiply, multiply_real, multiply_by_real, inner, invert};                    \
    }

SPECTRA_KERNELS(baseline, , Two)
#ifdef __x86_64__
SPECTRA_KERNELS(avx2, __attribute__((target("avx2"))), Four)
SPECTRA_KERNELS(avx512, __attribute__((target("avx512f"))), Eight)
#endif

std::vector<Kernels> find_kernels() {
    std::vector<Kernels> found{baseline::kernels};
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) found.push_back(avx2::kernels);
    if (__builtin_cpu_supports("avx512f")) found.push_back(avx512::kernels);
#endif
    return found;
}

const Kernels& kernels() {
    static const Kernels fastest = supported_kernels().back();
    return fastest;
}

}  // namespace

const std::vector<Kernels>& supported_kernels() {
    static const std::vector<Kernels> found = find_kernels();
    return found;
}

void multiply(std::size_t n, const double* a, const double* b, double* c) {
    kernels().multiply(n, a, b, c);
}

void multiply_real(std::size_t n, const double* a, const double* b, double* c) {
    kernels().multiply_real(n, a, b, c);
}

void multiply_by_real(std::size_t n, const double* b, const double* a, double* c) {
    kernels().multiply_by_real(n, b, a, c);
}

std::pair<double, double> inner(std::size_t n, const double* a, const double* b) {
    std::pair<double, double> sum;
    kernels().inner(n, a, b, sum);
    return sum;
}

bool invert(std::size_t n, double* b, std::size_t* pivots) {
    return kernels().invert(n, b, pivots);
}

}  // namespace spectra::linalg::large_block
