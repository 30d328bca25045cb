#pragma once

/// \file
/// Makes the data of a task by its name.

#include "tasks/dataset.hpp"

#include <string>
#include <vector>

namespace spectra::tasks {

/// The tasks by name. Numbers (except grid's) come from NumPy's legacy generator (LegacyRandom) in double precision and are
/// rounded to float; v₀ is a unit vector in the direction of a Gaussian one; targets are the next state.
///
///   gyroscope       d = 16, 255 steps: v' = Rv, R turns by θ ~ U(0.1, 2.5) in the plane of two coordinates
///                   i < j; both drawn per sequence; 9000 and 1000 sequences
///   stability       d = 64, 127 steps: a unit key + 1e-3 · N(0, I) at every step; 900 and 100
///   near-pi-single  d = 64, 127 steps: v' = Rv, R turns coordinates 0 and 1 by 3.10; 1000 and 500
///   near-pi-multi   the same with R turning all pairs 2p, 2p + 1 by 3.14
///   exact-pi        the same by π: v' = −v, which no Cayley rotation reaches
///   reflection      d = 64, no sequence: x ~ N(0, I), y = −x; 500 and 500
///   copy            32 of 32 symbols, token 32, and the same 32 again: 64 steps of predicting the next
///                   token, scored on the second half; 5000 and 500
///   text            the next byte, or byte-pair token, of a file; its last tenth is for validation, in adjacent windows
///   grid            eight generated puzzles of a difficulty, 1 to 5 (grid_rules.hpp): the output grid from the input
///                   grid, on a canvas of 8×8; 4000 and 256
///   arc             the puzzles of a file or folder in ARC's format (arc_file.hpp)
///
/// The first four are the data of the EΔ suite (exact-pi begins with the states of near-pi-multi), up to the order in which a library adds products (states
/// agree to 1e-12 before they are rounded). The data of reflection differ: the suite drew them with Torch.
/// Gyroscope and stability draw training and validation from one stream, the training sequences first; the
/// others draw validation with seed + 1000. Validation does not depend on `samples`: it consists of the
/// sequences after the published number of training sequences; further training sequences follow those.
/// `validation_samples` keeps the first of them.
///
/// Throws std::invalid_argument for a mistake in the options or in the text file.
Dataset make_dataset(const std::string& task, const TaskOptions& options);

/// In the order above.
const std::vector<std::string>& task_names();

}  // namespace spectra::tasks
