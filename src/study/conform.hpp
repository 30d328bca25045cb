#pragma once

/// \file
/// Whether two implementations of a hyper-connection are the same.

#include "validation/conform.hpp"

#include <string>
#include <vector>

namespace spectra::study {

/// The files to compare: what the reference computed, and what the candidate computed from the same numbers.
struct ConformRequest {
    std::vector<std::string> files;  ///< reference and candidate
    bool json = false;               ///< for programs: print JSON
};

/// Reads both and compares them. Throws std::invalid_argument where they are not two, cannot be read, or are not
/// comparable.
validation::Conformity conform(const ConformRequest& request);

}  // namespace spectra::study
