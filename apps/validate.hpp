#pragma once

#include "weightfile/tensor_file.hpp"
#include "validate_request.hpp"
#include "validation/validation.hpp"

#include <functional>
#include <string>

namespace spectra::cli {

/// Runs the model of a file and fills in what was measured of it (add_measurements, add_values, model, step).
using Measurer =
    std::function<void(const ValidateRequest&, const weightfile::TensorFile&, validation::Validation&)>;

/// Is there a file among them whose model must be run: a checkpoint of spectra train (unless its mixers at
/// zero input are wanted), or a TorchScript module?
bool needs_a_model(const ValidateRequest& request);

/// TorchScript modules among the files are programs, which are run with the user's rights. Where --run-script was not
/// given, asks at a terminal and returns true where the answer is yes; throws std::invalid_argument where it is not,
/// where nobody can be asked, and for modules that touch files (weightfile::refuse_unsafe_script).
bool confirm_scripts(const ValidateRequest& request);

/// The command validate. Without a measurer, files whose models must be run are refused. Returns the exit
/// status: 1 where a verdict is negative.
int validate(const ValidateRequest& request, const std::string& command, const Measurer& measure = {});

}  // namespace spectra::cli
