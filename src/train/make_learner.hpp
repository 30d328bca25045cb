#pragma once

/// \file
/// Makes the model of a task, with its loss.

#include <memory>

#include "tasks/dataset.hpp"
#include "train/learner.hpp"
#include "train/models/transformer.hpp"

namespace spectra::train {

/// The model that a task and a configuration ask for. The reflection task has models of its own (ddl, jpmhc,
/// edelta), and trm learns grids only; every other is a Transformer. gate_weight: λ of the gates' regulariser, summed over sublayers.
std::unique_ptr<Learner> make_learner(const tasks::Dataset& data, const ModelConfig& config,
                                      double gate_weight);

}  // namespace spectra::train
