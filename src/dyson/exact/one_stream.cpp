#include "dyson/exact/one_stream.hpp"

#include <cmath>
#include <utility>
#include <variant>
#include <vector>

namespace spectra::dyson {
namespace {

constexpr double tolerance = 1e-12;

}  // namespace

std::optional<double> square_of_scale(const Mixer& a) {
    const Eigen::MatrixXd square = a * a.transpose();
    const double a2 = square.trace() / static_cast<double>(a.rows());
    const auto one = Eigen::MatrixXd::Identity(a.rows(), a.rows());
    if ((square - a2 * one).cwiseAbs().maxCoeff() > tolerance * a2) return std::nullopt;
    return a2;
}

std::optional<Network> with_one_stream(const Network& network) {
    if (network.streams == 1 || !std::holds_alternative<IsotropicBranch>(network.branch)) return std::nullopt;
    std::vector<Mixer> mixers;
    double last = 1;  // a² of the layer before: what differs by rounding alone is the same
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        if (l > 0 && network.mixers[l] == network.mixers[l - 1]) {
            mixers.push_back(mixers.back());
            continue;
        }
        const auto a2 = square_of_scale(network.mixers[l]);
        if (!a2) return std::nullopt;
        if (std::abs(*a2 - last) > tolerance * last) last = *a2;
        mixers.push_back(Mixer::Constant(1, 1, std::sqrt(last)));
    }
    Network out = network;
    out.streams = 1;
    out.mixers = std::move(mixers);
    return out;
}

}  // namespace spectra::dyson
