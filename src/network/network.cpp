#include "network/network.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace spectra {

namespace {

void check_range(const char* what, std::size_t value, int largest) {
    if (value < 1 || value > static_cast<std::size_t>(largest))
        throw std::invalid_argument(
            fmt::format("network: {} is {}; accepted: 1 to {}", what, value, largest));
}

void check_mixer(const Mixer& mixer, int streams, std::size_t layer) {
    if (mixer.rows() != streams || mixer.cols() != streams)
        throw std::invalid_argument(fmt::format("network: the mixer of layer {} is {}×{}; accepted: {}×{}",
                                                layer, mixer.rows(), mixer.cols(), streams, streams));
    for (Eigen::Index i = 0; i < mixer.rows(); ++i)
        for (Eigen::Index j = 0; j < mixer.cols(); ++j)
            if (!std::isfinite(mixer(i, j)))
                throw std::invalid_argument(fmt::format(
                    "network: the mixer of layer {}, row {}, column {} is {}; accepted: finite numbers",
                    layer, i + 1, j + 1, mixer(i, j)));
}

void check_branch(const IsotropicBranch& branch, std::size_t depth) {
    if (branch.sigma2.size() != depth)
        throw std::invalid_argument(
            fmt::format("network: sigma2 has {} values for {} layers; accepted: one per layer",
                        branch.sigma2.size(), depth));
    for (std::size_t l = 0; l < depth; ++l)
        if (!std::isfinite(branch.sigma2[l]) || branch.sigma2[l] < 0)
            throw std::invalid_argument(
                fmt::format("network: sigma2 of layer {} is {}; accepted: finite numbers, 0 or more", l + 1,
                            branch.sigma2[l]));
}

}  // namespace

std::string branch_name(const Branch& branch) {
    struct Name {
        std::string operator()(const IsotropicBranch&) const { return "isotropic"; }
    };
    return std::visit(Name{}, branch);
}

const std::vector<double>& sigma2(const Network& network) {
    struct Sigma2 {
        const std::vector<double>& operator()(const IsotropicBranch& branch) const { return branch.sigma2; }
    };
    return std::visit(Sigma2{}, network.branch);
}

void check(const Network& network) {
    const auto as_size = [](int value) { return value < 0 ? 0 : static_cast<std::size_t>(value); };
    check_range("the number of streams", as_size(network.streams), max_streams);
    check_range("the width", as_size(network.width), max_width);
    check_range("the depth", network.mixers.size(), max_depth);
    for (std::size_t l = 0; l < network.mixers.size(); ++l)
        check_mixer(network.mixers[l], network.streams, l + 1);
    std::visit([&](const auto& branch) { check_branch(branch, network.mixers.size()); }, network.branch);
}

}  // namespace spectra
