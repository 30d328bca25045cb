#pragma once

#include "network/network.hpp"
#include "study/request.hpp"

#include <string>

namespace spectra::study {

/// The branch a request describes, for a network whose streams and mixers are known. Options that do not go
/// together have been refused (check_conflicts). Throws std::invalid_argument where a value or a file does
/// not fit the network.
Branch describe_branch(const Request& request, const Network& network);

/// Are weights of the streams drawn from the seed?
bool draws_stream_weights(const Request& request);

/// The branch in the words of a title: "activation gelu", "tied hyper-connection"; nothing for an isotropic
/// Gaussian.
std::string branch_words(const Branch& branch);

}  // namespace spectra::study
