#pragma once

#include <Eigen/Core>

#include <vector>

namespace spectra::dyson {

/// Bases of the n streams, one per link of the chain, that follow the streams through the mixers.
///
/// Deep products of mixers are graded: their singular values separate exponentially with depth, and so do the
/// corresponding components of X, Z and M; in a fixed basis, rounding of the large components destroys the
/// small ones. In the frames C_0 … C_L the mixers Â_l = C_{l+1}⁻¹ A_l C_l are diagonal (covariant Lyapunov
/// vectors), each direction keeps its own scale, and only the noise mixes them. The frames come from two
/// sweeps: forward A_l Q_l = Q_{l+1} R_l (orthogonal, triangular), then backward W_L = 1, R_l W_l = W_{l+1}
/// diag(R_l), C_l = Q_l W_l with W unit upper triangular. If directions are not separated, W could grow; its
/// entries are cut at 10, and the mixer of that layer then stays triangular. Any frames are exact: they
/// change only rounding.
struct Frames {
    bool graded = false;                            ///< worth using: singular values separate far enough
    std::vector<Eigen::MatrixXd> adjoint, inverse;  ///< C_lᵀ and C_l⁻¹, L + 1 of them; empty unless graded
    std::vector<Eigen::MatrixXd> mixers;            ///< Â_l, upper triangular; empty unless graded
    std::vector<Eigen::VectorXd> log_diagonal;      ///< ln |R_l,ii|
};

/// Σ_{k<l} ln |R_k,ii|, L + 1 of them, with at least floor[k] for every layer: if a mixer loses a
/// direction, noise restores it.
std::vector<Eigen::VectorXd> growth_of(const std::vector<Eigen::VectorXd>& log_diagonal,
                                       const std::vector<double>& floor);

/// `graded_from`: e-folds between the largest and the smallest growth above which frames are worth using.
/// Noise in every direction hides rounding up to 1e8; noise in one direction (a hyper-connection) hides
/// nothing, and costs no more in frames.
Frames follow_streams(const std::vector<Eigen::MatrixXd>& mixers, const std::vector<double>& floor,
                      double graded_from = 18);

}  // namespace spectra::dyson
