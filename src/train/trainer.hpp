#pragma once

/// \file
/// Trains a model on a task, from the beginning or from a checkpoint.

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tasks/baselines.hpp"
#include "train/batches.hpp"
#include "train/data_parallel.hpp"
#include "train/learner.hpp"
#include "train/optimiser.hpp"
#include "train/training_log.hpp"

namespace spectra::train {

/// A training run.
struct TrainOptions {
    ModelConfig model;           ///< what is trained
    Schedule schedule;           ///< of the learning rate
    OptimiserOptions optimiser;  ///< of all parameters
    int64_t steps = 2000;        ///< of the optimiser; 0: the model is evaluated and saved as it starts
    int64_t stop_after = 0;  ///< stop and save at this step, as an interruption would; 0: at the end
    int64_t batch = 64;      ///< sequences, of all processes together
    int64_t accumulate = 1;  ///< batches whose gradients are averaged for one step
    double clip = 1.0;       ///< largest gradient norm; 0: any
    double gate_weight = 0.1;  ///< λ of the gates' regulariser
    std::uint64_t seed = 42;  ///< of the weights and batches
    torch::Device device = torch::kCPU;  ///< where it runs
    bool bfloat16 = false;  ///< branches under autocast (CUDA)
    bool record = true;     ///< on a GPU: record what a step launches, and replay it
    int64_t log_every = 100;           ///< steps between two rows of the log
    std::filesystem::path checkpoint;  ///< written at every log row and between rows by time; empty: none
    /// Between two checkpoints, for at most a twentieth of the time: a kill loses no more training than that.
    double checkpoint_seconds = 60;
    bool resume = false;               ///< continue from the checkpoint
    DataParallel* processes = nullptr;  ///< that train this model together; null: this one alone
    std::string description;  ///< what was asked for (JSON), kept in the checkpoint; a resumed run must match
};

/// Where a run stands.
struct Progress {
    int64_t step;             ///< done
    int64_t steps;            ///< in all
    double loss;              ///< of the last batch
    double steps_per_second;  ///< so far, without evaluations
    double seconds_left;      ///< at that speed, with the evaluations to come
};

/// Where an evaluation within a run stands.
struct Evaluation {
    int64_t step;   ///< of the run
    int64_t steps;  ///< in all
    std::string_view what;  ///< "validation", "diagnostics", "roll-out"
    int64_t done;   ///< sequences, sublayers or positions; 0 at the beginning
    int64_t total;  ///< of them
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
    std::function<void(const Evaluation&)> evaluating = {};  ///< called between parts of an evaluation
    /// Asked before every step and between parts of an evaluation. True ends the run as stop_after does, but
    /// without a validation loss at the end; an evaluation that was cut short is repeated on resuming.
    std::function<bool()> interrupted = {};
    /// Seconds since any moment, for checkpoints by time; without it those of a steady clock.
    std::function<double()> clock = {};
};

/// Trains from the beginning or, with resume, from the checkpoint. On the CPU an interrupted run gives the
/// same bits as an uninterrupted one, for the same number of threads. Interrupted before the first row of the log
/// is complete, it writes nothing and returns an empty log.
/// Several processes each take their share of every batch, and the first one writes checkpoints. Apart from rounding, the
/// model is that of one process: which of them are interrupted, continued or read by another number is of no account.
TrainResult train(const tasks::Dataset& data, const TrainOptions& options, const TrainHooks& hooks = {});

/// Means over a whole split, in batches. `tick` counts sequences.
Learner::Judged judge(Learner& learner, const Batch& split, int64_t batch, const Tick& tick = {});
/// Its loss only.
double evaluate(Learner& learner, const Batch& split, int64_t batch, const Tick& tick = {});

/// Sequences per batch of an evaluation, whatever the batch of training: enough to keep the device busy, few enough
/// that a batch takes about a second and little memory.
int64_t evaluation_batch(int64_t positions, int64_t parameters, torch::Device device);

}  // namespace spectra::train
