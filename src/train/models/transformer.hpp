#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "train/models/connection.hpp"
#include "jacobian/torch.hpp"

namespace spectra::train {

/// A pre-norm transformer with any kind of residual connections.
struct ModelConfig {
    std::string architecture = "gpt";
    std::string mixer;  ///< for a plain stack with that mixer, and for recursive models
    int64_t layers = 9;
    int64_t cycles = 1;  ///< how often the blocks are applied, with shared weights
    int64_t channels = 128;
    int64_t streams = 4;
    int64_t heads = 4;
    bool rotary = false;  ///< positions by rotation of queries and keys; otherwise a learned table
    Pooling pooling = Pooling::causal;
    bool published_start = false;
    bool static_mappings = false;    ///< for hyper-connections: input-independent mixer, pre and post
    bool checkpoint_blocks = false;  ///< keep only the states between blocks, recompute the rest
    MixerOptions mixer_options = {};

    // Inputs and outputs: vectors of `dimension` numbers, or tokens of that many kinds.
    bool tokens = false;
    int64_t dimension = 16;
    int64_t context = 256;  ///< rows of the position table: tokens + 1
};

/// Names of the architectures, in the order shown to users.
const std::vector<std::string>& architecture_names();

/// The published widths and depths (about 1.8 M parameters), for an architecture or a stack with a mixer.
ModelConfig matched_config(const std::string& architecture, const std::string& mixer = "");

class Block : public torch::nn::Module {
public:
    Block(const ModelConfig& config, int64_t layer);
    Connection::Output forward(const torch::Tensor& x);

    /// One sublayer, 0 attention, 1 MLP, for validation.
    Connection& connection(int sublayer) const {
        return *(sublayer == 0 ? attn_connection_ : mlp_connection_);
    }
    Connection::Branch branch(int sublayer);
    /// The same for token t only, (B, 1, width) → (B, 1, width), with `fed` (1, T, width) as the core's input
    /// for the others: their keys and values are computed once, and a row costs O(T width) beside its
    /// projections.
    Connection::Branch branch_at(int sublayer, const torch::Tensor& fed, int64_t t);

private:
    /// q, k and v, (B, heads, T, width/heads) each, for tokens from position `first` on.
    std::array<torch::Tensor, 3> projected(const torch::Tensor& x, int64_t first);

    bool rotary_;
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

    struct Output {
        torch::Tensor prediction;  ///< (B, T, dimension): vectors, or logits
        torch::Tensor penalty;     ///< Σ over sublayers of their mean regularisers, or undefined
    };
    /// x: (B, T, dimension) numbers or (B, T) tokens.
    Output forward(const torch::Tensor& x);

    // The same in three steps: before the first block, the blocks, after the last block.
    torch::Tensor embed(const torch::Tensor& x);
    Connection::Output propagate(const torch::Tensor& state);
    torch::Tensor read_out(const torch::Tensor& state);

    /// Sublayer by sublayer, cycles included: see(connection, state before, state after).
    using See = std::function<void(Connection&, const torch::Tensor&, const torch::Tensor&)>;
    void walk(const torch::Tensor& state, const See& see);

    /// The connections' orthonormal frames: parameters that the optimiser must keep orthonormal.
    std::vector<torch::Tensor> frames() const;

    const ModelConfig& config() const { return config_; }
    const std::vector<std::shared_ptr<Block>>& blocks() const { return blocks_; }

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
