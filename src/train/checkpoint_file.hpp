#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "jacobian/torch.hpp"

namespace spectra::train {

/// Everything a training run needs to go on as if nothing had happened. Batches depend on (seed, step) alone,
/// so there is no generator whose state would have to be kept.
struct Checkpoint {
    std::string config;  ///< what the run was asked for (JSON text)
    int64_t step = 0;    ///< steps done
    double best_val_loss = 0;
    std::map<std::string, torch::Tensor> model;  ///< parameters by name
    torch::Tensor first_moment, second_moment;   ///< of the optimiser
    torch::Tensor log;                           ///< (rows, columns), double: the log up to here
    std::string log_columns;                     ///< their names (JSON text)
    torch::Tensor pending;                       ///< sums for the log's next row
};

/// Written whole or not at all; an earlier checkpoint of that name is kept beside it as PATH.previous. The
/// file is what torch.save writes: torch.load opens it ({model, optimizer, iter_num, best_val_loss, config}).
void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// std::invalid_argument, one line beginning with the file's name, where it is missing, truncated, damaged or
/// none of ours; where PATH.previous is whole the line says so.
Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace spectra::train
