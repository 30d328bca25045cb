#pragma once

#include "montecarlo/run/workers.hpp"
#include "parallel/ranks.hpp"
#include "montecarlo/run/totals.hpp"

#include <functional>
#include <string>

namespace spectra::montecarlo {

/// What the first rank tells the others before they begin.
struct Plan {
    int first = 0;            ///< sample
    int block = 1;            ///< of samples that one rank takes at a time (Share)
    int window = 1;           ///< samples may be this far ahead of the first unfinished one
    std::string device;       ///< as in Simulation
    std::string fingerprint;  ///< theirs must be the same
};

/// Draws on a thread of its own while the calling one, the only one that talks to other ranks, brings
/// outcomes and news between them. On the first rank `totals` adds up what all of them bring; returns when
/// all have left off. An error on any rank ends all of them and is in `totals`.
void lead(parallel::Ranks& ranks, const Plan& plan, const std::atomic<bool>* stop, Totals& totals,
          const std::function<void(Collector&)>& draw);

/// On the others: `draw` as the plan says, until the first rank ends the run; at once where it never began
/// one.
void follow(parallel::Ranks& ranks, const std::function<void(const Plan&, Collector&)>& draw,
            const std::atomic<bool>* stop);

}  // namespace spectra::montecarlo
