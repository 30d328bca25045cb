#pragma once

#include "validate.hpp"

namespace spectra::cli {

/// Runs the model of a checkpoint of spectra train, or a TorchScript module (Measurer).
void measure_model(const ValidateRequest& request, const weightfile::TensorFile& file,
                   validation::Validation& validation);

}  // namespace spectra::cli
