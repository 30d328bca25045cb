#pragma once

#include "tasks/dataset.hpp"
#include "train/learner.hpp"
#include "train/models/tiny_recursive.hpp"

#include <memory>

namespace spectra::train {

/// What deep supervision carries from one optimiser's step to the next, for every place of the batch.
struct Carry {
    TinyRecursive::States states;  ///< y and z, without gradients
    torch::Tensor x, y;            ///< the sequence that is being solved, and its target
    torch::Tensor steps;           ///< (B): supervision steps that it has had
    torch::Tensor halted;          ///< (B): it is done; the next one takes its place
};

/// The places that have halted take the batch's sequences, with the first states and no steps; the others stay.
Carry refilled(const Carry& carry, const TinyRecursive::States& first, const Batch& batch);

/// Whether places halt after a step: their logit is above 0, but not before `least_steps`; at `most` in any case.
torch::Tensor halts(const torch::Tensor& halt_logits, const torch::Tensor& steps,
                    const torch::Tensor& least_steps, int64_t most);

/// The Tiny Recursive Model on a grid task. An optimiser's step is one supervision step of every sequence of the batch,
/// with the loss
///
///     stablemax cross-entropy + ½ BCE(halting logit, the answer is exactly right),
///
/// the second as penalty. In judging every sequence has all steps. The means are
///   cell_accuracy    share of the scored cells that are right, mean over grids
///   exact_accuracy   share of grids with every scored cell right
///   halting_step     the first step after which training would have halted, without exploration
///   halt_accuracy    share of grids whose halting logit says after the last step whether the answer is right
/// and the measures these of all validation grids, and pass_at_1, _2, _5, _10 and _100: of 100 samples of every grid,
/// each cell drawn by itself from its stablemax probabilities after the last step.
/// Throws std::invalid_argument for other tasks.
std::unique_ptr<Learner> make_grid_learner(const tasks::Dataset& data, ModelConfig config,
                                           double gate_weight);

}  // namespace spectra::train
