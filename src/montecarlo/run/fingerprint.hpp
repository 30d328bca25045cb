#pragma once

#include "montecarlo/run/simulation.hpp"

#include <string>

namespace spectra::montecarlo {

/// Everything a sample's values depend on, one line: "seed 1; streams 4; width 25; depth 10; mixers 0f3c…;
/// branch 8a21…; redrawn no; slopes drawn; probes 0 of 100 steps;
/// precision f64; device cpu". Numbers that fill matrices are hashed.
std::string fingerprint(const Network& network, const Options& options, const std::string& precision,
                        const std::string& device);

/// Throws std::invalid_argument, naming the first thing that differs, where `own` and `other` are not of the
/// same samples; `where` says whose the other is, "in the samples to be continued".
void check_same(const std::string& own, const std::string& other, const std::string& where);

}  // namespace spectra::montecarlo
