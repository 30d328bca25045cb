#pragma once

#include "tasks/dataset.hpp"

namespace spectra::tasks {

/// The tasks with real vectors as states, described at make_dataset; options must be checked.
Dataset make_gyroscope(const TaskOptions& options);
Dataset make_stability(const TaskOptions& options);
Dataset make_near_pi_single(const TaskOptions& options);
Dataset make_near_pi_multi(const TaskOptions& options);
Dataset make_exact_pi(const TaskOptions& options);
Dataset make_reflection(const TaskOptions& options);

}  // namespace spectra::tasks
