#pragma once

/// \file
/// The ways in which codes compute a hyper-connection from its raw numbers.

#include "mixers/mixer.hpp"

#include <array>
#include <string>
#include <vector>

namespace spectra::validation {

/// The raw numbers of a hyper-connection of n streams, and the states it was applied to.
///
/// With x̂ = x/√(mean x² + ε_x), a token's n·p numbers, the raw numbers are  h = s · (Φ x̂) + b  in three slices, n of
/// `pre`, n of `post` and n² of the mixer, row by row, each with its scale s.
struct ConnectionInput {
    Eigen::MatrixXd projection;           ///< Φ, (n² + 2n) × n·p
    Eigen::VectorXd bias;                 ///< b, n² + 2n
    Eigen::Vector3d scale;                ///< s of pre, post and mixer
    std::vector<Eigen::MatrixXd> states;  ///< x of every token, n × p
    std::vector<Eigen::VectorXd> branch;  ///< what the branch F returned for every token, p
    int sweeps = 20;                      ///< T of Sinkhorn's normalisation
    double epsilon = 1e-6;                ///< ε
    double norm_epsilon = 1e-6;           ///< ε_x

    /// n.
    int streams() const { return static_cast<int>(states.front().rows()); }
};

/// What a connection computes for one token: X' = A X + post ⊗ F(pre · X), with A = H or A = Hᵀ.
struct ConnectionOutput {
    Eigen::VectorXd pre;     ///< n
    Mixer mixer;             ///< H, as the code keeps it
    Eigen::VectorXd post;    ///< n
    Eigen::MatrixXd output;  ///< X', n × p
};

/// One way to compute it. The defaults are those of DeepSeek-V4:
///
///     pre = σ(h_pre) + ε,  post = 2σ(h_post),
///     M = softmax(h_res) by rows + ε, then 2T − 1 passes, columns first: divided by their sums + ε, rows after columns,
///     X' = Mᵀ X + post ⊗ F(pre · X).
struct ConnectionScheme {
    /// The slices of the raw numbers.
    enum class Slice { pre, post, mixer };
    /// What the mixer starts from.
    enum class Start { exponential, softmax };

    std::array<Slice, 3> order{Slice::pre, Slice::post, Slice::mixer};  ///< in which they lie
    bool scales_by_place = false;    ///< the k-th scale belongs to the k-th slice, whatever that is
    Start start = Start::softmax;    ///< of the normalisation
    bool rows_first = false;         ///< what is normalised first
    bool last_pass = false;          ///< 2T passes, not 2T − 1
    bool pre_epsilon = true;         ///< ε is added to pre
    bool mixer_epsilon = true;       ///< ε is added to the softmax and to the sums
    bool doubled_post = true;        ///< post has its factor 2
    bool transposed_raw = false;     ///< h_res lies column by column
    bool kept_transposed = false;    ///< the code keeps Mᵀ as its mixer
    bool applied_transposed = true;  ///< the code applies its mixer H as Hᵀ

    bool operator==(const ConnectionScheme&) const = default;
    /// Whether the matrix that acts on the streams is Mᵀ.
    bool acts_transposed() const { return kept_transposed != applied_transposed; }
};

/// DeepSeek-V4's: the defaults.
ConnectionScheme deepseek_scheme();
/// That of the mHC paper (arXiv 2512.24880): exp, T sweeps of columns and rows, no ε, X' = M X + ….
ConnectionScheme mhc_scheme();

/// Φ x̂ of every token, one per column: what all schemes share.
Eigen::MatrixXd projected_states(const ConnectionInput& input);

/// h in one slice of a token: `projected` is Φ x̂.
Eigen::VectorXd raw_numbers(const ConnectionInput& input, const ConnectionScheme& scheme,
                            const Eigen::VectorXd& projected, ConnectionScheme::Slice slice);
/// pre from its raw numbers.
Eigen::VectorXd pre_of(const ConnectionInput& input, const ConnectionScheme& scheme,
                       const Eigen::VectorXd& raw);
/// post from its raw numbers.
Eigen::VectorXd post_of(const ConnectionScheme& scheme, const Eigen::VectorXd& raw);
/// The mixer as the code keeps it, from its raw numbers.
Mixer mixer_of(const ConnectionInput& input, const ConnectionScheme& scheme, const Eigen::VectorXd& raw);
/// X' of a given mixer and post.
Eigen::MatrixXd output_of(const Mixer& mixer, bool applied_transposed, const Eigen::VectorXd& post,
                          const Eigen::MatrixXd& state, const Eigen::VectorXd& branch);

/// All of it, for every token.
std::vector<ConnectionOutput> compute_connection(const ConnectionInput& input,
                                                 const ConnectionScheme& scheme);

/// The differences between two schemes, in words, one line each: "the mixer is transposed", "rows are normalised before
/// columns". None where they compute the same.
std::vector<std::string> differences(const ConnectionScheme& reference, const ConnectionScheme& candidate);

}  // namespace spectra::validation
