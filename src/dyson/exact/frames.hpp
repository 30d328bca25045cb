#pragma once

#include <Eigen/Core>

#include <vector>

namespace spectra::dyson {

/// Bases of the n streams, one at every link of the chain, that follow the streams through the mixers.
///
/// Deep products of mixers are graded: their singular values separate exponentially with depth, and so do
/// the parts of X, Z and M that belong to different ones; in a fixed basis rounding in the large parts
/// destroys the small. In the frames C_0 … C_L the mixers Â_l = C_{l+1}⁻¹ A_l C_l are diagonal (covariant
/// Lyapunov vectors), each direction keeps its own scale, and nothing mixes them but the noise. They come
/// from two sweeps: forward A_l Q_l = Q_{l+1} R_l (orthogonal, triangular), then backward W_L = 1,
/// R_l W_l = W_{l+1} diag(R_l), C_l = Q_l W_l with W unit upper triangular. Where directions are not
/// separated W could grow; its entries are cut at 10 and the mixer of that layer then stays triangular. Any
/// frames are exact: they change rounding only.
struct Frames {
    bool graded = false;                            ///< worth using: singular values separate far enough
    std::vector<Eigen::MatrixXd> adjoint, inverse;  ///< C_lᵀ and C_l⁻¹, L + 1 of them; empty unless graded
    std::vector<Eigen::MatrixXd> mixers;            ///< Â_l, upper triangular; empty unless graded
    std::vector<Eigen::VectorXd> log_diagonal;      ///< ln |R_l,ii|
};

/// Σ_{k<l} ln |R_k,ii|, L + 1 of them, with at least floor[k] for every layer: where a mixer loses a
/// direction, noise carries it on.
std::vector<Eigen::VectorXd> growth_of(const std::vector<Eigen::VectorXd>& log_diagonal,
                                       const std::vector<double>& floor);

/// `graded_from`: e-folds between the largest and the smallest growth from which frames are worth using. Noise
/// of every direction hides rounding up to 1e8; noise of one direction (a hyper-connection) hides nothing, and
/// costs no more in frames.
Frames follow_streams(const std::vector<Eigen::MatrixXd>& mixers, const std::vector<double>& floor,
                      double graded_from = 18);

}  // namespace spectra::dyson
