#pragma once

/// \file
/// The Network: mixers, branches and sizes. Theory and simulation both start from it.

#include "mixers/mixer.hpp"
#include "network/activation.hpp"

#include <string>
#include <variant>
#include <vector>

namespace spectra {

/// Largest number of layers. Larger values are almost certainly typos, as are those of the next two limits.
inline constexpr int max_depth = 1'000'000;
/// Largest number of streams.
inline constexpr int max_streams = 512;
/// Largest width of a stream.
inline constexpr int max_width = 100'000;
/// Largest L·n² to which one mixer for all layers is expanded when a file is read (512 MB of mixers).
inline constexpr double max_mixer_entries = 1 << 26;

/// Largest L·n for which the theory of tied branches is solved: every layer is coupled to every other.
inline constexpr int max_tied_size = 128;

/// Singular values of a bi-invariant branch, layer by layer: one set for all layers, or one per layer.
/// Empty: a Gaussian branch. Otherwise the variance σ_l² is the mean of their squares, and the branch's
/// sigma2 may stay empty.
using BranchLaw = std::vector<std::vector<double>>;

/// X_l with independent entries N(0, σ_l²/N), or bi-invariant N×N with the given singular values.
struct IsotropicBranch {
    std::vector<double> sigma2;  ///< σ_l², one per layer
    BranchLaw law = {};          ///< singular values in place of Gaussian entries
};

/// X_l = D_l W_l: W_l with independent entries N(0, σ_w²/N), D_l diagonal with φ'(h), h ~ N(0, q_l).
struct ActivationBranch {
    std::vector<double> sigma_w2;                     ///< σ_w² of every layer
    Activation activation = {};                       ///< φ, the same in all layers
    std::vector<double> preactivation_variance = {};  ///< q_l, one per layer; empty where the law needs none
};

/// X_l = (post_l pre_lᵀ) ⊗ F_l: the branch reads one weighted sum of the streams and writes to all of them.
/// F_l is p×p with independent entries N(0, σ_l²/p), or bi-invariant with the given singular values.
struct HyperConnectionBranch {
    std::vector<double> sigma2;         ///< σ_l², one per layer
    std::vector<Eigen::VectorXd> pre;   ///< what F_l reads: one per layer, of n entries
    std::vector<Eigen::VectorXd> post;  ///< where F_l writes: one per layer, of n entries
    BranchLaw law = {};                 ///< singular values of F_l in place of Gaussian entries
};

/// Weights shared over depth, in one set for all layers or in several alternating sets, like the attention
/// and the MLP of a recursive transformer. X_l = σ_l F_g with g the layer's set and one F with entries
/// N(0, 1/N) per set; or (post_l pre_lᵀ) ⊗ σ_l F_g, F with entries N(0, 1/p), if pre and post are given.
struct TiedBranch {
    std::vector<double> sigma2;              ///< σ_l², one per layer
    std::vector<Eigen::VectorXd> pre = {};   ///< one per layer; empty, with post: isotropic
    std::vector<Eigen::VectorXd> post = {};  ///< one per layer; empty, with pre: isotropic
    std::vector<int> weights = {};           ///< names the set of every layer; empty: one set

    /// Whether pre and post are given.
    bool hyper_connection() const { return !pre.empty(); }
};

/// The same X in every layer; a hyper-connection if pre and post are not empty.
TiedBranch tied_branch(std::size_t depth, double sigma2, const Eigen::VectorXd& pre = {},
                       const Eigen::VectorXd& post = {});

/// Singular triplets of a matrix: values s_i ≥ 0, and vectors u_i and v_i as columns.
struct Triplets {
    Eigen::VectorXd values;  ///< s_i
    Eigen::MatrixXd left;    ///< u_i, as columns
    Eigen::MatrixXd right;   ///< v_i, as columns

    /// How many.
    Eigen::Index count() const { return values.size(); }
    /// Σ_i s_i u_i v_iᵀ.
    Eigen::MatrixXd matrix() const { return left * values.asDiagonal() * right.transpose(); }
};

/// The branches of a trained network, whose layers are aligned with each other. A few measured triplets of every F_l
/// are kept with their vectors; the rest is free: it has the singular values `rest` and is turned at random in the
/// orthogonal complements of the kept vectors.
///
///     X_l = (post_l pre_lᵀ) ⊗ F_l + Δ_l        with pre and post: F_l is p×p
///     X_l = F_l + Δ_l                          without: F_l is N×N
///
/// Δ_l, a matrix of low rank on all N channels, is the derivative of mixers that depend on the input. The vectors fix
/// the width: this law is that of the given p, not the limit p → ∞.
struct AlignedBranch {
    std::vector<Eigen::VectorXd> pre = {};   ///< one per layer; empty, with post: F_l reads all channels
    std::vector<Eigen::VectorXd> post = {};  ///< one per layer; empty, with pre: F_l writes to all channels
    std::vector<Triplets> kept;              ///< one set per layer, orthonormal vectors
    BranchLaw rest;                          ///< one set per layer; with the kept triplets as many as F_l has rows
    std::vector<Triplets> derivative = {};   ///< Δ_l, one per layer, vectors of N entries, stream by stream; or none
    /// Names the set of every layer: layers of one set share the draw of their rest. Empty: all differ. Theory takes
    /// the rests of all layers as free of each other.
    std::vector<int> weights = {};

    /// Whether pre and post are given.
    bool hyper_connection() const { return !pre.empty(); }
};

/// The random branch of every layer. Branch models differ only in their covariance.
using Branch = std::variant<IsotropicBranch, ActivationBranch, HyperConnectionBranch, TiedBranch, AlignedBranch>;

/// A stack J = Y_L ··· Y_1, Y_l = A_l ⊗ I_p + X_l, of n residual streams of width p (N = n·p).
struct Network {
    int streams = 0;            ///< n
    int width = 25;             ///< p; theory is the limit p → ∞, simulation uses it
    std::vector<Mixer> mixers;  ///< A_1 … A_L, each n×n
    Branch branch;              ///< X_1 … X_L
    std::string mixer_name;     ///< what the user called the mixers: a family or a file
    std::string title;          ///< one line for captions: "cayley, L = 10, n = 4, p = 25, Lσ² = 0.05"

    /// Number of layers L.
    int depth() const { return static_cast<int>(mixers.size()); }
    /// Size N = n·p of the Jacobian.
    int size() const { return streams * width; }
};

/// "isotropic", "activation", "hyper-connection", "tied", "aligned".
std::string branch_name(const Branch& branch);

/// σ_l² of every layer: the variance of a branch's entries times N (p for hyper-connections), for an
/// activation σ_w² E φ'(h)², for an aligned branch that of all singular values, kept or not. Computed at every call: keep the result if you need it in a loop.
std::vector<double> sigma2(const Network& network);

/// Whether no branch is random: every σ_l² is zero, or nothing of an aligned branch is left to the rest.
bool noiseless(const Network& network);

/// Independent Gaussian entries, which every method except the chain requires.
bool isotropic_gaussian(const Network& network);

/// The singular values of a layer's branch, layers counted from 0; empty if it is Gaussian. Of an aligned branch those
/// of the rest.
std::vector<double> branch_law(const Network& network, std::size_t layer);

/// For every layer, the first layer with the same weights, counted from 0: the layer itself if weights are
/// independent, 0 if all layers share one set.
std::vector<std::size_t> first_with_weights(const Network& network);

/// Throws std::invalid_argument if sizes (limits above), signs or finiteness are wrong. Solvers and
/// simulation expect a checked network.
void check(const Network& network);

}  // namespace spectra
