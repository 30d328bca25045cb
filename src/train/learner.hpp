#pragma once

/// \file
/// A model and the loss that its task defines.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/models/reflection.hpp"
#include "train/models/transformer.hpp"
#include "tasks/dataset.hpp"
#include "jacobian/torch.hpp"

namespace spectra::train {

/// A split's tensors on the training device: x and y (count, steps, dimension) or tokens (count, steps).
struct Batch {
    torch::Tensor x;  ///< inputs
    torch::Tensor y;  ///< targets
};

/// A model and how the task judges it.
class Learner {
public:
    virtual ~Learner() = default;
    /// The model.
    virtual torch::nn::Module& module() = 0;
    /// Null where the model is no transformer.
    virtual Transformer* transformer() { return nullptr; }

    /// A loss in two parts.
    struct Loss {
        torch::Tensor task;     ///< what is reported: mean square error, or cross-entropy in nats
        torch::Tensor penalty;  ///< what is added in training, weighted; or undefined
    };
    /// The loss of a batch.
    virtual Loss loss(const Batch& batch) = 0;

    /// What is measured at the end beside the loss, by its name in --json: cosine, gate, beta, accuracy,
    /// norm_deviation, norm_deviation_rollout.
    virtual std::vector<std::pair<std::string, double>> measures(const Batch& validation) = 0;
};

/// The model that a task and a configuration ask for. The reflection task has models of its own (ddl, jpmhc,
/// edelta); every other a Transformer. gate_weight: λ of the gates' regulariser 4γ(1 − γ), summed over
/// sublayers.
std::unique_ptr<Learner> make_learner(const tasks::Dataset& data, const ModelConfig& config, double gate_weight);

}  // namespace spectra::train
