#include "dyson/exact/sampled_values.hpp"

#include "dyson/exact/layer_branch.hpp"
#include "dyson/exact/mixer_values.hpp"
#include "linalg/eigen_instances.hpp"
#include "mixers/orthogonal.hpp"
#include "random/stream.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spectra::dyson {
namespace {

using Matrix = Eigen::MatrixXd;

constexpr int largest_size = 64;
constexpr int rows_per_stream = 4;
constexpr std::uint64_t seed = 1;

/// M ⊗ F
Matrix kronecker(const Matrix& m, const Matrix& f) {
    Matrix result(m.rows() * f.rows(), m.cols() * f.cols());
    for (Eigen::Index i = 0; i < m.rows(); ++i)
        for (Eigen::Index j = 0; j < m.cols(); ++j)
            result.block(i * f.rows(), j * f.cols(), f.rows(), f.cols()) = m(i, j) * f;
    return result;
}

/// Of variance σ²/size per entry, or of the given singular values.
Matrix draw_noise(const LayerBranch& layer, double sigma2, Eigen::Index size, random::Stream& stream) {
    if (layer.values == nullptr)
        return Matrix::NullaryExpr(size, size, [&] { return stream.normal(); }) *
               std::sqrt(sigma2 / static_cast<double>(size));
    const auto count = layer.values->size();
    Eigen::VectorXd t(size);
    for (Eigen::Index k = 0; k < size; ++k)
        t(k) =
            (*layer.values)[static_cast<std::size_t>(2 * k + 1) * count / static_cast<std::size_t>(2 * size)];
    const int side = static_cast<int>(size);
    const Matrix left = mixers::draw_orthogonal(side, stream);
    return left * t.asDiagonal() * mixers::draw_orthogonal(side, stream);
}

}  // namespace

std::vector<double> sampled_log_values(const Network& network) {
    const int n = network.streams;
    if (std::holds_alternative<AlignedBranch>(network.branch) || n > largest_size) return {};
    const std::vector<LayerBranch> layers = layer_branches(network);
    std::size_t rows = rows_per_stream;
    for (const LayerBranch& layer : layers)
        if (layer.values != nullptr) rows = std::max(rows, layer.values->size());
    const Eigen::Index width = std::min(static_cast<int>(rows), largest_size / n);
    std::vector<Mixer> sampled;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const LayerBranch& layer = layers[l];
        Matrix y = kronecker(network.mixers[l], Matrix::Identity(width, width));
        random::Stream stream(seed, random::Purpose::probe, static_cast<std::uint32_t>(layer.weights));
        if (layer.hyper_connection()) {
            y += kronecker(*layer.post * layer.pre->transpose(),
                           draw_noise(layer, layer.sigma2, width, stream));
        } else if (layer.noisy()) {
            Matrix x = draw_noise(layer, layer.sigma_w2, n * width, stream);
            random::Stream slopes(seed, random::Purpose::slope, static_cast<std::uint32_t>(l));
            for (Eigen::Index i = 0; i < x.rows(); ++i) {
                double rest = slopes.uniform();
                std::size_t k = 0;
                while (k + 1 < layer.slopes.value.size() && (rest -= layer.slopes.probability[k]) > 0) ++k;
                x.row(i) *= std::sqrt(layer.slopes.value[k]);
            }
            y += x;
        }
        sampled.push_back(std::move(y));
    }
    std::vector<double> values = log_singular_values_of_product(sampled);
    std::sort(values.begin(), values.end());
    return values;
}

}  // namespace spectra::dyson
