#pragma once

#include "tasks/dataset.hpp"

namespace spectra::tasks {

/// The tasks whose states are tokens, as make_dataset describes them; seed and samples are taken as checked.
Dataset make_copy(const TaskOptions& options);
Dataset make_text(const TaskOptions& options);

}  // namespace spectra::tasks
