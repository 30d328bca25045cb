#pragma once

/// \file
/// Reads a whole network from a file.

#include "network/network.hpp"

#include <filesystem>

namespace spectra {

/// A network described by one JSON object:
///
///     {"streams": 2, "depth": 3, "width": 25,
///      "mixers": [[[1, 0], [0, 1]], …],
///      "noise": {"kind": "isotropic", "sigma2": [0.1, 0.1, 0.2]}}
///
/// mixers: one n×n for all layers, or one per layer. width is optional (25). The keys name, omega, g and
/// mean_square_singular_value are annotations and are ignored. Any other key is refused by name.
///
/// noise is the branch (network.hpp). Values "per layer" may also be given once for all layers.
///
///     isotropic          sigma2 per layer, or singular_values: one set per layer
///     hyper-connection   the same, and pre, post: n numbers per layer
///     tied               sigma2 per layer; pre, post: n numbers per layer, both or neither; weights: L
///                        integers, equal for layers with the same weights (omitted: all layers)
///     activation         sigma_w2 per layer; law: an activation's name, with preactivation_variance per
///                        layer (omitted: propagated from 1 at the input, see mean_field.hpp);
///                        or law: bernoulli, with probability
///
/// A result file of `spectra validate` is read too, if it stores the model's triplets (network_file.hpp).
///
/// The network is checked; mixer_name is the file's name, title stays empty.
/// Throws std::invalid_argument, one line with file and key.
Network read_model(const std::filesystem::path& path);

}  // namespace spectra
