#pragma once

/// \file
/// A model and the loss that its task defines.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "jacobian/torch.hpp"
#include "train/models/transformer.hpp"

namespace spectra::train {

/// A split's tensors on the training device: x and y (count, steps, dimension) or tokens (count, steps).
struct Batch {
    torch::Tensor x;  ///< inputs
    torch::Tensor y;  ///< targets
    torch::Tensor least_steps = {};  ///< (count): of a model that halts, supervision steps before it may
};

/// The mean of all values, in double.
inline double mean_of(const torch::Tensor& values) {
    return values.to(torch::kDouble).mean().item<double>();
}

/// Called between the parts of a long evaluation with the number that is done and the total, first with 0. It
/// may throw, which ends the evaluation.
using Tick = std::function<void(int64_t done, int64_t total)>;

/// A model and its losses and measures on the task.
class Learner {
public:
    virtual ~Learner() = default;
    /// The model.
    virtual torch::nn::Module& module() = 0;
    /// Null if the model is not a transformer.
    virtual Transformer* transformer() { return nullptr; }
    /// Parameters that SignSGD moves, whatever the optimiser of the others.
    virtual std::vector<torch::Tensor> moved_by_sign() const { return {}; }

    /// A loss in two parts.
    struct Loss {
        torch::Tensor task;     ///< reported: mean square error, or cross-entropy in nats
        torch::Tensor penalty;  ///< added in training, weighted; or undefined
    };
    /// The loss of a batch, in training.
    virtual Loss loss(const Batch& batch) = 0;
    /// After a step with the gradients of the last loss(): what the model carries from one step to the next becomes
    /// that after the step.
    virtual void advance() {}
    /// What it carries, by name, as floats; empty if nothing, or before the first step.
    virtual std::vector<std::pair<std::string, torch::Tensor>> carried() const { return {}; }
    /// Continues from carried().
    virtual void carry(const std::vector<std::pair<std::string, torch::Tensor>>& /*before*/) {}

    /// How a model does on data.
    struct Judged {
        double loss = 0;                                    ///< of the task
        std::vector<std::pair<std::string, double>> means;  ///< further means over sequences, by name
    };
    /// Of a batch that it does not learn from.
    virtual Judged judge(const Batch& batch) { return {loss(batch).task.item<double>(), {}}; }

    /// Further measures at the end, by their names in --json: cosine, gate, beta, accuracy,
    /// norm_deviation, norm_deviation_rollout, and those of grids (grid_learner.hpp). The trainer adds perplexity and
    /// bits_per_byte of text.
    virtual std::vector<std::pair<std::string, double>> measures(const Batch& validation,
                                                                 const Tick& tick = {}) = 0;
};

}  // namespace spectra::train
