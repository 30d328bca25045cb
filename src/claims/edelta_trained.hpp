#pragma once

/// \file
/// Claims of the EΔ-MHC-Geo Transformer (arXiv:2605.06729) that rest on trainings: its tables 6 to 9, 12 and 18. Every
/// number is a mean over the seeds 42, 123 and 456 with its standard deviation.

#include "claims/outcome.hpp"
#include "claims/training.hpp"

namespace spectra::claims::edelta {

/// C88. Gyroscope losses of the five models.
Outcome gyroscope_losses(const TrainingResults& results);
/// C89. Stability losses of the five models.
Outcome stability_losses(const TrainingResults& results);
/// C90. The hybrid against GPT and DDL on gyroscope.
Outcome hybrid_on_gyroscope(const TrainingResults& results);
/// C91. JPmHC is the best on gyroscope.
Outcome best_on_gyroscope(const TrainingResults& results);
/// C92. The hybrid against JPmHC and GPT on stability.
Outcome hybrid_on_stability(const TrainingResults& results);
/// C93. mHC fails on stability because of its mixer.
Outcome mhc_on_stability(const TrainingResults& results);
/// C94. Exact against iterative orthogonality.
Outcome exact_orthogonality(const TrainingResults& results);
/// C95. Norm deviations of the five models.
Outcome norm_deviations(const TrainingResults& results);
/// C96. Norms are preserved because the operator is orthogonal.
Outcome norm_preservation(const TrainingResults& results);
/// C97. The hybrid trains smoothly, DDL oscillates.
Outcome smoothness(const TrainingResults& results);
/// C98. Parameters and cosines of three operators on 500 samples of y = −x.
Outcome reflection_parameters(const TrainingResults& results);
/// C99. More samples of y = −x bring β of DDL nearer to 2, and do not help JPmHC.
Outcome reflection_by_samples(const TrainingResults& results);
/// C100. Operators on y = −x settle their parameter before their output turns.
Outcome parameters_before_alignment(const TrainingResults& results);
/// C103. Near-π losses.
Outcome near_pi_losses(const TrainingResults& results);
/// C104. mHC cannot represent rotations by nearly π.
Outcome bistochastic_near_pi(const TrainingResults& results);
/// C105. Where gates start matters by less than a factor of 4.
Outcome gate_starts(const TrainingResults& results);
/// C106. Biased gates end at the nearest pole, neutral ones specialise.
Outcome gate_poles(const TrainingResults& results);
/// C107. The weight of the gates' regulariser.
Outcome regulariser_weight(const TrainingResults& results);
/// C110. Wider and shallower hybrids.
Outcome wider_and_shallower(const TrainingResults& results);
/// C150. The bars of the explainer: tables 6 and 12.
Outcome charted_losses(const TrainingResults& results);

}  // namespace spectra::claims::edelta
