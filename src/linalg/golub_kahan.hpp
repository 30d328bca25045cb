#pragma once

/// \file
/// The law of singular values of a matrix known by its products alone: Golub-Kahan bidiagonalisation from
/// random probes.

#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace spectra::linalg {

/// A real N×N matrix J known only by its action on blocks of columns (N×columns, column-major; in and out
/// must not overlap).
class LinearOperator {
public:
    LinearOperator() = default;
    LinearOperator(const LinearOperator&) = delete;
    LinearOperator& operator=(const LinearOperator&) = delete;
    virtual ~LinearOperator() = default;

    /// N.
    virtual int size() const = 0;
    /// out = J in
    virtual void apply(const double* in, double* out, int columns) = 0;
    /// out = Jᵀ in
    virtual void apply_transpose(const double* in, double* out, int columns) = 0;
};

/// The law of singular values weighted by a unit vector v: the Gauss quadrature
///
///     vᵀ f(JᵀJ) v ≈ Σ_i weight_i f(s_i²),
///
/// exact for polynomials f of degree 2k − 1. Averaged over random v of covariance I/N it is tr f(JᵀJ)/N.
///
/// Every node is also a Ritz value: J has a singular value within residual_i of s_i. By Chebyshev, Markov
/// and Stieltjes the mass up to s_i, weighted by v, lies between Σ_{j<i} weight_j and Σ_{j≤i} weight_j.
struct GaussQuadrature {
    std::vector<double> node;      ///< s_i, ascending
    std::vector<double> weight;    ///< sum to 1
    std::vector<double> residual;  ///< ‖Jᵀu_i − s_i v_i‖
    double mean_square = 0;        ///< ‖Jv‖²

    /// The distance of node i from a singular value: the residual, or its square divided by the distance to
    /// the nearest other node if that is smaller, but never less than rounding.
    double error(std::size_t i) const;
    /// Whether node i is a single singular value, to a hundredth of the distance to its neighbours, and does
    /// not represent the mass around it.
    bool converged(std::size_t i) const;
    /// The lowest node above which positions are known in ln s too: every node down to it has another within
    /// a factor √e or is itself accurate to 10 %. Below it only the mass is known. 0: all positions are
    /// known.
    double resolved_from() const;
};

/// How far bidiagonalisations go.
struct GolubKahanOptions {
    int steps = 100;  ///< k
    /// If above 0: the first probe continues after `steps` until the error() of its largest and its smallest
    /// node is at most this fraction of the largest, or until `most_steps`. It stops earlier if the errors
    /// fall too slowly to get there by then.
    double extremes = 0;
    int most_steps = 400;  ///< of the first probe, for its extremes
    /// Asked every ten steps what it thinks of the probes so far; true: these are steps enough.
    std::function<bool(const std::vector<GaussQuadrature>&)> enough;
    /// Called after every step with the number of probes that took it.
    std::function<void(int)> progress;
    int threads = 1;  ///< for orthogonalising; results do not depend on it
};

/// The vectors of several bidiagonalisations side by side, in any memory. Step k = 0, 1, … is
/// left, set_left, right, set_right.
class Bidiagonalisation {
public:
    Bidiagonalisation() = default;
    Bidiagonalisation(const Bidiagonalisation&) = delete;
    Bidiagonalisation& operator=(const Bidiagonalisation&) = delete;
    virtual ~Bidiagonalisation() = default;

    virtual int chains() const = 0;     ///< how many advance together
    virtual int dimension() const = 0;  ///< no chain is longer
    /// w = J v_k minus its components along u_0 … u_{k−1}; returns ‖w‖ of every chain.
    virtual std::vector<double> left(int k) = 0;
    /// u_k = factor · w
    virtual void set_left(int k, const std::vector<double>& factor) = 0;
    /// w = Jᵀ u_k minus its components along v_0 … v_k; returns ‖w‖ of every chain.
    virtual std::vector<double> right(int k) = 0;
    /// v_{k+1} = factor · w
    virtual void set_right(int k, const std::vector<double>& factor) = 0;
    virtual void keep_first() = 0;  ///< drops the other chains, which are finished
};

/// Whether Gram-Schmidt must be repeated, given the norms of all chains' vectors before and after it. One
/// pass leaves errors of u·before along the basis, and two passes are enough (Kahan; Parlett, The symmetric
/// eigenvalue problem, 6.9). Subtract the component along the last basis vector first: it is most of w, and
/// an error in the orthogonality of the basis would grow by as much at every step.
bool orthogonalise_again(const std::vector<double>& before, const std::vector<double>& after);

/// Golub and Kahan's bidiagonalisation J V = U B, Jᵀ U = V Bᵀ + β_k v_{k+1} e_kᵀ from each of the given
/// columns (N each, normalised here): B is upper bidiagonal, BᵀB the Lanczos matrix of JᵀJ. It is found from
/// products with J, not JᵀJ, so nodes are right to about u‖J‖ instead of √u‖J‖.
///
/// Every probe has its own bases, fully reorthogonalised, twice if the first pass removes much (N·k·2 doubles
/// per probe, read twice per step). All probes advance together, so that the operator is applied to all of
/// them at once. This is not a block method: results of independent probes are independent, and their spread
/// is the error of the mean.
///
/// Ends early for a probe if its Krylov space is exhausted; its quadrature is then exact.
std::vector<GaussQuadrature> golub_kahan(LinearOperator& matrix, const std::vector<double>& probes,
                                         const GolubKahanOptions& options = {});

/// The same with vectors kept elsewhere.
std::vector<GaussQuadrature> golub_kahan(Bidiagonalisation& vectors, const GolubKahanOptions& options);

/// `count` values of ln s, ascending, −∞ for 0: the quantiles at (k + ½)/count of the mean of the probes'
/// laws.
///
/// Between neighbouring nodes F is linear in s. The mass up to a node is half of its own weight plus the
/// weight of all nodes below it. This is accurate to second order in the distance of nodes; F with steps at
/// the nodes would be accurate to first order. Steps remain where a node converged(), where it has more than
/// four times the weight of either neighbour (an atom; its excess over the neighbours is a step), and for
/// half of the first and last weight.
std::vector<double> log_quantiles(const std::vector<GaussQuadrature>& probes, int count);

/// Mass of the same law in [0, s).
double mass_below(const GaussQuadrature& probe, double s);

/// A bound on the further mass below s if s is below all nodes and the lowest has not converged(); otherwise
/// 0. By Chebyshev, Markov and Stieltjes it is at most 1/Σ_i ℓ_i(s²)²/weight_i with the Lagrange polynomials
/// ℓ_i of the squared nodes; only the term of the lowest node is used.
double hidden_below(const GaussQuadrature& probe, double s);

/// The outermost node of several probes of one matrix. Except for rounding, the largest is never above the
/// true one and the smallest never below it.
struct Extreme {
    double value = std::numeric_limits<double>::quiet_NaN();  ///< the node
    /// How far it is from a singular value: its error(), or what another probe's node and error() say of it.
    double error = std::numeric_limits<double>::quiet_NaN();
};
/// The largest node of all probes.
Extreme largest(const std::vector<GaussQuadrature>& probes);
/// The smallest node of all probes.
Extreme smallest(const std::vector<GaussQuadrature>& probes);

}  // namespace spectra::linalg
