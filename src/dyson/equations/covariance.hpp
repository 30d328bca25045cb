#pragma once

#include "dyson/solve/equation.hpp"
#include "dyson/equations/pattern.hpp"
#include "dyson/equations/site_draws.hpp"
#include "network/network.hpp"

#include <vector>

namespace spectra::dyson {

/// Squares of a branch's singular values, and the two averages that its equation needs.
struct SquaredLaw {
    std::vector<double> t2;

    struct Averages {
        Complex q = 0, dq = 0;  ///< ⟨1/(Y − t²)⟩ and its derivative
        Complex t = 0, dt = 0;  ///< ⟨t²/(Y − t²)⟩ and its derivative
    };
    Averages at(Complex y) const;
};

/// P^v and P^w of every layer, for one draw of the slopes if there are activations.
struct CovarianceDraw {
    double weight = 1;
    Pattern v, w;
};

/// The properties of a branch that enter the chain (the table of chain.hpp).
struct Covariance {
    double nu = 1;
    std::vector<double> strength;       ///< f_l if it is constant: σ_l², or σ_w² of an activation
    std::vector<SquaredLaw> laws;       ///< one per layer if f depends on ab; otherwise none
    std::vector<CovarianceDraw> draws;  ///< one, unless the branch has activations; weights sum to one
    std::vector<Eigen::MatrixXd> mean_v, mean_w;  ///< P^v and P^w averaged over the draws
    std::vector<double> unit;  ///< typical size of a layer, √(tr_n of its mean square): the chain's gauge
    std::vector<double> log_noise;  ///< ½ ln of the branch's share of that, in the unit
};

/// For every branch except tied ones.
Covariance covariance_of(const Network& network, SiteHalf half);

}  // namespace spectra::dyson
