#pragma once

/// \file
/// Aligned networks in HDF5 files: what `spectra validate` stores of a trained model, so that its prediction can be
/// repeated without the model.

#include "network/network.hpp"

#include <string>

namespace spectra {

namespace h5 {
class File;
}

/// Where a result file has the network of a validation.
inline constexpr const char* stored_network = "trained/aligned_network";

/// Writes a network with an aligned branch into a group: streams and width as attributes, `mixers` (L, n, n), `pre` and
/// `post` (L, n) and `weights` (L) where it has them, and for layer l the groups `layers/<l>/kept` and
/// `layers/<l>/derivative` with `values` (r), `left` and `right` (r, rows), and `layers/<l>/rest`, the singular values of
/// the rest.
void write_network(h5::File& file, const std::string& group, const Network& network);

/// Reads it back. The network is checked. Throws std::invalid_argument, one line that begins with `where`.
Network read_network(const h5::File& file, const std::string& group, const std::string& where);

}  // namespace spectra
