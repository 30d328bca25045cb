#pragma once

#include "tasks/dataset.hpp"

namespace spectra::tasks {

/// The tasks with tokens as states, described at make_dataset; seed and samples must be checked.
Dataset make_copy(const TaskOptions& options);
Dataset make_text(const TaskOptions& options);

}  // namespace spectra::tasks
