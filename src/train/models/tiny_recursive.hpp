#pragma once

/// \file
/// The Tiny Recursive Model: one small network that improves a latent state and an answer in turn.

#include "jacobian/torch.hpp"
#include "train/models/transformer.hpp"

namespace spectra::train {

/// The Tiny Recursive Model (Jolicoeur-Martineau 2025) with the residual connections of a Transformer. Its network is
/// f(u) = norm(blocks(u)), with attention to all tokens. Of an embedded grid x, an answer y and a latent state z, all
/// (B, P + cells, C), one supervision step makes `answer_cycles` times
///
///     z ← f(x + y + z), `cycles` times;   y ← f(y + z),
///
/// of which only the last has gradients. The answer's logits are a linear map of y at the cells, and the logit of
/// halting one of y at the first token. A sequence is the puzzle's token, then the cells: the puzzle's embedding, P
/// tokens of the width of a stream, the same in all streams, takes the place of the first. All embeddings are times √C.
///
/// The published network normalises after every branch; here branches do so before (as in the other models), and f
/// once at its end, without which y and z would grow in every cycle.
class TinyRecursive : public Transformer {
public:
    /// Embeddings from N(0, 1/C), the starts of y and z (one vector each for all tokens; gradients reach them only if
    /// there is one answer cycle) from N(0, 1), embeddings of puzzles and the weights of the halting logit 0, its bias −5,
    /// else as a Transformer.
    explicit TinyRecursive(const ModelConfig& config);

    /// y and z.
    struct States {
        torch::Tensor answer;  ///< (B, P + cells, C)
        torch::Tensor latent;  ///< the same shape
    };
    /// Those before the first step, of as many sequences x (B, 1 + cells).
    States first_states(const torch::Tensor& x) const;

    /// What a supervision step gives.
    struct Step {
        States states;          ///< after it, without gradients
        torch::Tensor logits;   ///< (B, cells, kinds of tokens)
        torch::Tensor halt;     ///< (B): above 0, the answer is thought to be right
        torch::Tensor penalty;  ///< of the last cycle's mixers, or undefined
    };
    /// One supervision step.
    Step step(const torch::Tensor& x, const States& before);

    /// The latent recursion of the first step's last cycle.
    Start start(const torch::Tensor& x) override;

    /// The table of puzzles, (puzzles, P, C/n); undefined without puzzles.
    const torch::Tensor& puzzle_table() const { return puzzle_table_; }

private:
    torch::Tensor embed_grid(const torch::Tensor& x) const;
    /// One update of z and y by the recursion; returns the penalty.
    torch::Tensor cycle(const torch::Tensor& embedded, States& states);

    torch::Tensor answer_start_, latent_start_, puzzle_table_;
    torch::nn::Linear head_{nullptr}, halt_{nullptr};
};

}  // namespace spectra::train
