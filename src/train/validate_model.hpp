#pragma once

#include "study/validate.hpp"

namespace spectra::train {

/// Runs the model of a checkpoint of spectra train, or a TorchScript module (study::Measurer).
void validate_model(const study::ValidateRequest& request, const weightfile::TensorFile& file,
                    validation::Validation& validation, study::Observer& observer);

}  // namespace spectra::train
