#pragma once

/// \file
/// Describes figures of a validation: one checkpoint, or several along training.

#include "plot/figure.hpp"
#include "validation/validation.hpp"

#include <vector>

namespace spectra::validation {

/// Measured histogram and prediction on both scales; below them, if there are mixers, defects along the
/// connections and singular values of the product of the mixers along the depth.
plot::Figure validation_figure(const Validation& validation);
/// Several checkpoints: metrics over their steps (or in the given order).
plot::Figure evolution_figure(const std::vector<Validation>& validations);

}  // namespace spectra::validation
