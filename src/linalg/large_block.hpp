#pragma once

#include <cstddef>
#include <utility>
#include <vector>

/// Kernels of block.hpp for n×n complex matrices of at least `smallest` rows, products from `smallest_product` rows on: n²
/// real parts followed by n² imaginary parts. Sums run in tiles that stay in registers, as wide as the processor's
/// vectors. Every number is computed by the same operations in the same order as in block.hpp (without fused
/// multiply-add), so all processors give the same bits; only inner() adds up in eight parts.
namespace spectra::linalg::large_block {

inline constexpr std::size_t smallest = 12, smallest_product = 8;

/// C = A·B.
void multiply(std::size_t n, const double* a, const double* b, double* c);

/// C = A·B with A real (n² numbers).
void multiply_real(std::size_t n, const double* a, const double* b, double* c);

/// C = B·A with A real.
void multiply_by_real(std::size_t n, const double* b, const double* a, double* c);

/// Σ_ij A_ij B_ij.
std::pair<double, double> inner(std::size_t n, const double* a, const double* b);

/// B ← B⁻¹ by Gauss–Jordan elimination with row pivoting, eight pivots at a time: the columns beside them are
/// touched once per eight. False if singular. `pivots` holds n indices.
bool invert(std::size_t n, double* b, std::size_t* pivots);

/// The same for one kind of vectors.
struct Kernels {
    void (*multiply)(std::size_t, const double*, const double*, double*);
    void (*multiply_real)(std::size_t, const double*, const double*, double*);
    void (*multiply_by_real)(std::size_t, const double*, const double*, double*);
    void (*inner)(std::size_t, const double*, const double*, std::pair<double, double>&);
    bool (*invert)(std::size_t, double*, std::size_t*);
};

/// All that this processor supports; the last, with the widest vectors, is used above.
const std::vector<Kernels>& supported_kernels();

}  // namespace spectra::linalg::large_block
