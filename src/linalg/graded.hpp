#pragma once

#include "linalg/aligned.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace spectra::linalg {

/// ln of the singular values of a product of N×N layers, each to nearly full *relative* accuracy however
/// small it is beside the largest, even beyond the range of double. Holds the workspace: one object per
/// thread.
///
/// The product is held as J = U diag(2^e) Vᵀ, U orthonormal, V well conditioned with columns of norm in
/// [½, 1), e integers. A layer Y makes C = Y U; with columns ordered so that 2^{e_j}|C_j| descends,
///
///     C P = Q R,   J' = Q (R diag(2^e)) Pᵀ Vᵀ = Q diag(2^e') (V P F)ᵀ,   F_ji = R_ij 2^{e_j − e'_i},
///
/// where 2^e'_i is 2^{e_i}|R_ii| up to a factor of two, so |F_ji| ≤ 2|C_i|/|R_ii|. The factors are those of
/// the *unscaled* C: reflections commute with scaling of columns, and their error in every column is relative
/// to that column. The rounding of C, Q and R is therefore that of a layer, and that of V P F multiplies J
/// from the right: the computed product is
///
///     (Y_L + ΔY_L) ··· (Y_1 + ΔY_1) (1 + E),   |ΔY_l| ~ u‖Y_l‖_F,   |E| ~ u κ(V),
///
/// with all values as accurate as layers in double precision determine them: about u κ(Y_l) per layer in
/// products where every layer acts on directions in general position. (This is an error by norm: a layer that
/// is itself graded, like D W with slopes of all sizes, is not exploited.)
///
/// If a pivot R_ii is small beside its column, C is factorised again with pivoting by 2^{e_j}|residual of
/// column j|. Residuals below 16 √N u‖Y‖_F, the rounding errors of a singular layer, are taken as zero:
/// J then has rank r < N, and U and V have r columns.
///
/// In the end V diag(2^e) is factorised in the same way, and twice more its transposed triangle, which gives
/// an almost diagonal triangle. Its columns are made orthogonal by plane rotations (one-sided Jacobi). For
/// two columns x, y with ρ = |y|/|x| ≤ 1 and cosine γ
///
///     x' = c (x + ρ²τ y |x|/|y|),   y' = c (y − τ x |y|/|x|),   c = 1/√(1 + ρ²τ²),
///     τ = 2γ / (1 − ρ² + √((1 − ρ²)² + 4ρ²γ²)),
///
/// where |x|/|y| is the ratio in the units 2^e of each: no quantity leaves the range of double at any
/// ρ, and for ρ → 0 this is a Gram–Schmidt step.
class GradedProduct {
public:
    explicit GradedProduct(int size);

    /// J = 1.
    void start();
    /// J ← 2^exponent layer · J, the layer N×N and column-major. False: the layer is not finite, and J is
    /// unchanged.
    bool multiply(const double* layer, long exponent);
    /// Writes ln s of J in ascending order, −∞ for zeros; destroys J. False: the rotations did not converge.
    bool log_values(std::span<double> out);

    int rank() const { return rank_; }
    /// Upper estimate of the largest relative error of the nonzero values,
    ///
    ///     u (8 √N + g (Σ_l κ(Y_l)² + κ(V)²)^½),
    ///
    /// with the condition numbers of all triangles. g is the largest factor by which a ratio 2^{e_i − e_j},
    /// i < j, has fallen from its largest value so far: layers that undo earlier ones carry rounding errors
    /// along with ever smaller values. Residuals cut from a singular layer count as well if, in units of
    /// 2^e, they may exceed those kept. In random products the error is 10 to 10⁵ times smaller.
    /// Complete after log_values().
    double relative_error() const;

    /// Approximate number of doubles of workspace for size N.
    static std::size_t workspace(std::size_t size) { return 6 * size * size + 80 * size; }

private:
    void factorise(int rows, double norm);
    bool factorise_in_order(int rows, double zero);
    int factorise_with_pivots(int rows, double zero);
    void take_triangle(int rows, int rank);
    double condition(int rows, int rank, double norm);
    void multiply_right();
    void follow_ratios(bool same_rank);
    void permute(const AlignedDoubles& from, AlignedDoubles& to, int rows) const;

    int size_;
    int rank_ = 0;
    double condition2_ = 0;        // Σ κ²
    long fall_ = 0;                // log2 g
    std::vector<long> peaks_;      // largest e_i − e_j so far, i < j
    std::vector<long> exponents_;  // e
    AlignedDoubles left_, right_;  // U and V, N×r
    AlignedDoubles columns_;       // the matrix to factorise: C; and V P
    AlignedDoubles reflections_;   // Q and R
    AlignedDoubles triangle_;      // F
    AlignedDoubles factors_, norms_, work_;
    std::vector<long> exponents_before_;
    std::vector<int> order_, integers_;  // P
};

}  // namespace spectra::linalg
