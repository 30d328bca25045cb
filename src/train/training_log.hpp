#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spectra::train {

/// One quantity along the network: a value for each sublayer (attention, MLP, attention, …; cycles included),
/// or for each block.
struct Diagnostic {
    std::string name;
    std::vector<double> values;
};

/// The log: a row at step 0, every log_every steps and at the last.
struct TrainingLog {
    /// step, loss (mean since the last row), val_loss, learning_rate, gradient_norm (before clipping, mean).
    static const std::vector<std::string>& columns();
    std::vector<std::vector<double>> rows;
    /// Beside each row: quantities along the network, and gradient_norm of each block.
    std::vector<std::vector<Diagnostic>> diagnostics;
};

struct TrainResult {
    int64_t steps = 0;  ///< done, in all runs together
    bool finished = false;
    double final_val_loss = 0;
    double best_val_loss = 0;
    int64_t parameters = 0;
    int64_t core_parameters = 0;  ///< 0 where the model has no core of its own
    std::vector<std::pair<std::string, double>> measures;
    TrainingLog log;
    double seconds = 0;           ///< of this run
    double steps_per_second = 0;  ///< training alone, after the first ten steps
};

}  // namespace spectra::train
