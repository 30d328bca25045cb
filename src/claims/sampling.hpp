#pragma once

/// \file
/// Draws that many claims share.

#include "mixers/gaussian.hpp"
#include "mixers/mixer.hpp"
#include "mixers/sinkhorn.hpp"
#include "network/network.hpp"
#include "random/stream.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace spectra::claims {

/// The seed of every quick claim.
inline constexpr std::uint64_t seed = 1;

/// A stream that no part of the library reads.
inline random::Stream stream(std::uint32_t layer = 0, std::uint32_t sample = 0) {
    return random::Stream(seed, random::Purpose::test, layer, sample);
}

/// The middle value; of an even number the upper one of the two.
inline double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// `count` mixers of a family, n streams.
inline std::vector<Mixer> draw_mixers(const mixers::Recipe& recipe, int n, int count,
                                      std::uint32_t sample = 0) {
    return mixers::draw_layers(recipe, n, count, false, seed, sample);
}

/// `count` bistochastic mixers from logits N(0, scale²).
inline std::vector<Mixer> bistochastic_mixers(int n, int count, double scale = 1,
                                              std::optional<int> sweeps = {}, std::uint32_t sample = 0) {
    mixers::Recipe recipe;
    recipe.family = mixers::Family::bistochastic;
    recipe.logit_scale = scale;
    recipe.sinkhorn_iterations = sweeps;
    return draw_mixers(recipe, n, count, sample);
}

/// A mixer near the identity, four streams: twenty Sinkhorn sweeps of logits N(0, 1) with 8 added on the diagonal.
inline Mixer near_identity_mixer(std::uint32_t sample) {
    auto random = stream(2, sample);
    return mixers::sinkhorn_sweeps(mixers::standard_normal(4, 4, random) + 8 * Mixer::Identity(4, 4), 20);
}

/// A_L ··· A_1.
inline Mixer product(const std::vector<Mixer>& layers) {
    Mixer out = Mixer::Identity(layers.front().rows(), layers.front().cols());
    for (const auto& layer : layers) out = layer * out;
    return out;
}

/// Layers with these mixers and isotropic branches of total variance `noise`, Lσ².
inline Network isotropic_network(std::vector<Mixer> mixers, double noise, int width = 25) {
    Network network;
    network.streams = static_cast<int>(mixers.front().rows());
    network.width = width;
    network.branch =
        IsotropicBranch{std::vector<double>(mixers.size(), noise / static_cast<double>(mixers.size()))};
    network.mixers = std::move(mixers);
    return network;
}

/// The same of a family, n = 4, the draws of the program's default seed.
inline Network family_network(mixers::Family family, int depth, double noise = 0.05, int width = 25) {
    mixers::Recipe recipe;
    recipe.family = family;
    return isotropic_network(draw_mixers(recipe, 4, depth), noise, width);
}

}  // namespace spectra::claims
