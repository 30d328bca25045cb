#pragma once

/// \file
/// Measures trained models, predicts them by theory and judges them.

#include "study/invocation.hpp"
#include "study/observer.hpp"
#include "study/validate_request.hpp"
#include "validation/validation.hpp"
#include "weightfile/tensor_file.hpp"

#include <functional>
#include <string>
#include <vector>

namespace spectra::study {

/// Runs the model of a file and fills in what was measured of it (add_measurements, add_values, model, step).
using Measurer = std::function<void(const ValidateRequest&, const weightfile::TensorFile&, validation::Validation&,
                                    Observer&)>;

/// True where a model must be run: a checkpoint of spectra train (unless its mixers at zero input are wanted), or a
/// TorchScript module.
bool needs_a_model(const ValidateRequest& request);

/// The TorchScript modules among the files. They are programs, and run with the user's rights. Throws
/// std::invalid_argument for modules that touch files (weightfile::refuse_unsafe_script).
std::vector<std::string> scripts_to_run(const ValidateRequest& request);

/// How an alignment is searched for: stage by stage in the observer, until it stops the study.
validation::AlignmentOptions alignment_options(const ValidateRequest& request, Observer& observer);

/// What was found of all files.
struct Validated {
    std::vector<validation::Validation> all;  ///< one per file, unless it was stopped
    std::vector<std::string> files;           ///< written
    bool pass = true;                         ///< every verdict is positive
    bool certified = true;                    ///< every prediction is
};

/// Measures each model, predicts it, judges it, writes its result file and figures. Without a measurer, files that need
/// a model to be run are refused. `invocation` goes into the files. Throws std::invalid_argument before anything is
/// computed or written.
Validated validate(const ValidateRequest& request, const Invocation& invocation, const Measurer& measure,
                   Observer& observer);

}  // namespace spectra::study
