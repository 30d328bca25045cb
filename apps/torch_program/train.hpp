#pragma once

#include "study/invocation.hpp"
#include "study/train_request.hpp"

#include <string>

namespace spectra::cli {

/// The command train. `invocation` is what was typed. Returns the exit status; throws std::invalid_argument
/// before anything is computed or written.
int train_model(const study::TrainRequest& request, const study::Invocation& invocation);

}  // namespace spectra::cli
