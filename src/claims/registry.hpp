#pragma once

/// \file
/// The claims that are computed again by every run: the one table of their functions.

#include "claims/outcome.hpp"
#include "claims/training.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace spectra::claims {

/// A claim and its computation. To add one, write the function in its paper's file, declare it in that file's header,
/// add it to the table in registry.cpp, and describe the claim in data/claims/.
struct QuickClaim {
    std::string_view id;               ///< "C9"
    std::function<Outcome()> compute;  ///< the computation; the same on every call
    double seconds = 0.1;  ///< that it takes on two cores, roughly: for progress, and for what tests run
};

/// A claim that rests on trainings. It is computed from their results, and becomes quick once all of them are stored.
struct TrainedClaim {
    std::string_view id;
    Outcome (*compute)(const TrainingResults&);
    std::vector<std::string> series;  ///< of trainings that it needs
};

/// In the order of their numbers.
const std::vector<TrainedClaim>& trained_claims();

/// All that can be computed: those that need no training, then those whose trainings are stored.
const std::vector<QuickClaim>& quick_claims();

/// The computation of a claim, or null where it has none.
const QuickClaim* find_quick(std::string_view id);

/// Where an outcome and the stored claim differ, one line each; empty: they agree. Compared are the verdict and every
/// number, within the stored tolerance.
std::vector<std::string> differences(const Claim& stored, const Outcome& outcome);

}  // namespace spectra::claims
