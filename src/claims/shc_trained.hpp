#pragma once

/// \file
/// Claims of spectral-sphere-constrained hyper-connections (arXiv:2603.20896) that rest on trainings, run with models of
/// 1.8 million parameters on one small text.

#include "claims/outcome.hpp"
#include "claims/training.hpp"

namespace spectra::claims::shc {

/// C124. Streams mixed by mHC are slightly more similar than with identity mixers.
Outcome bistochastic_similarity(const TrainingResults& results);
/// C126. Streams mixed by sHC are less similar.
Outcome sphere_similarity(const TrainingResults& results);
/// C127. Entries of trained mixers.
Outcome trained_entries(const TrainingResults& results);
/// C128. Losses of five connections.
Outcome losses(const TrainingResults& results);
/// C130. Gradients of HC explode.
Outcome gradient_norms(const TrainingResults& results);
/// C132. Steps per second of mHC-lite by the number of streams, and memory by count.
Outcome throughput_by_streams(const TrainingResults& results);

}  // namespace spectra::claims::shc
