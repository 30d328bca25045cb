#pragma once

/// \file
/// Trains a model on a task, from the beginning or from a checkpoint.

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "train/learner.hpp"
#include "train/optimiser.hpp"
#include "tasks/baselines.hpp"
#include "train/training_log.hpp"

namespace spectra::train {

/// A training run.
struct TrainOptions {
    ModelConfig model;           ///< what is trained
    Schedule schedule;           ///< of the learning rate
    OptimiserOptions optimiser;  ///< of all parameters
    int64_t steps = 2000;        ///< of the optimiser
    int64_t stop_after = 0;  ///< stop and save at this step, as an interruption would; 0: at the end
    int64_t batch = 64;      ///< sequences
    int64_t accumulate = 1;  ///< batches whose gradients are averaged for one step
    double clip = 1.0;       ///< largest gradient norm; 0: any
    double gate_weight = 0.1;  ///< λ of the gates' regulariser
    std::uint64_t seed = 42;  ///< of the weights and batches
    torch::Device device = torch::kCPU;  ///< where it runs
    bool bfloat16 = false;  ///< branches under autocast (CUDA)
    int64_t log_every = 100;           ///< steps between two rows of the log
    std::filesystem::path checkpoint;  ///< written at every log row; empty: none
    bool resume = false;               ///< continue from the checkpoint
    std::string description;  ///< what was asked for (JSON), kept in the checkpoint; a resumed run must match
};

/// Where a run stands.
struct Progress {
    int64_t step;             ///< done
    int64_t steps;            ///< in all
    double loss;              ///< of the last batch
    double steps_per_second;  ///< so far
    double seconds_left;      ///< at that speed
};

/// The loss is NaN, infinite or a hundred times the first: the message names the step, the
/// layer and the tensor.
class Diverged : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// What a run calls.
struct TrainHooks {
    std::function<void(const Progress&)> progress = {};  ///< called after every step
    std::function<bool()> interrupted =
        {};  ///< asked before every step; true ends the run as stop_after does
};

/// Trains from the beginning or, with resume, from the checkpoint. On the CPU an interrupted run gives the
/// same bits as an uninterrupted one, for the same number of threads.
TrainResult train(const tasks::Dataset& data, const TrainOptions& options, const TrainHooks& hooks = {});

/// Mean loss over a whole split, in batches.
double evaluate(Learner& learner, const Batch& split, int64_t batch);

/// A split as tensors on a device (except the training stream of text, from which batches are drawn).
Batch tensors_of(const tasks::Dataset& data, const tasks::Split& split, torch::Device device);

}  // namespace spectra::train
