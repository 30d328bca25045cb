#pragma once

/// \file
/// The law of singular values of a matrix known by its products alone: Golub-Kahan bidiagonalisation from
/// random probes.

#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace spectra::linalg {

/// A real N×N matrix J known only by what it does to blocks of columns (N×columns, column-major, in and out
/// apart from each other).
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

/// The law of singular values as a unit vector v sees it: the Gauss quadrature
///
///     vᵀ f(JᵀJ) v ≈ Σ_i weight_i f(s_i²),
///
/// exact for polynomials f of degree 2k − 1. Averaged over random v of covariance I/N it is tr f(JᵀJ)/N.
///
/// Every node also is a Ritz value: J has a singular value within residual_i of s_i. And by Chebyshev, Markov
/// and Stieltjes the mass up to s_i, as v sees it, lies between Σ_{j<i} weight_j and Σ_{j≤i} weight_j.
struct GaussQuadrature {
    std::vector<double> node;      ///< s_i, ascending
    std::vector<double> weight;    ///< of sum 1
    std::vector<double> residual;  ///< ‖Jᵀu_i − s_i v_i‖
    double mean_square = 0;        ///< ‖Jv‖²

    /// How far node i is from a singular value: the residual, or its square over the distance to the
    /// nearest other node where that is smaller, but never less than rounding.
    double error(std::size_t i) const;
    /// Whether node i is a singular value by itself, to a hundredth of the distance to its neighbours, rather
    /// than standing for what lies around it.
    bool converged(std::size_t i) const;
    /// The lowest node above which places are known in ln s too: every node down to it has another within a
    /// factor √e or is itself right to 10 %. Below it only the mass is known. 0: all are.
    double resolved_from() const;
};

/// How far bidiagonalisations go.
struct GolubKahanOptions {
    int steps = 100;  ///< k
    /// Above 0: the first probe goes on after `steps` until its largest and its smallest node have an error()
    /// of at most so many times the largest, or for `most_steps`; and no further than where the errors left
    /// fall too slowly to get there by then.
    double extremes = 0;
    int most_steps = 400;  ///< of the first probe, for its extremes
    /// Asked every ten steps what it thinks of the probes so far; true: these are steps enough.
    std::function<bool(const std::vector<GaussQuadrature>&)> enough;
    /// Called after every step with how many probes took it.
    std::function<void(int)> progress;
    int threads = 1;  ///< for orthogonalising; nothing depends on it
};

/// The vectors of several bidiagonalisations side by side, wherever they live. Step k = 0, 1, … is
/// left, set_left, right, set_right.
class Bidiagonalisation {
public:
    Bidiagonalisation() = default;
    Bidiagonalisation(const Bidiagonalisation&) = delete;
    Bidiagonalisation& operator=(const Bidiagonalisation&) = delete;
    virtual ~Bidiagonalisation() = default;

    virtual int chains() const = 0;     ///< how many advance together
    virtual int dimension() const = 0;  ///< no chain is longer
    /// w = J v_k less what lies along u_0 … u_{k−1}; ‖w‖ of every chain.
    virtual std::vector<double> left(int k) = 0;
    /// u_k = factor · w
    virtual void set_left(int k, const std::vector<double>& factor) = 0;
    /// w = Jᵀ u_k less what lies along v_0 … v_k; ‖w‖ of every chain.
    virtual std::vector<double> right(int k) = 0;
    /// v_{k+1} = factor · w
    virtual void set_right(int k, const std::vector<double>& factor) = 0;
    virtual void keep_first() = 0;  ///< the other chains are done
};

/// Whether Gram-Schmidt has to be repeated, the norms of all chains' vectors before and after it given. A
/// pass leaves errors of u·before along the basis, and twice is enough (Kahan; Parlett, The symmetric
/// eigenvalue problem, 6.9). Take away the last basis vector's share before it: that is most of w, and an
/// error in the basis's own orthogonality would grow by as much at every step.
bool orthogonalise_again(const std::vector<double>& before, const std::vector<double>& after);

/// Golub and Kahan's bidiagonalisation J V = U B, Jᵀ U = V Bᵀ + β_k v_{k+1} e_kᵀ from each of the given
/// columns (N each, normalised here): B is upper bidiagonal, BᵀB the Lanczos matrix of JᵀJ. It is found from
/// products with J, not JᵀJ, so nodes are right to about u‖J‖ instead of √u‖J‖.
///
/// Every probe has bases of its own, orthogonalised against all they hold, twice where the first pass takes
/// much (N·k·2 doubles a probe, read twice a step), and all advance together, so that the operator is applied
/// to all of them at once. Not a block method: what independent probes find is independent, and its spread is
/// the error of the mean.
///
/// Ends early for a probe whose Krylov space is exhausted; its quadrature is then exact.
std::vector<GaussQuadrature> golub_kahan(LinearOperator& matrix, const std::vector<double>& probes,
                                         const GolubKahanOptions& options = {});

/// The same with vectors kept elsewhere.
std::vector<GaussQuadrature> golub_kahan(Bidiagonalisation& vectors, const GolubKahanOptions& options);

/// `count` values of ln s, ascending, −∞ for 0: the quantiles at (k + ½)/count of the mean of the probes'
/// laws.
///
/// Between neighbouring nodes F is taken straight in s, the mass up to a node being half of its own weight
/// and that of all nodes below it: right to second order in the distance of nodes, where F with steps at the
/// nodes is right to first. Steps are left where a node converged(), where it has more than four times the
/// weight of either neighbour (an atom; what exceeds the neighbours is a step), and for half of the first and
/// last weight.
std::vector<double> log_quantiles(const std::vector<GaussQuadrature>& probes, int count);

/// Mass of [0, s) of the same law.
double mass_below(const GaussQuadrature& probe, double s);

/// How much more may lie below s, where s is below all nodes and the lowest has not converged(); else 0. By
/// Chebyshev, Markov and Stieltjes at most 1/Σ_i ℓ_i(s²)²/weight_i with Lagrange's polynomials ℓ_i of the
/// nodes' squares; of that sum the lowest node's term is taken.
double hidden_below(const GaussQuadrature& probe, double s);

/// The outermost node of several probes of one matrix. The largest is never above, the smallest never below
/// the true one, but for rounding.
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
