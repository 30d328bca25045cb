#pragma once

#include "dyson/solve/equation.hpp"
#include "dyson/solve/newton.hpp"
#include "dyson/solve/tracker.hpp"
#include "network/network.hpp"

#include <Eigen/Core>

#include <limits>
#include <memory>
#include <vector>

namespace spectra::dyson {

/// The logarithmic potential Φ(ω) = ∫ ln(ω² − s²) dF(s) of a network's law at one solved point of its Dyson
/// equation, and its derivatives with respect to the network.
///
/// With the notation of chain.hpp, and K_l = f_l a_l b_l for a Gaussian branch,
///
///     Φ = (1/n) ln det(P(ω; A) − Σ[a, b]) + (1/νn) Σ_l K_l        (up to a multiple of iπ)
///
/// is stationary in every a_l and b_l at the solution: ∂/∂a_l of the first term is −(1/n) tr M ∂Σ/∂a_l =
/// −f_l b_l/νn. Hence dΦ/dω = (1/n) tr[M(w_0) + M(v_{L−1})] = 2g, which identifies it, and all derivatives
/// are explicit; no linear equation is solved:
///
///     ∂Φ/∂ ln σ_l² = −f_l a_l b_l/νn,          ∂Φ/∂A_l = −(2/n) M(v_l, w_l),      M(w_l, v_l) = R_l A_lᵀ
///     M(v_l).
///
/// A branch with given singular values t has K = ⟨ln u(Y − t²)⟩, u = ab (K' = f + 2uf', f the R-transform
/// over the root of u), and the same derivatives if ∂/∂ ln σ² scales all t². With activations ln det and M
/// are averaged over the draws. Tied weights: Σ_l K_l becomes Σ_ij σ_iσ_j W_ij V_ij over layers with the same
/// weights, and f_l a_l b_l becomes the terms of it with i = l.
///
/// Φ determines:
///
///     ω = s + i0    Im Φ = π (1 − F(s)), F(s) the mass below s
///     ω = iy → 0    ½ Re Φ = E ln s
///     ω = iy → ∞    y² (Φ − ln ω²) → E s².
///
/// Aligned branches: ln det(P − Σ)/N = (p ln det(base) + ln det(1 + C K))/N (aligned_chain.hpp) and K_l counts with the
/// share (m − r)/N of what is free. P − Σ with a fraction κ of C has Im ≥ 0 for every κ from 0 to 1, so that no eigenvalue
/// of 1 + κCK crosses the negative axis: Im ln det(1 + CK) is the sum of their principal arguments. A kept value is in C
/// alone, so that ∂Φ/∂ ln t is explicit too.
///
/// The branch of the logarithm. P − Σ is symmetric with Im(P − Σ) ≥ 0, and so is every Schur complement of
/// it. So the pivots of a symmetric elimination lie in the closed upper half plane if ω does, and
/// Im ln det is the sum of their arguments in [0, π]: continuous from ω → ∞, without counting turns along the
/// way. The chain is eliminated from either end; the difference of the two sums is rounding.
struct Potential {
    double mass_above = 0;                 ///< Im Φ/π; at real ω = s the mass above s
    double mass_error = 1;                 ///< of mass_above, by rounding
    std::vector<Complex> sigma2;           ///< ∂Φ/∂σ_l²
    std::vector<Eigen::MatrixXcd> mixers;  ///< ∂Φ/∂A_l
    std::vector<std::vector<Complex>>
        triplets;  ///< aligned branches: ∂Φ/∂ ln t of the kept triplets, by layer
    double defect = 1;                     ///< relative distance of the unknowns from those of their own M
    Complex scaled_green = 0;              ///< Equation::scaled_green, where it comes at no cost: aligned branches
};

/// Computes the potential from solutions of make_chain(network) or make_tied(network).
class PotentialReader {
public:
    explicit PotentialReader(const Network& network);
    ~PotentialReader();
    PotentialReader(PotentialReader&&) noexcept;

    Potential at(const Solution& solution) const;

private:
    class Form;
    class ChainForm;
    class TiedForm;
    class AlignedForm;
    std::unique_ptr<Form> form_;
};

/// F(s), the mass below s (atoms included), of the operator-valued law.
struct MassBelow {
    double mass = std::numeric_limits<double>::quiet_NaN();
    bool certified = false;  ///< the point is certified, and rounding changes the mass by less than 1e-6
    Potential potential;     ///< empty if no point had to be solved
};

/// The solution to count at: that of a real point, or one just above it where the equation asks for that
/// (Equation::counted_from_above).
Solution countable(Tracker& tracker, const Solution& solution);

/// At a solved real point.
MassBelow mass_below(const PotentialReader& reader, const Solution& solution);

/// At every given ln s, each from one point of the Dyson equation: a hundred times faster than the whole law.
/// Without noise the singular values are counted; far above the law Markov's inequality, 1 − F(s) ≤ E s²/s²,
/// is enough.
std::vector<MassBelow> mass_below(const Network& network, const std::vector<double>& log_s);

/// The chain, or the equation of tied weights.
std::unique_ptr<Equation> make_operator_valued(const Network& network);

/// Im ln det h of a symmetric h with Im h ≥ 0: the sum of the arguments, in [0, π], of the pivots of
/// symmetric elimination (Bunch and Parlett's, of size one and two). `error` is raised to the largest amount
/// by which a pivot misses the upper half plane.
double argument_of_determinant(Eigen::MatrixXcd h, double& error);

}  // namespace spectra::dyson
