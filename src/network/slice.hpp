#pragma once

#include "network/network.hpp"

#include <cstddef>

namespace spectra {

/// The network of `count` of its layers, beginning with layer `first` (counted from 0), branches and all.
/// Names and title are left empty.
Network part_of(const Network& network, std::size_t first, std::size_t count);

}  // namespace spectra
