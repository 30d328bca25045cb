#pragma once

#include "train_request.hpp"

#include <string>

namespace spectra::cli {

/// The command train. `command` is what was typed. Returns the exit status; throws std::invalid_argument
/// before anything is computed or written.
int train_model(const TrainRequest& request, const std::string& command);

}  // namespace spectra::cli
