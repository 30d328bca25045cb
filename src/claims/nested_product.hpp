#pragma once

/// \file
/// The twisted product of operator-valued S-transforms, nested over layers: exact for two, an approximation beyond.

#include "network/network.hpp"

#include <complex>
#include <vector>

namespace spectra::claims::jpmhc {

/// g(ω) of three or more layers by nesting the twisted product S_{XY}(w) = S_Y(w) S_X(S_Y(w)⁻¹ w S_Y(w)), layer 1
/// innermost. `transposed`[l]: layer l enters as Y_lY_lᵀ, else as Y_lᵀY_l. Exact for two layers, {true, false}; beyond
/// that an approximation. NaN where the continuation from large Im ω fails.
std::complex<double> nested_green(const Network& network, std::complex<double> omega,
                                  const std::vector<bool>& transposed);

}  // namespace spectra::claims::jpmhc
