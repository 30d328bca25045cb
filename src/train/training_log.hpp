#pragma once

/// \file
/// What a training run logs and returns.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spectra::train {

/// One quantity along the network: one value per sublayer (attention, MLP, attention, …; cycles included), per block or
/// per position, or one of the whole model.
struct Diagnostic {
    std::string name;            ///< of the quantity
    std::vector<double> values;  ///< first applied first
};

/// The log: one row at step 0, every log_every steps and at the last step.
struct TrainingLog {
    /// step, loss (mean since the last row), val_loss, learning_rate, gradient_norm (before clipping, mean).
    static const std::vector<std::string>& columns();
    std::vector<std::vector<double>> rows;  ///< one number per column
    /// Beside each row: quantities along the network, and gradient_norm of each block. Of a model that is no
    /// transformer the measures.
    std::vector<std::vector<Diagnostic>> diagnostics;
};

/// What came of a training run.
struct TrainResult {
    int64_t steps = 0;            ///< done, in all runs together
    bool finished = false;        ///< all steps are done
    double final_val_loss = 0;    ///< on the validation split, at the end; NaN if the run was interrupted before
    double best_val_loss = 0;     ///< smallest of all rows of the log
    int64_t parameters = 0;       ///< numbers in all parameters
    int64_t core_parameters = 0;  ///< 0 where the model has no core of its own
    /// Of Learner::measures, and how the rank of the states went at the last row of the log.
    std::vector<std::pair<std::string, double>> measures;
    TrainingLog log;                                       ///< of all runs together
    double seconds = 0;             ///< of this run
    double evaluation_seconds = 0;  ///< of these: validation losses, diagnostics and measures
    int64_t replayed_steps =
        0;  ///< of this run: recorded once on a GPU and replayed; the others were launched anew
    double steps_per_second = 0;  ///< only training, after the first ten steps
};

}  // namespace spectra::train
