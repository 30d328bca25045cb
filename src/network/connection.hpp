#pragma once

/// \file
/// Draws how hyper-connections read and write the streams.

#include <Eigen/Core>

#include <cstdint>
#include <vector>

namespace spectra {

/// How hyper-connections read the streams (pre) and write to them (post), layer by layer.
struct Connections {
    std::vector<Eigen::VectorXd> pre;   ///< what each layer reads: n entries
    std::vector<Eigen::VectorXd> post;  ///< where each layer writes: n entries
};

/// pre = softmax of n logits, post = 2/(1 + e^{−x}) of n more, all logits N(0, 1) from the layer's stream of
/// purpose `connection`. With shared = true all layers have those of layer 0.
Connections draw_connections(int n, int depth, bool shared, std::uint64_t seed);

}  // namespace spectra
