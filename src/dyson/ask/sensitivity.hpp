#pragma once

/// \file
/// Derivatives of the metrics with respect to every mixer and every noise of a network.

#include "network/network.hpp"

#include <Eigen/Core>

#include <string>
#include <utility>
#include <vector>

namespace spectra::dyson {

/// How one number said of a law answers the network it belongs to.
struct Sensitivity {
    std::vector<double> sigma2;           ///< ∂/∂σ_l²
    std::vector<Eigen::MatrixXd> mixers;  ///< ∂/∂(A_l)_ij, every entry on its own
    bool certified = false;               ///< every point it was found from is
};

/// The sensitivities of the operator-valued law's metrics (spectrum.hpp), for every branch.
///
/// All are explicit derivatives of the logarithmic potential Φ (potential.hpp) at five kinds of points, whose
/// solutions are never differentiated. With ∂ by σ_l² or an entry of A_l:
///
///     ∂ mean_square = lim y² Re ∂Φ(iy), y → ∞
///     ∂ log_mean    = ½ Re ∂Φ(i0) of the layer alone: determinants multiply
///     ∂ F(s)        = −(1/π) Im ∂Φ(s),    window = F(1.25) − F(0.75),    collapsed = F(0.1).
///
/// ∂F vanishes as a square root at the edges of the support and is zero in its gaps. The variance σ_l² of an
/// activation's branch is moved by its weights, the slopes staying as they are; that of a branch of given
/// singular values by scaling them; tied weights by their size in that layer alone, the law then
/// moving with σ_l: there is no derivative (NaN) by a σ_l² = 0 where others of its set are not, and where all
/// are they move together. log_mean has no derivative where it is −∞ (NaN).
struct Sensitivities {
    Sensitivity mean_square;  ///< of Metrics::mean_square
    Sensitivity log_mean;     ///< of Metrics::log_mean
    Sensitivity window;       ///< of Metrics::window
    Sensitivity collapsed;    ///< of Metrics::collapsed

    /// By the names of the metrics, in the order users see them.
    std::vector<std::pair<std::string, const Sensitivity*>> by_name() const;
    /// Whether all of them are.
    bool certified() const;
};

/// The sensitivities of a checked network. Throws std::invalid_argument where a layer is zero (J = 0), or a
/// tied network too large (theory.hpp).
Sensitivities sensitivities(const Network& network);

/// ∂F/∂… at each s.
std::vector<Sensitivity> counting_sensitivities(const Network& network, const std::vector<double>& log_s);

/// ∂/∂C, C = Σ_l σ_l² by scaling all σ_l² together.
double by_total_noise(const Network& network, const Sensitivity& sensitivity);

}  // namespace spectra::dyson
