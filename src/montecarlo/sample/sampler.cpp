#include "montecarlo/sample/sampler.hpp"

#include "linalg/blas.hpp"
#include "montecarlo/sample/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace spectra::montecarlo {
Sampler::Sampler(int streams, int width) : streams_(streams), width_(width), size_(streams * width) {
    product_.resize(squared(size_));
    next_.resize(squared(size_));
}

void Sampler::draw_slopes(const Neurons& neurons, random::Stream stream) {
    const auto& activation = neurons.activation;
    const double deviation = std::sqrt(neurons.preactivation_variance);
    for (double& slope : slopes_) {
        slope = activation.kind == ActivationKind::bernoulli
                    ? (stream.uniform() < activation.probability ? 1 : 0)
                    : derivative(activation, deviation * stream.normal());
    }
}

/// The state before layer l: at the input if that is the first.
ForwardPass& Sampler::forward_pass(std::uint32_t l, std::uint64_t seed, std::uint32_t sample) {
    if (!forward_pass_) forward_pass_.emplace(streams_, width_);
    if (l == 0) forward_pass_->begin(seed, sample);
    return *forward_pass_;
}

/// F of an aligned branch.
void Sampler::draw_aligned(const Layer& layer, std::uint32_t l, std::uint64_t seed, std::uint32_t sample, int size,
                           double* out) {
    const Kept& kept = *layer.kept;
    Eigen::Map<Eigen::MatrixXd> factor(out, size, size);
    factor = kept.fixed;
    if (!layer.law) return;
    const int free = static_cast<int>(layer.law->size());
    rest_.resize(squared(free));
    half_.resize(static_cast<std::size_t>(size) * static_cast<std::size_t>(free));
    if (!bi_invariant_ || bi_invariant_->size() != free) bi_invariant_.emplace(free);
    random::Stream stream(seed, random::Purpose::branch, layer.weights.value_or(l), sample);
    bi_invariant_->draw(*layer.law, stream, rest_.data());
    linalg::multiply(size, free, free, kept.left.data(), rest_.data(), half_.data());
    Eigen::Map<const Eigen::MatrixXd> half(half_.data(), size, free);
    // As a product by BLAS needs the transpose of `right`.
    transposed_.resize(half_.size());
    Eigen::Map<Eigen::MatrixXd>(transposed_.data(), free, size) = layer.sigma * kept.right.transpose();
    whole_.resize(squared(size));
    linalg::multiply(size, free, size, half.data(), transposed_.data(), whole_.data());
    factor += Eigen::Map<const Eigen::MatrixXd>(whole_.data(), size, size);
}

/// F, or W with its slopes.
void Sampler::draw_factor(const Layer& layer, std::uint32_t l, std::uint64_t seed, std::uint32_t sample,
                          int size, double* out) {
    if (layer.kept) return draw_aligned(layer, l, seed, sample, size, out);
    const std::span<double> entries(out, squared(size));
    random::Stream stream(seed, random::Purpose::branch, layer.weights.value_or(l), sample);
    if (layer.law) {
        if (!bi_invariant_ || bi_invariant_->size() != size) bi_invariant_.emplace(size);
        bi_invariant_->draw(*layer.law, stream, out);
        for (double& x : entries) x *= layer.sigma;
        return;
    }
    if (layer.weights) {
        const Shared wanted{seed, sample, *layer.weights};
        if (shared_of_ != wanted || shared_.size() != entries.size()) {
            shared_.resize(entries.size());
            stream.fill_normal(shared_);
            shared_of_ = wanted;
        }
        std::copy(shared_.begin(), shared_.end(), entries.begin());
    } else {
        stream.fill_normal(entries);
    }
    const double sigma = layer.neurons ? layer.neurons->sigma_w : layer.sigma;
    const double scale = sigma / std::sqrt(static_cast<double>(size));
    for (double& x : entries) x *= scale;
    if (layer.neurons) {
        slopes_.resize(static_cast<std::size_t>(size));
        if (layer.propagated())
            forward_pass(l, seed, sample).advance(layer, out, slopes_);
        else
            draw_slopes(*layer.neurons, random::Stream(seed, random::Purpose::slope, l, sample));
        Eigen::Map<Eigen::ArrayXXd>(out, size, size).colwise() *=
            Eigen::Map<const Eigen::ArrayXd>(slopes_.data(), size);
    }
}

