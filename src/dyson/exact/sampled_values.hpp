#pragma once

#include "network/network.hpp"

#include <vector>

namespace spectra::dyson {

/// ln of the singular values of one J of a few rows per stream, always the same one, in increasing order: where bands are
/// that no singular value of A_L···A_1 marks, such as those of directions that mixers lose and branches restore. With high
/// relative accuracy at any ratio. Empty for aligned branches and for more than 64 streams.
std::vector<double> sampled_log_values(const Network& network);

}  // namespace spectra::dyson
