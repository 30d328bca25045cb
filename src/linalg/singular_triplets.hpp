#pragma once

/// \file
/// The largest singular triplets of a matrix known by its products alone.

#include "linalg/golub_kahan.hpp"

#include <Eigen/Core>

#include <functional>

namespace spectra::linalg {

/// The largest triplets of a matrix: J v_i = s_i u_i to rounding.
struct LargestTriplets {
    Eigen::VectorXd values;    ///< s_i, largest first
    Eigen::MatrixXd left;      ///< u_i, as orthonormal columns
    Eigen::MatrixXd right;     ///< v_i, as orthonormal columns
    Eigen::VectorXd residual;  ///< ‖Jᵀu_i − s_i v_i‖: J has a singular value within it of s_i
    bool converged = false;    ///< every residual met what was wanted
};

/// How far the bidiagonalisation goes.
struct TripletOptions {
    /// Largest residual, relative to the largest value. Values are then right to its square over their distance to the
    /// rest, vectors to the residual over that distance.
    double tolerance = 1e-8;
    int most_steps = 100;                 ///< at most; the triplets then are the best of the space so far
    std::function<void()> progress = {};  ///< called after every step; an exception from it ends the run
};

/// The `count` largest triplets, fewer where the rank of J is lower. Golub and Kahan's bidiagonalisation with blocks: from
/// the columns of `start` (N rows, random), V_0 = orth(start),
///
///     J V_k = U_{0…k} B_{·k},      Jᵀ U_k = V_{0…k} (…) + V_{k+1} R_k,
///
/// all blocks orthogonalised against all before them, twice. With B = P S Qᵀ the triplets are (U P, S, V Q), and only R_k
/// times the last rows of P is missing from Jᵀu = s v. A block of b columns finds a value that occurs up to b times, of which
/// single vectors would find one, and applies the operator to b vectors at once. Directions below rounding are left out of a
/// block; if none is left, the triplets are exact.
LargestTriplets largest_triplets(LinearOperator& matrix, int count, const Eigen::MatrixXd& start,
                                 const TripletOptions& options = {});

/// An orthonormal basis of the columns' span, to rounding.
Eigen::MatrixXd orthonormal_basis(const Eigen::MatrixXd& columns);

}  // namespace spectra::linalg
