#include "montecarlo/sampler.hpp"

#include "montecarlo/blas.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace spectra::montecarlo {

std::vector<Layer> scaled_layers(const std::vector<Mixer>& mixers, const std::vector<double>& sigma2) {
    std::vector<Layer> layers;
    layers.reserve(mixers.size());
    for (std::size_t l = 0; l < mixers.size(); ++l) {
        Layer layer{mixers[l], std::sqrt(sigma2[l]), 0};
        const double largest = std::max(layer.mixer.cwiseAbs().maxCoeff(), layer.sigma);
        if (largest > 0) {
            std::frexp(largest, &layer.exponent);
            // Two steps: 2^{−exponent} itself may leave the range of double.
            const int half = layer.exponent / 2;
            const double first = std::ldexp(1.0, -half);
            const double second = std::ldexp(1.0, half - layer.exponent);
            layer.mixer = (layer.mixer * first) * second;
            layer.sigma = (layer.sigma * first) * second;
        }
        layers.push_back(std::move(layer));
    }
    return layers;
}

Sampler::Sampler(int streams, int width) : streams_(streams), width_(width), size_(streams * width) {
    const auto entries = static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_);
    layer_.resize(entries);
    product_.resize(entries);
    next_.resize(entries);
}

void Sampler::draw_layer(const Layer& layer, random::Stream stream, double* out) const {
    const auto size = static_cast<std::size_t>(size_);
    const std::span<double> entries(out, size * size);
    if (layer.sigma > 0) {
        stream.fill_normal(entries);
        const double scale = layer.sigma / std::sqrt(static_cast<double>(size_));
        for (double& x : entries) x *= scale;
    } else {
        std::fill(entries.begin(), entries.end(), 0.0);
    }
    const auto width = static_cast<std::size_t>(width_);
    for (int j = 0; j < streams_; ++j) {
        for (int i = 0; i < streams_; ++i) {
            double* at =
                out + static_cast<std::size_t>(j) * width * size + static_cast<std::size_t>(i) * width;
            for (std::size_t a = 0; a < width; ++a) at[a * (size + 1)] += layer.mixer(i, j);
        }
    }
}

void Sampler::apply_mixer(const Mixer& mixer, const double* in, double* out) const {
    // A column, read as p×n (one stream a column), is multiplied by Aᵀ from the right.
    for (int column = 0; column < size_; ++column) {
        const auto offset = static_cast<std::size_t>(column) * static_cast<std::size_t>(size_);
        const Eigen::Map<const Eigen::MatrixXd> from(in + offset, width_, streams_);
        Eigen::Map<Eigen::MatrixXd> to(out + offset, width_, streams_);
        to.noalias() = from.lazyProduct(mixer.transpose());
    }
}

void Sampler::draw(const std::vector<Layer>& layers, std::uint64_t seed, std::uint32_t sample) {
    exponent_ = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const auto& layer = layers[l];
        const random::Stream stream(seed, random::Purpose::branch, static_cast<std::uint32_t>(l), sample);
        exponent_ += layer.exponent;
        if (l == 0) {
            draw_layer(layer, stream, product_.data());
            continue;
        }
        if (layer.sigma > 0) {
            draw_layer(layer, stream, layer_.data());
            multiply(size_, layer_.data(), product_.data(), next_.data());
        } else {
            apply_mixer(layer.mixer, product_.data(), next_.data());
        }
        std::swap(product_, next_);
        rescale();
    }
}

/// Keeps the largest entry within 2^±100.
void Sampler::rescale() {
    Eigen::Map<Eigen::VectorXd> entries(product_.data(), static_cast<Eigen::Index>(product_.size()));
    int shift = 0;
    std::frexp(entries.cwiseAbs().maxCoeff(), &shift);
    if (std::abs(shift) <= 100) return;
    entries *= std::ldexp(1.0, -shift);
    exponent_ += shift;
}

}  // namespace spectra::montecarlo
