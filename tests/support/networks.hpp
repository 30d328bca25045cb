#pragma once

#include "network/network.hpp"

#include <cstddef>
#include <vector>

namespace spectra::tests {

inline Network make_network(std::vector<Mixer> mixers, int width, std::vector<double> sigma2) {
    Network network;
    network.streams = static_cast<int>(mixers.front().rows());
    network.width = width;
    network.mixers = std::move(mixers);
    network.branch = IsotropicBranch{std::move(sigma2)};
    return network;
}

inline Network make_network(const Mixer& mixer, int depth, int width, double sigma2) {
    const auto layers = static_cast<std::size_t>(depth);
    return make_network(std::vector<Mixer>(layers, mixer), width, std::vector<double>(layers, sigma2));
}

inline Network draw_network(mixers::Family family, int streams, int depth, int width, double noise) {
    mixers::Recipe recipe;
    recipe.family = family;
    return make_network(mixers::draw_layers(recipe, streams, depth, false, 1), width,
                        std::vector<double>(static_cast<std::size_t>(depth), noise / depth));
}

/// A ⊗ I_p, plainly.
inline Eigen::MatrixXd kronecker(const Mixer& mixer, int width) {
    const auto n = mixer.rows();
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(n * width, n * width);
    for (Eigen::Index i = 0; i < n; ++i) {
        for (Eigen::Index j = 0; j < n; ++j) {
            out.block(i * width, j * width, width, width) =
                mixer(i, j) * Eigen::MatrixXd::Identity(width, width);
        }
    }
    return out;
}

/// Y_l of a sample, plainly: the definition of the sampler's streams.
inline Eigen::MatrixXd layer_reference(const Network& network, int layer, std::uint64_t seed,
                                       std::uint32_t sample) {
    const auto l = static_cast<std::size_t>(layer);
    Eigen::MatrixXd out = kronecker(network.mixers[l], network.width);
    const double variance = sigma2(network)[l];
    random::Stream stream(seed, random::Purpose::branch, static_cast<std::uint32_t>(layer), sample);
    for (Eigen::Index j = 0; j < out.cols(); ++j) {
        for (Eigen::Index i = 0; i < out.rows(); ++i) {
            out(i, j) += std::sqrt(variance / network.size()) * stream.normal();
        }
    }
    return out;
}

}  // namespace spectra::tests
