#pragma once

#include "network/network.hpp"
#include "study/request.hpp"

#include <string>

namespace spectra::study {

/// The branch a request describes, for a network whose streams and mixers are known. Conflicting
/// options have already been rejected (check_conflicts). Throws std::invalid_argument if a value or a file does
/// not fit the network.
Branch describe_branch(const Request& request, const Network& network);

/// Are weights of the streams drawn from the seed?
bool draws_stream_weights(const Request& request);

/// The branch as shown in titles: "activation gelu", "tied hyper-connection"; empty for an isotropic
/// Gaussian.
std::string branch_words(const Branch& branch);

}  // namespace spectra::study
