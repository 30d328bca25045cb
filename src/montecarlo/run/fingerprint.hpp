#pragma once

#include "montecarlo/run/simulation.hpp"

#include <stdexcept>
#include <string>

namespace spectra::montecarlo {

/// Everything that the values of a sample depend on, in one line: "seed 1; streams 4; width 25; depth 10;
/// mixers 0f3c…; branch 8a21…; redrawn no; slopes drawn; probes 0 of 100 steps; precision f64; device cpu".
/// Matrices are hashed.
std::string fingerprint(const Network& network, const Options& options, const std::string& precision,
                        const std::string& device);

/// Samples that were made in another way.
struct OtherSamples : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// Throws OtherSamples, naming the first difference, if `own` and `other` do not describe the same
/// samples; `where` names the other in the message: "in the saved samples".
void check_same(const std::string& own, const std::string& other, const std::string& where);

}  // namespace spectra::montecarlo
