#pragma once

/// \file
/// Derivatives of the metrics with respect to every mixer and every noise of a network.

#include "network/network.hpp"
#include "spectrum/spectrum.hpp"

#include <Eigen/Core>

#include <string>
#include <utility>
#include <vector>

namespace spectra::dyson {

/// The derivatives of one metric of a law with respect to its network.
struct Sensitivity {
    std::vector<double> sigma2;           ///< ∂/∂σ_l²
    std::vector<Eigen::MatrixXd> mixers;  ///< ∂/∂(A_l)_ij, every entry on its own
    bool certified = false;               ///< every point it was found from is
};

/// The sensitivities of the operator-valued law's metrics (spectrum.hpp), for every branch.
///
/// All are explicit derivatives of the logarithmic potential Φ (potential.hpp) at five kinds of points; their
/// solutions are never differentiated. With ∂ with respect to σ_l² or an entry of A_l:
///
///     ∂ mean_square = lim y² Re ∂Φ(iy), y → ∞
///     ∂ log_mean    = ½ Re ∂Φ(i0) of that layer only: determinants multiply
///     ∂ F(s)        = −(1/π) Im ∂Φ(s),    window = F(1.25) − F(0.75),    collapsed = F(0.1).
///
/// ∂F vanishes as a square root at the edges of the support and is zero in its gaps. A change of σ_l² scales
/// the weights of an activation's branch (its slopes stay fixed) or the given singular values of a branch.
/// For tied weights it scales their size in that layer only, and the law depends on σ_l: there is no
/// derivative (NaN) with respect to a σ_l² = 0 if others of its set are not zero; if all are zero they move
/// together. log_mean has no derivative (NaN) if it is −∞.
struct Sensitivities {
    Sensitivity mean_square;  ///< of Metrics::mean_square
    Sensitivity log_mean;     ///< of Metrics::log_mean
    Sensitivity window;       ///< of Metrics::window
    Sensitivity collapsed;    ///< of Metrics::collapsed

    /// With the names of the metrics, in the order shown to users.
    std::vector<std::pair<std::string, const Sensitivity*>> by_name() const;
    /// Whether all of them are.
    bool certified() const;
};

/// The sensitivities of a checked network. Throws std::invalid_argument where a layer is zero (J = 0), or a
/// tied network too large (theory.hpp).
Sensitivities sensitivities(const Network& network);

/// ∂F/∂… at each s.
std::vector<Sensitivity> counting_sensitivities(const Network& network, const std::vector<double>& log_s);

/// How the largest singular value of an aligned network follows the triplets that it keeps.
struct LargestByTriplet {
    /// One kept triplet.
    struct Triplet {
        int layer = 0;          ///< from 0
        int triplet = 0;        ///< of the layer, from 0
        double value = 0;       ///< t, its singular value
        double elasticity = 0;  ///< ∂ ln s₁/∂ ln t
    };
    double log_s = 0;                    ///< ln s₁: half a singular value, 1/2N of the mass, lies above
    std::vector<Triplet> triplets = {};  ///< all of them, the largest elasticity first
    bool certified = false;              ///< the point that it was found from is
};

/// From F(s₁; t) = 1 − 1/2N: ∂ ln s₁/∂ ln t = −(∂F/∂ ln t)/(∂F/∂ ln s) = −Im ∂Φ/∂ ln t / Im 2ωg at s₁, which `law`, the
/// operator-valued law of the network, locates. The triplet to shrink is the first. Throws std::invalid_argument if the
/// branches are not aligned, or keep everything.
LargestByTriplet largest_by_triplet(const Network& network, const Spectrum& law);

/// ∂/∂C with C = Σ_l σ_l², scaling all σ_l² together.
double by_total_noise(const Network& network, const Sensitivity& sensitivity);

}  // namespace spectra::dyson
