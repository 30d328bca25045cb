#pragma once

/// \file
/// The bistochastic mixers, and Sinkhorn's map from logits to bistochastic matrices.

#include "random/stream.hpp"

#include <Eigen/Core>

#include <optional>

namespace spectra::mixers {

/// Sinkhorn's map: the one matrix P_ij = exp(Z_ij + u_i + v_j) with rows and columns that sum to 1, for
/// any finite square Z (the logits). Bistochastic matrices are closed under products and have
/// spectral norm exactly 1, reached at the constant vector.
///
/// A sweep normalises the rows, then the columns. All computations use ln P, so logits of any size
/// neither overflow nor leave a row empty. Potentials are absorbed into ln P as they are found:
/// the entries that matter stay of order one and lose no digits to large potentials.

/// Exactly `sweeps` ≥ 1 sweeps. Columns then sum to 1 up to rounding; the rows have the defect.
Eigen::MatrixXd sinkhorn_sweeps(const Eigen::MatrixXd& logits, int sweeps);

/// How far and how long sinkhorn() goes.
struct SinkhornOptions {
    /// Largest |row or column sum − 1|; raised to 4 n ε if the rounding of n sums cannot meet it.
    double tolerance = 1e-13;
    /// Total number of sweeps allowed, the coarse stages included.
    int max_sweeps = 5000;
    /// After this many sweeps (of a stage) Newton steps help.
    int plain_sweeps = 20;
    /// Logits with a wider spread are halved until they fit, balanced to coarse_tolerance, and
    /// doubled back stage by stage.
    double largest_spread = 10;
    /// Tolerance of the stages before the last.
    double coarse_tolerance = 1e-4;
};

/// Iterates to tolerance. Throws std::runtime_error if max_sweeps do not reach it, std::invalid_argument
/// if logits are not finite.
///
/// Sweeps alone shrink the defect by σ₂(P)² each, which tends to 1 as P nears a permutation matrix
/// (0.997 with off-diagonal logits −8). Two methods accelerate this without changing the limit:
///  * Newton's step for the convex function Σ_i ln Σ_j exp(Z_ij + v_j) − Σ_j v_j. With rows normalised
///    and column sums c it solves (diag c − PᵀP) δv = 1 − c, a graph Laplacian, here with a ridge
///    below the tolerance that keeps rounding from moving streams that are almost decoupled. It is
///    kept only if it shrinks the defect.
///  * Stages for wide logits: doubling ln P doubles logits and potentials alike, a warm start.
/// In trials with N(0, s²) logits, ten values of s from 1 to 1e9 and five n from 2 to 33, 10 to 30 draws
/// each, all converged within 2000 sweeps; this does not prove it for all logits.
Eigen::MatrixXd sinkhorn(const Eigen::MatrixXd& logits, const SinkhornOptions& options = {});

/// The bistochastic mixer: Sinkhorn of logits N(0, logit_scale²), this many sweeps or to tolerance.
Eigen::MatrixXd draw_bistochastic(int n, double logit_scale, std::optional<int> sweeps,
                                  random::Stream& stream);

}  // namespace spectra::mixers