void Sampler::draw_layer(const Layer& layer, std::uint32_t l, std::uint64_t seed, std::uint32_t sample,
                         double* out) {
    Eigen::Map<Eigen::MatrixXd> matrix(out, size_, size_);
    if (layer.noiseless()) {
        if (layer.propagated()) forward_pass(l, seed, sample).advance(layer);
        matrix.setZero();
    } else if (layer.hyper_connection()) {
        factor_.resize(squared(width_));
        draw_factor(layer, l, seed, sample, width_, factor_.data());
        const Eigen::Map<const Eigen::MatrixXd> factor(factor_.data(), width_, width_);
        for (int j = 0; j < streams_; ++j) {
            for (int i = 0; i < streams_; ++i) {
                matrix.block(i * width_, j * width_, width_, width_) =
                    (layer.post[i] * layer.pre[j]) * factor;
            }
        }
    } else {
        draw_factor(layer, l, seed, sample, size_, out);
    }
    if (layer.kept && layer.kept->add_left.cols() > 0)
        matrix.noalias() += layer.kept->add_left * layer.kept->add_right.transpose();
    for (int j = 0; j < streams_; ++j) {
        for (int i = 0; i < streams_; ++i) {
            matrix.block(i * width_, j * width_, width_, width_).diagonal().array() += layer.mixer(i, j);
        }
    }
}

void Sampler::apply_mixer(const Mixer& mixer, const double* in, double* out) const {
    // A column, viewed as p×n (one stream per column), is multiplied by Aᵀ from the right.
    for (int column = 0; column < size_; ++column) {
        const auto offset = static_cast<std::size_t>(column) * static_cast<std::size_t>(size_);
        const Eigen::Map<const Eigen::MatrixXd> from(in + offset, width_, streams_);
        Eigen::Map<Eigen::MatrixXd> to(out + offset, width_, streams_);
        to.noalias() = from.lazyProduct(mixer.transpose());
    }
}

/// out = (mixer ⊗ I_p + (post preᵀ) ⊗ F) in with F in factor_: N²(p + n) operations instead of N³.
void Sampler::apply_hyper_connection(const Layer& layer, const double* in, double* out) {
    const auto entries = static_cast<std::size_t>(width_) * static_cast<std::size_t>(size_);
    read_.resize(entries);
    written_.resize(entries);
    Eigen::Map<Eigen::MatrixXd> read(read_.data(), width_, size_);
    const Eigen::Map<const Eigen::MatrixXd> written(written_.data(), width_, size_);
    for (int column = 0; column < size_; ++column) {
        const auto offset = static_cast<std::size_t>(column) * static_cast<std::size_t>(size_);
        const Eigen::Map<const Eigen::MatrixXd> from(in + offset, width_, streams_);
        read.col(column).noalias() = from.lazyProduct(layer.pre);
    }
    linalg::multiply(width_, width_, size_, factor_.data(), read_.data(), written_.data());
    apply_mixer(layer.mixer, in, out);
    for (int column = 0; column < size_; ++column) {
        const auto offset = static_cast<std::size_t>(column) * static_cast<std::size_t>(size_);
        Eigen::Map<Eigen::MatrixXd> to(out + offset, width_, streams_);
        to.noalias() += written.col(column).lazyProduct(layer.post.transpose());
    }
    if (!layer.kept || layer.kept->add_left.cols() == 0) return;
    const Eigen::Map<const Eigen::MatrixXd> from(in, size_, size_);
    const Eigen::MatrixXd read_by_add = layer.kept->add_right.transpose() * from;
    Eigen::Map<Eigen::MatrixXd>(out, size_, size_).noalias() += layer.kept->add_left * read_by_add;
}

void Sampler::draw(const std::vector<Layer>& layers, std::uint64_t seed, std::uint32_t sample) {
    exponent_ = 0;
    for (std::size_t index = 0; index < layers.size(); ++index) {
        const auto& layer = layers[index];
        const auto l = static_cast<std::uint32_t>(index);
        exponent_ += layer.exponent;
        if (l == 0) {
            draw_layer(layer, l, seed, sample, product_.data());
            continue;
        }
        if (layer.noiseless()) {
            if (layer.propagated()) forward_pass(l, seed, sample).advance(layer);
            apply_mixer(layer.mixer, product_.data(), next_.data());
        } else if (layer.hyper_connection()) {
            factor_.resize(squared(width_));
            draw_factor(layer, l, seed, sample, width_, factor_.data());
            apply_hyper_connection(layer, product_.data(), next_.data());
        } else {
            layer_.resize(squared(size_));
            draw_layer(layer, l, seed, sample, layer_.data());
            linalg::multiply(size_, size_, size_, layer_.data(), product_.data(), next_.data());
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
