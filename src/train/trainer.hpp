#pragma once

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

struct TrainOptions {
    ModelConfig model;
    Schedule schedule;
    OptimiserOptions optimiser;
    int64_t steps = 2000;
    int64_t stop_after = 0;  ///< stop and save at this step, like an interruption; 0: at the end
    int64_t batch = 64;
    int64_t accumulate = 1;  ///< batches per step; their gradients are averaged
    double clip = 1.0;       ///< largest gradient norm; 0: no limit
    double gate_weight = 0.1;
    std::uint64_t seed = 42;  ///< of the weights and batches
    torch::Device device = torch::kCPU;
    bool bfloat16 = false;  ///< branches under autocast (CUDA)
    int64_t log_every = 100;
    std::filesystem::path checkpoint;  ///< written at every log row; empty: none
    bool resume = false;
    std::string description;  ///< the options (JSON), stored in the checkpoint; a resumed run must match
};

struct Progress {
    int64_t step, steps;
    double loss, steps_per_second, seconds_left;
};

/// The loss is NaN, infinite or a hundred times the first: the message names the step, the
/// layer and the tensor.
class Diverged : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct TrainHooks {
    std::function<void(const Progress&)> progress = {};
    std::function<bool()> interrupted = {};
};

/// Trains from the beginning or, with resume, from the checkpoint. On the CPU an interrupted run gives the
/// same bits as an uninterrupted one, for the same number of threads.
TrainResult train(const tasks::Dataset& data, const TrainOptions& options, const TrainHooks& hooks = {});

/// Mean loss over a whole split, in batches.
double evaluate(Learner& learner, const Batch& split, int64_t batch);

/// A split as tensors on a device (except the training stream of text, from which batches are drawn).
Batch tensors_of(const tasks::Dataset& data, const tasks::Split& split, torch::Device device);

}  // namespace spectra::train
