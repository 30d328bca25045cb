#pragma once

/// \file
/// The residual connections around a branch: hyper-connections, mixers, and plain residuals.

#include <functional>
#include <memory>
#include <string>

#include "train/modules/mixer.hpp"
#include "jacobian/torch.hpp"

namespace spectra::train {

/// The input of an input-dependent operator that acts on whole sequences: the mean of the tokens so far
/// (causal), or of all tokens as published by the EΔ suite (which reveals the targets to the operator).
enum class Pooling { causal, published };

/// The action of a connection on one state: X' = A X + post F(pre X), X (tokens, n, p).
struct Mixing {
    torch::Tensor matrix;  ///< A: (B, T or 1, n, n) on the stream axis; undefined: the identity
    torch::Tensor pre;     ///< (B, T, n): how F reads, if it reads a combination of streams; or undefined
    torch::Tensor post;    ///< (B, T, n): factors of F's output, or undefined
    torch::Tensor raw;     ///< the raw numbers of the matrix, or undefined
};

/// One residual connection around a branch F: attention or MLP with its norm. The state is (B, T, C); a
/// connection of n streams treats C = n p as (n, p).
class Connection : public torch::nn::Module {
public:
    /// F = core ∘ norm, both (B, T, width) → (B, T, width).
    struct Branch {
        std::function<torch::Tensor(const torch::Tensor&)> norm;  ///< applied first
        std::function<torch::Tensor(const torch::Tensor&)> core;  ///< attention or MLP
        /// F(x).
        torch::Tensor operator()(const torch::Tensor& x) const { return core(norm(x)); }
    };

    /// The next state and the mixer's regulariser averaged over inputs (undefined if it has none).
    struct Output {
        torch::Tensor state;    ///< (B, T, C)
        torch::Tensor penalty;  ///< a scalar, or undefined
    };
    /// The next state.
    virtual Output forward(const torch::Tensor& x, const Branch& branch) = 0;

    /// A, pre and post at this input, as forward() applies them.
    virtual Mixing mixing(const torch::Tensor& x) = 0;

    /// Channels F works on: C, or p.
    virtual int64_t branch_width() const = 0;
    /// Streams the matrix acts on: 1 for a plain residual, C for an operator on the channel axis.
    virtual int64_t streams() const = 0;
    /// The mixer family; null for a plain residual, MGT and the Delta operator on channels.
    virtual const Mixer* mixer() const { return nullptr; }
    /// Gates, β and the like at this input, by name.
    virtual std::vector<std::pair<std::string, torch::Tensor>> statistics(const torch::Tensor& x);
    /// Full projections that belong to the block by name (h_pre_attn, …).
    virtual void register_projections(torch::nn::Module& /*block*/, const std::string& /*sublayer*/) {}
    /// Parameters that are orthonormal frames (n×rank, as views): the optimiser keeps them orthonormal
    /// (CayleyAdam).
    virtual std::vector<torch::Tensor> frames() const { return {}; }
    /// Sets values that the global initialisation would overwrite; called after it.
    virtual void start() {}
};

/// The configuration of a connection.
struct ConnectionConfig {
    std::string architecture;  ///< of architecture_names() (transformer.hpp), or mixer
    std::string mixer;         ///< family of architecture "mixer" (and of "recursive" models)
    int64_t channels = 128;    ///< C
    int64_t streams = 4;       ///< n
    int64_t layer = 0;  ///< of the sublayer, from 0: hyper-connections start by reading stream layer mod n
    Pooling pooling = Pooling::causal;  ///< how an input-dependent operator sees its input
    bool published_start = false;  ///< EΔ's projections from N(0, .02) as that code does, not the identity
    bool static_mappings = false;  ///< hyper-connections whose mixer, pre and post see no input: H̃ = b
    bool value_injection = false;  ///< ddl: (I − β k kᵀ) x + β k v, with a scalar v from the input
    bool post_norm = false;        ///< plain residuals and mgt: the norm is applied to the sum, not before F
    double beta_scale = 1.0;       ///< mgt: λ of β = λ tanh(x W + b) + ε
    double beta_offset = 0.01;     ///< mgt: ε
    MixerOptions mixer_options = {};  ///< of the mixer family
};

/// Whether models of this architecture have hyper-connections, which may have static mappings.
bool has_hyper_connections(const std::string& architecture);

/// Whether an architecture has parallel streams; the others act on all channels at once.
bool has_streams(const std::string& architecture);

/// Whether the norm of an architecture's branches may come after the sum.
bool has_movable_norm(const std::string& architecture);

/// The connection of an architecture. Throws std::invalid_argument for an unknown one.
std::shared_ptr<Connection> make_connection(const ConnectionConfig& config);
/// The name under which a block registers its connection, before "_attn" or "_mlp": geo, jpmhc, mhc, delta,
/// ….
std::string connection_name(const ConnectionConfig& config);

/// The modules of the JPmHC paper's Table 8 (n streams of p channels): sinkhorn, cayley, grassmann,
/// permutation.
std::shared_ptr<Connection> make_jpmhc_module(const std::string& variant, int64_t streams,
                                              int64_t stream_width);

/// Mean of the tokens up to each token (causal: (B, T, C)) or of all (published: (B, 1, C)).
torch::Tensor pooled(const torch::Tensor& x, Pooling pooling);

}  // namespace spectra::train
