#pragma once

#include <Eigen/Core>

#include <complex>
#include <vector>

namespace spectra::dyson {

/// T = C (1 + K C)⁻¹ of a symmetric K and a C of 2×2 blocks on the diagonal, one per pair of columns: what is left after
/// adding the pairs to a matrix H one after the other, H + X C Xᵀ with K = Xᵀ H⁻¹ X.
///
/// Pairs are added in blocks l. With K⁽ˡ⁾ what K has become, T_l = C_l (1 + K⁽ˡ⁾_ll C_l)⁻¹ and
///
///     K ← K − K_{·l} T_l K_{l·},     K_{·l} ← K_{·l} T_l,     K_ll ← −T_l        (Gauss-Jordan sweeps, symmetric)
///
/// after which K has become −T: 4 n³ operations, all in products of matrices, where LU and inverse take 8 n³. C is never
/// inverted.
///
///     det(1 + C K) = Π_l det(1 + C_l K⁽ˡ⁾_ll).
///
/// If H + X C' Xᵀ has Im ≥ 0 for every C' between 0 and C, added block by block, no eigenvalue of a pivot 1 + C_l K⁽ˡ⁾_ll
/// can cross the negative axis, and the argument of the determinant is the sum of their principal arguments.
class EliminatedPairs {
public:
    /// One 2×2 block of C per two columns of K. False if a number is not finite. `rough`: to a few digits, in single
    /// precision and half the time; in double where that misses T by more than 1e-4.
    bool run(const Eigen::MatrixXcd& k, const std::vector<Eigen::Matrix2cd>& c, bool rough = false);

    /// Whether the last run was in single precision: its argument() is of no use.
    bool rough() const { return rough_; }

    const Eigen::MatrixXcd& t() const { return t_; }

    /// Im ln det(1 + C K), continuous from C = 0. NaN if the eigenvalues of a pivot could not be found.
    double argument() const;

    /// The 2×2 blocks on the diagonal of K − K T K: K after all pairs have been added.
    const std::vector<Eigen::Matrix2cd>& remaining() const { return remaining_; }

    /// How far T misses (1 + C K) T = C, relative, along one vector: elimination without exchanges loses digits where
    /// a part of the pairs is nearly singular by itself. Above 1e-9, T and the argument are computed by LU and by
    /// all eigenvalues instead.
    double defect() const { return defect_; }

private:
    template <class Scalar>
    bool sweep(const Eigen::MatrixXcd& k, const std::vector<Eigen::Matrix2cd>& c);
    double defect_of(const Eigen::MatrixXcd& k, const std::vector<Eigen::Matrix2cd>& c) const;

    Eigen::MatrixXcd t_;
    std::vector<Eigen::MatrixXcd> pivots_;  ///< C_l K⁽ˡ⁾_ll
    std::vector<Eigen::Matrix2cd> remaining_;
    double defect_ = 0;
    bool rough_ = false;
};

}  // namespace spectra::dyson
