#pragma once

/// \file
/// Claims of the Manifold-Geometric Transformer that rest on trainings: its experiments 1 to 4, which the paper describes
/// and did not run. They are run smaller than described, on another text, for two reasons: WikiText-2 is not at hand, and a
/// training may take three minutes.

#include "claims/outcome.hpp"
#include "claims/training.hpp"

namespace spectra::claims::mgt {

/// C140. The rank of Post-LN transformers goes to 0 with depth.
Outcome post_ln_rank(const TrainingResults& results);
/// C141. MGT keeps an effective rank above one half at 100 layers.
Outcome mgt_rank(const TrainingResults& results);
/// C142. Rank preservation and decay of both.
Outcome rank_decay(const TrainingResults& results);
/// C143. Both parts of MGT gain more together than each alone, S > 0.
Outcome synergy(const TrainingResults& results);
/// C144. β by layer, and how sharply it falls.
Outcome gates_by_depth(const TrainingResults& results);
/// C145. Depth helps MGT and hurts Post-LN at a fixed number of parameters.
Outcome depth_scaling(const TrainingResults& results);

}  // namespace spectra::claims::mgt
