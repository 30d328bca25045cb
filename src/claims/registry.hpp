#pragma once

/// \file
/// The claims that are computed again by every run: the one table of their functions.

#include "claims/outcome.hpp"

#include <string_view>
#include <vector>

namespace spectra::claims {

/// A claim and its computation. To add one, write the function in its paper's file, declare it in that file's header,
/// add it to the table in registry.cpp, and describe the claim in data/claims/.
struct QuickClaim {
    std::string_view id;   ///< "C9"
    Outcome (*compute)();  ///< the computation; the same on every call
    double seconds = 0.1;  ///< that it takes on two cores, roughly: for progress, and for what tests run
};

/// In the order of their numbers.
const std::vector<QuickClaim>& quick_claims();

/// The computation of a claim, or null where it has none.
const QuickClaim* find_quick(std::string_view id);

/// Where an outcome and the stored claim differ, one line each; empty: they agree. Compared are the verdict and every
/// number, within the stored tolerance.
std::vector<std::string> differences(const Claim& stored, const Outcome& outcome);

}  // namespace spectra::claims
