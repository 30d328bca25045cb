#pragma once

#include "montecarlo/run/workers.hpp"
#include "parallel/ranks.hpp"
#include "montecarlo/run/totals.hpp"

#include <functional>
#include <string>

namespace spectra::montecarlo {

/// Sent by the first rank to the others before they begin.
struct Plan {
    int first = 0;            ///< sample
    int block = 1;            ///< samples that one rank takes at a time (Share)
    int window = 1;           ///< how far samples may be ahead of the first unfinished one
    std::string device;       ///< as in Simulation
    std::string fingerprint;  ///< must be the same on all ranks
};

/// Draws on a separate thread. The calling thread, the only one that communicates with other ranks, passes
/// outcomes and messages between them. On the first rank `totals` adds up the samples of all ranks; returns
/// when all have finished. An error on any rank ends all of them and is stored in `totals`.
void lead(parallel::Ranks& ranks, const Plan& plan, const std::atomic<bool>* stop, Totals& totals,
          const std::function<void(Collector&)>& draw);

/// On the other ranks: calls `draw` with the plan, until the first rank ends the run. Returns immediately if
/// no run was started.
void follow(parallel::Ranks& ranks, const std::function<void(const Plan&, Collector&)>& draw,
            const std::atomic<bool>* stop);

}  // namespace spectra::montecarlo
