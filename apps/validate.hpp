#pragma once

#include "study/validate.hpp"

#include <string>

namespace spectra::cli {

/// TorchScript modules among the files are programs, which run with the user's rights. Where --run-script was not
/// given, asks at a terminal and returns true where the answer is yes; throws std::invalid_argument where it is no, where
/// nobody can be asked, and for modules that touch files.
bool confirm_scripts(const study::ValidateRequest& request);

/// The command validate: study::validate, printed. Without a measurer, files that need a model to be run are refused.
/// Returns the exit status: 1 where a verdict is negative.
int validate(const study::ValidateRequest& request, const std::string& command, const study::Measurer& measure = {});

}  // namespace spectra::cli
