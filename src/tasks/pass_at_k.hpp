#pragma once

/// \file
/// The estimator of pass at k.

namespace spectra::tasks {

/// The unbiased estimate, from `right` right ones among `samples` independent samples, of the probability that at least
/// one of k is right: 1 − C(samples − right, k)/C(samples, k), the share of all sets of k that hold a right one.
/// 1 ≤ k ≤ samples and 0 ≤ right ≤ samples, or std::invalid_argument.
double pass_at_k(int samples, int right, int k);

}  // namespace spectra::tasks
