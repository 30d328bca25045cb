#pragma once

/// \file
/// The gradients of a training step, recorded on a GPU and replayed.

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "train/learner.hpp"
#include "train/optimiser.hpp"
#include "train/step_graph.hpp"

namespace spectra::train {

/// What a batch gives the optimiser.
struct Gradients {
    torch::Tensor gradient;  ///< in the order of the vector of parameters
    double loss, norm;
};

/// What is launched for the gradients of a step, and where it reads and writes.
class RecordedStep {
public:
    /// The loss of a batch and its gradients, on the device.
    using Compute = std::function<std::pair<torch::Tensor, Optimiser::Gathered>(const Batch&)>;

    /// Records it for batches of this one's sizes. Null if it waits for the device.
    static std::unique_ptr<RecordedStep> record(const Batch& batch, const Compute& compute);

    /// Nothing if the batch has other sizes, or if something could not be computed without waiting.
    std::optional<Gradients> replay(const Batch& batch);

private:
    StepGraph graph_;
    Batch batch_;
    torch::Tensor gradient_;
    torch::Tensor summary_;  ///< loss, norm of the gradient, 1 if something could not be computed
};

}  // namespace spectra::train
