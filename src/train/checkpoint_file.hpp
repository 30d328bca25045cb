#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "jacobian/torch.hpp"

namespace spectra::train {

/// Everything a training run needs to continue as if it had not been interrupted. Batches depend only on
/// (seed, step), so there is no generator state to store.
struct Checkpoint {
    std::string config;  ///< the options of the run (JSON text)
    int64_t step = 0;    ///< steps done
    double best_val_loss = 0;
    std::map<std::string, torch::Tensor> model;  ///< parameters by name
    torch::Tensor first_moment, second_moment;   ///< of the optimiser
    torch::Tensor log;                           ///< (rows, columns), double: the log so far
    std::string log_columns;                     ///< their names (JSON text)
    torch::Tensor pending;                       ///< sums for the next row of the log
    std::map<std::string, torch::Tensor> carried = {};  ///< by the model from step to step (Learner::carried)
    std::string tokeniser;  ///< of a text (JSON text); "" for other tasks, and in earlier files
};

/// The file appears complete or not at all; an earlier checkpoint of that name is kept as PATH.previous. It
/// has the format of torch.save: torch.load opens it, with weights_only=True ({model, optimizer, iter_num, best_val_loss, config}).
void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Throws std::invalid_argument, one line that begins with the file's name, if it is missing, truncated,
/// damaged or not a checkpoint; the line reports if PATH.previous is intact.
Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace spectra::train
