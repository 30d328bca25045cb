#pragma once

#include "study/invocation.hpp"
#include "study/validate.hpp"

#include <string>

namespace spectra::cli {

/// TorchScript modules among the files are programs that run with the user's rights. Without --run-script, asks at
/// a terminal and returns true if the answer is yes; throws std::invalid_argument if it is no, without a terminal, and
/// for modules that access files.
bool confirm_scripts(const study::ValidateRequest& request);

/// The command validate: study::validate, printed. Without a measurer, files that need a model to be run are refused.
/// Returns the exit status: 1 if a verdict is negative.
int validate(const study::ValidateRequest& request, const study::Invocation& invocation, const study::Measurer& measure = {});

}  // namespace spectra::cli
