#pragma once

/// \file
/// A transformer with any of the residual connections.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "train/models/connection.hpp"
#include "jacobian/torch.hpp"

namespace spectra::train {

/// A transformer with any kind of residual connections.
struct ModelConfig {
    std::string architecture = "gpt";   ///< of architecture_names()
    std::string mixer;                  ///< of a plain stack with that mixer, and of recursive models
    int64_t layers = 9;                 ///< blocks
    int64_t cycles = 1;                 ///< how often the blocks are applied, weights shared
    int64_t channels = 128;             ///< C, of a state
    int64_t streams = 4;                ///< n
    int64_t heads = 4;                  ///< of attention
    bool rotary = false;                ///< positions by rotation of queries and keys; else a learned table
    bool causal = true;                 ///< attention sees earlier tokens only
    Pooling pooling = Pooling::causal;  ///< how input-dependent operators see their input
    bool published_start = false;       ///< ConnectionConfig::published_start
    bool static_mappings = false;    ///< of hyper-connections: mixer, pre and post see no input
    bool value_injection = false;    ///< ConnectionConfig::value_injection
    bool post_norm = false;          ///< ConnectionConfig::post_norm
    double beta_scale = 1.0;         ///< ConnectionConfig::beta_scale
    double beta_offset = 0.01;       ///< ConnectionConfig::beta_offset
    bool checkpoint_blocks = false;  ///< keep only the states between blocks, compute the rest again
    MixerOptions mixer_options = {};  ///< of the mixer family

    // Of the Tiny Recursive Model (models/tiny_recursive.hpp).
    int64_t answer_cycles = 3;  ///< T: updates of the answer per supervision step, the last with gradients
    int64_t supervision_steps = 16;  ///< N: at most so many per sequence
    double halt_exploration = 0.1;   ///< probability that a sequence may not halt before a drawn step
    int64_t puzzle_tokens = 16;      ///< tokens of a puzzle's embedding
    int64_t puzzles = 0;             ///< rows of their table

    bool tokens = false;     ///< inputs and outputs are tokens, not vectors
    int64_t dimension = 16;  ///< numbers of a vector, or kinds of tokens
    int64_t context = 256;  ///< rows of the position table: tokens + 1
};

/// Names of the architectures, in the order shown to users.
const std::vector<std::string>& architecture_names();

/// The published widths and depths (about 1.8 M parameters) and places of norms, for an architecture or a stack with
/// a mixer.
ModelConfig matched_config(const std::string& architecture, const std::string& mixer = "");

/// Attention and MLP, each inside its residual connection.
class Block : public torch::nn::Module {
public:
    /// Block number `layer`, from 0.
    Block(const ModelConfig& config, int64_t layer);
    /// The state after the block, (B, T, C) → (B, T, C).
    Connection::Output forward(const torch::Tensor& x);

    /// One sublayer, 0 attention, 1 MLP, for validation.
    Connection& connection(int sublayer) const {
        return *(sublayer == 0 ? attn_connection_ : mlp_connection_);
    }
    /// The branch of a sublayer.
    Connection::Branch branch(int sublayer);
    /// The same for token t only, (B, 1, width) → (B, 1, width), with `fed` (1, T, width) as the core's input
    /// for the others: their keys and values are computed once, and a row costs O(T width) beside its
    /// projections.
    Connection::Branch branch_at(int sublayer, const torch::Tensor& fed, int64_t t);

private:
    /// q, k and v, (B, heads, T, width/heads) each, for tokens from position `first` on.
    std::array<torch::Tensor, 3> projected(const torch::Tensor& x, int64_t first);

    bool rotary_, causal_;
    int64_t heads_ = 1;
    torch::Tensor ln_1_, ln_2_;
    torch::nn::Linear c_attn_{nullptr}, attn_proj_{nullptr}, c_fc_{nullptr}, mlp_proj_{nullptr};
    std::shared_ptr<Connection> attn_connection_, mlp_connection_;
};

/// Input projection or embedding, positions, blocks (× cycles), norm, output projection. Parameters have the
/// names of the EΔ suite, so that files of both are read in the same way.
class Transformer : public torch::nn::Module {
public:
    /// Weights are drawn from torch's default generator: N(0, .02), projections into the residual
    /// .02/√(2 layers cycles), biases 0, then the initial values of each connection.
    explicit Transformer(const ModelConfig& config);

    /// What forward() gives.
    struct Output {
        torch::Tensor prediction;  ///< (B, T, dimension): vectors, or logits
        torch::Tensor penalty;     ///< Σ over sublayers of their mean regularisers, or undefined
    };
    /// x: (B, T, dimension) numbers or (B, T) tokens.
    Output forward(const torch::Tensor& x);

    /// First step of forward(): what comes before the first block.
    torch::Tensor embed(const torch::Tensor& x);

    /// Where the blocks begin. Where the cycles update a latent state z ← norm(blocks(z + added)), the sum is the
    /// state before them.
    struct Start {
        /// From a state alone, or with what is added.
        Start(torch::Tensor before, torch::Tensor injected = {})  // NOLINT(google-explicit-constructor)
            : state(std::move(before)), added(std::move(injected)) {}
        torch::Tensor state;  ///< before the first block, (B, T, C)
        torch::Tensor
            added;  ///< to the normalised state before every further cycle; or undefined: it goes on as it is
    };
    /// Where this model's blocks begin for an input: embed(x), unless it is recursive in a latent state.
    virtual Start start(const torch::Tensor& x) { return embed(x); }
    /// By the norm after the last block.
    torch::Tensor normalised(const torch::Tensor& state) const;
    /// The state of a further cycle, from that after the last.
    torch::Tensor next_cycle(const torch::Tensor& state, const Start& from) const {
        return from.added.defined() ? normalised(state) + from.added : state;
    }

    /// Second step: the blocks, in all cycles.
    Connection::Output propagate(const Start& from);
    /// Third step: what comes after the last block.
    torch::Tensor read_out(const torch::Tensor& state);

    /// Called with a connection, the state before it and the state after it.
    using See = std::function<void(Connection&, const torch::Tensor&, const torch::Tensor&)>;
    /// Runs the blocks sublayer by sublayer, cycles included, and calls `see` after each.
    void walk(const Start& from, const See& see);

    /// The connections' orthonormal frames: parameters that the optimiser must keep orthonormal.
    std::vector<torch::Tensor> frames() const;

    /// As it was made.
    const ModelConfig& config() const { return config_; }
    /// First applied first.
    const std::vector<std::shared_ptr<Block>>& blocks() const { return blocks_; }

protected:
    /// All blocks once.
    Connection::Output pass(const torch::Tensor& state);
    /// (kinds of tokens, C), or undefined.
    const torch::Tensor& token_table() const { return embedding_; }

private:
    ModelConfig config_;
    torch::nn::Linear input_proj_{nullptr}, output_proj_{nullptr};
    torch::Tensor positions_, embedding_, ln_f_;
    std::vector<std::shared_ptr<Block>> blocks_;
};

/// Count of numbers in all parameters, trained or unused.
int64_t parameter_count(const torch::nn::Module& module);
/// The parameter count of the core as stated by the EΔ suite: blocks, final norm, a one-row embedding and 64
/// positions.
int64_t core_parameter_count(const Transformer& model);

}  // namespace spectra::train
