#pragma once

#include "dyson/solve/equation.hpp"
#include "dyson/equations/pattern.hpp"
#include "dyson/equations/site_draws.hpp"
#include "network/network.hpp"

#include <vector>

namespace spectra::dyson {

/// Squares of a branch's singular values, and the two averages that its equation needs.
///
/// With u = ab the equation is u = Y⟨1/(Y − t²)⟩², and f = ⟨t²/(Y − t²)⟩/u. For values that are all the same, the unknown is
/// X = Y/(Y − t²) instead of Y: then
///
///     X(X − 1) = t² u,    f = t²/X.
///
/// At a hard edge of the law u → ∞ and Y → t²: the difference Y − t² loses its digits, and its two signs, which belong to
/// different solutions, are close to each other in Y. X grows as √u. Where noise dominates, X → 0 as Y does. Near one of
/// several values, where the law has a narrow band, Newton's step is taken in ln X of that value.
struct SquaredLaw {
    std::vector<double> t2;

    SquaredLaw scaled(double factor) const {
        SquaredLaw law = *this;
        for (double& value : law.t2) value *= factor;
        return law;
    }

    /// Whether the unknown is X.
    bool is_single() const;

    /// The linearised equation: the logarithm of the unknown, X or Y, changes by η = gain·(δ ln a + δ ln b) + own.
    struct Point {
        Complex f;                   ///< the strength
        Complex gain = 0, own = 0;   ///< of η
        Complex answer, source = 0;  ///< δf = answer·(δ ln a + δ ln b) + source
    };
    /// At given unknown and u.
    Point point(Complex unknown, Complex u) const;
    /// A change η of ln Y as a Newton step, and the unknown after such a step.
    Complex step(Complex unknown, Complex change) const;
    Complex moved(Complex unknown, Complex step) const;
    /// The unknown for noise much weaker than 1/√u.
    Complex weak(Complex u) const { return is_single() ? 1.0 / (1.0 - t2.front() * u) : 1.0 / u; }
    /// f u
    Complex strength_times(Complex unknown, Complex u) const {
        return is_single() ? t2.front() * u / unknown : at(unknown).t;
    }

    struct Averages {
        Complex q = 0, dq = 0;  ///< ⟨1/(Y − t²)⟩ and its derivative
        Complex t = 0, dt = 0;  ///< ⟨t²/(Y − t²)⟩ and its derivative
    };
    Averages at(Complex y) const;

private:
    /// The value whose X is the coordinate near Y; 0: none.
    double nearest(Complex y) const;
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
