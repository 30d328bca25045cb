#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spectra::train {

/// One quantity along the network: one value per sublayer (attention, MLP, attention, …; cycles included),
/// or per block.
struct Diagnostic {
    std::string name;
    std::vector<double> values;
};

/// The log: one row at step 0, every log_every steps and at the last step.
struct TrainingLog {
    /// step, loss (mean since the last row), val_loss, learning_rate, gradient_norm (before clipping, mean).
    static const std::vector<std::string>& columns();
    std::vector<std::vector<double>> rows;
    /// For each row: quantities along the network, and gradient_norm of each block.
    std::vector<std::vector<Diagnostic>> diagnostics;
};

struct TrainResult {
    int64_t steps = 0;  ///< done, over all runs
    bool finished = false;
    double final_val_loss = 0;
    double best_val_loss = 0;
    int64_t parameters = 0;
    int64_t core_parameters = 0;  ///< 0 if the model has no separate core
    std::vector<std::pair<std::string, double>> measures;
    TrainingLog log;
    double seconds = 0;           ///< of this run
    double steps_per_second = 0;  ///< only training, after the first ten steps
};

}  // namespace spectra::train
