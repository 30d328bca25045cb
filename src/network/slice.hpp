#pragma once

#include "network/network.hpp"

#include <cstddef>

namespace spectra {

/// The slice of `count` layers of a network that begins with layer `first` (counted from 0), branches
/// included. Names and title stay empty.
Network part_of(const Network& network, std::size_t first, std::size_t count);

}  // namespace spectra
