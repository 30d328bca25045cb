#pragma once

#include "mixers/permutation.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <vector>

/// Sets of K permutations whose random walk on the symmetric group S_n mixes fastest.
namespace spectra::mixers {

/// The irreducible representations of S_n except the trivial one, in Young's orthogonal form: for a partition of n the
/// standard tableaux are a basis, and the transposition of i and i + 1 has 1/r on the diagonal, r being the axial
/// distance from i to i + 1, and √(1 − 1/r²) between tableaux that differ by it. Their dimensions satisfy Σ d² = n! − 1.
class Irreducibles {
public:
    /// Of S_n, 2 ≤ n ≤ 6.
    explicit Irreducibles(int n);

    /// All n! permutations, in lexicographic order.
    const std::vector<Permutation>& permutations() const { return permutations_; }
    /// Number of representations.
    std::size_t count() const { return matrices_.size(); }
    /// The matrix of permutation k in representation r: orthogonal, and ρ(g) ρ(h) = ρ(gh) with (gh)[i] = g[h[i]].
    const Eigen::MatrixXd& matrix(std::size_t r, std::size_t k) const { return matrices_[r][k]; }

    /// 1 − |λ₂| of the walk g → gσ, σ uniform on the set: the eigenvalues of its n!×n! matrix are those of
    /// (1/K) Σ ρ(σ), each d_ρ times, over all irreducible ρ, and the trivial one has the eigenvalue 1. It is 0 of sets
    /// that do not generate S_n and of walks with a period. Rounding is some 1e-15, except for |λ₂| = 0, which comes
    /// out as the d-th root of that where its eigenvalue is defective. Returns a number ≤ `least` as soon as it is
    /// known to be one.
    double gap(const std::vector<int>& set, double least = -1) const;

private:
    std::vector<Permutation> permutations_;
    std::vector<std::vector<Eigen::MatrixXd>> matrices_;  ///< smallest dimensions first
};

/// What an exhaustive search found.
struct LargestGap {
    std::vector<Permutation>
        permutations;  ///< the set; the identity first if it is in it, then lexicographic order
    double gap = 0;    ///< 1 − |λ₂|
    double sets = 0;   ///< C(n!, K)
    std::int64_t classes =
        0;  ///< of sets under relabelling of the streams (conjugation): one of each was tried
    std::int64_t best_classes = 0;  ///< of these, with the largest gap to 1e-9
    double seconds = 0;             ///< that the search took
};

/// The set of K permutations of n streams with the largest spectral gap. Relabelling the streams changes no gap, so
/// that one set per class is tried: the one that is smallest in an order by conjugacy classes. The result is the same in
/// every run, and searched for once. Throws std::invalid_argument for n outside 2 to 6, K outside 1 to n!, and where
/// more than 2·10⁷ sets would be listed (n = 5 with K = 5, n = 6 with K = 4).
LargestGap largest_gap(int n, int count);

}  // namespace spectra::mixers
