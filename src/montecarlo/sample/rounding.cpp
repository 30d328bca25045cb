#include "montecarlo/sample/rounding.hpp"

#include "base/special_values.hpp"
#include "network/tied_moments.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace spectra::montecarlo {
namespace {

using Eigen::MatrixXd;

/// E tr_p X S Yᵀ for the branches X and Y of two layers with the same weights.
MatrixXd through_branch(const Layer& layer, const Layer& other, const MatrixXd& square) {
    const double variance = layer.sigma * other.sigma;
    if (layer.hyper_connection())
        return (variance * layer.pre.dot(square * other.pre)) * layer.post * other.post.transpose();
    const auto n = square.rows();
    return variance * square.trace() / static_cast<double>(n) * MatrixXd::Identity(n, n);
}

/// The rounding of layer l: E_l of log_floor, from the two terms of T_l.
MatrixXd rounded(const Layer& layer, bool first, const MatrixXd& through_mixer, const MatrixXd& branch) {
    const auto n = branch.rows();
    MatrixXd out = layer.law ? MatrixXd(2 * branch) : MatrixXd::Zero(n, n);
    if (first) return out;
    out += branch;
    out.diagonal() += through_mixer.diagonal();
    return out;
}

Expectation of_independent(const std::vector<Layer>& layers) {
    const auto n = layers.front().mixer.rows();
    const double size = static_cast<double>(n);
    MatrixXd square = MatrixXd::Identity(n, n);  // T
    MatrixXd error = MatrixXd::Zero(n, n);       // R
    double log_scale = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const auto& layer = layers[l];
        const MatrixXd branch = through_branch(layer, layer, square);
        const MatrixXd through_mixer = layer.mixer * square * layer.mixer.transpose();
        error = (layer.mixer * error * layer.mixer.transpose() + through_branch(layer, layer, error)).eval();
        error += rounded(layer, l == 0, through_mixer, branch);
        square = through_mixer + branch;

        const double trace = square.trace() / size;
        if (!(trace > 0)) return {-infinity, 1};
        square /= trace;
        error /= trace;
        log_scale += std::log(trace) + 2 * layer.exponent * std::numbers::ln2;
    }
    return {log_scale, std::sqrt(1 + error.trace() / square.trace())};
}

TiedMoments moments_of(const std::vector<Layer>& layers) {
    std::vector<Mixer> mixers;
    for (const auto& layer : layers) mixers.push_back(layer.mixer);
    return tied_moments(mixers, [&](std::size_t k, std::size_t m, const MatrixXd& t) -> MatrixXd {
        const auto &layer = layers[k - 1], &other = layers[m - 1];
        return layer.weights == other.weights ? through_branch(layer, other, t) : MatrixXd::Zero(t.rows(), t.cols());
    });
}

/// The layers of Jᵀ: their T gives U.
std::vector<Layer> transposed(const std::vector<Layer>& layers) {
    std::vector<Layer> out(layers.rbegin(), layers.rend());
    for (auto& layer : out) {
        layer.mixer.transposeInPlace();
        std::swap(layer.pre, layer.post);
    }
    return out;
}

Expectation of_tied(const std::vector<Layer>& layers) {
    const std::size_t depth = layers.size();
    const TiedMoments forward = moments_of(layers);               // T
    const TiedMoments backward = moments_of(transposed(layers));  // U_l at L − l
    // J = 0, or too close to it for the differences of the recursion: then nothing is above the floor.
    if (forward.square.size() <= depth || backward.square.size() <= depth) return {-infinity, infinity};
    const double log_all = forward.log_scale[depth];
    double error = 0;
    for (std::size_t l = 2; l <= depth; ++l) {
        const auto& layer = layers[l - 1];
        const MatrixXd& square = forward.square[l - 1];
        MatrixXd made = rounded(layer, false, layer.mixer * square * layer.mixer.transpose(),
                                through_branch(layer, layer, square));
        const double growth = std::exp(forward.log_scale[l] - forward.log_scale[l - 1]);
        if (!layer.hyper_connection())
            made.diagonal() = made.diagonal().cwiseMax(growth * forward.square[l].diagonal());
        error += std::exp(backward.log_scale[depth - l] + forward.log_scale[l - 1] - log_all) *
                 backward.square[depth - l].cwiseProduct(made).sum();
    }
    Expectation out{log_all, std::sqrt(1 + error / forward.square[depth].trace())};
    for (const auto& layer : layers) out.log_mean_square += 2 * layer.exponent * std::numbers::ln2;
    return out;
}

}  // namespace

Expectation expectation(const std::vector<Layer>& layers) {
    if (layers.empty()) return {};
    return layers.front().weights ? of_tied(layers) : of_independent(layers);
}

double log_floor(double log_frobenius_norm, double rounding) {
    constexpr double unit = std::numeric_limits<double>::epsilon() / 2;
    return log_frobenius_norm + std::log(4 * unit * rounding);
}

}  // namespace spectra::montecarlo
