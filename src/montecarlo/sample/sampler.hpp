#pragma once

#include "linalg/aligned.hpp"
#include "montecarlo/sample/forward.hpp"
#include "montecarlo/sample/haar.hpp"
#include "montecarlo/sample/layer.hpp"
#include "random/stream.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <vector>

namespace spectra::montecarlo {

/// Draws Jacobians J = Y_L ··· Y_1 of n streams of width p, N = n·p. Row and column i·p + a belong to
/// channel a of stream i, as in A ⊗ I_p.
///
/// The random numbers of layer l = 0 … L−1 of a sample depend on nothing else, in particular not on the other
/// layers or on the thread that draws them. A layer with σ_l = 0 draws nothing.
///
/// * F (or W, or all of X: layer.hpp) is read column by column from Stream(seed, Purpose::branch, l, sample),
///   for tied layers from the stream of the first layer with the same weights;
/// * U and V of a given law, or of an aligned branch's rest, from the same stream, as described in haar.hpp;
/// * the slopes φ'(h) of an activation, neuron by neuron, from Stream(seed, Purpose::slope, l, sample): one
///   normal each, or for bernoulli one uniform number: the slope is 1 if it is below the probability;
/// * propagated slopes, φ'(W_l x_l), follow from the weights so far and a random input (forward.hpp).
class Sampler {
public:
    Sampler(int streams, int width);

    /// Draws J of the given sample; matrix() and exponent() hold it until the next call.
    void draw(const std::vector<Layer>& layers, std::uint64_t seed, std::uint32_t sample);

    /// N×N, column-major; J = 2^exponent() matrix().
    Eigen::Map<const Eigen::MatrixXd> matrix() const { return {product_.data(), size_, size_}; }
    long exponent() const { return exponent_; }

    /// out = mixer ⊗ I_p + X of layer l, N×N column-major. With propagated slopes, draw the layers of a
    /// sample in order, from 0 on.
    void draw_layer(const Layer& layer, std::uint32_t l, std::uint64_t seed, std::uint32_t sample,
                    double* out);
    /// out = (mixer ⊗ I_p) in.
    void apply_mixer(const Mixer& mixer, const double* in, double* out) const;

private:
    void draw_factor(const Layer& layer, std::uint32_t l, std::uint64_t seed, std::uint32_t sample, int size,
                     double* out);
    void draw_aligned(const Layer& layer, std::uint32_t l, std::uint64_t seed, std::uint32_t sample, int size,
                      double* out);
    void draw_slopes(const Neurons& neurons, random::Stream stream);
    ForwardPass& forward_pass(std::uint32_t l, std::uint64_t seed, std::uint32_t sample);
    void apply_hyper_connection(const Layer& layer, const double* in, double* out);
    void rescale();

    /// The sample and the weights of the normals in shared_.
    struct Shared {
        std::uint64_t seed = 0;
        std::uint32_t sample = 0, weights = 0;
        bool operator==(const Shared&) const = default;
    };

    int streams_, width_, size_;
    long exponent_ = 0;
    linalg::AlignedDoubles product_, next_;
    // As large as the layers need.
    linalg::AlignedDoubles layer_;           // Y, N×N
    linalg::AlignedDoubles factor_;          // F of a hyper-connection, p×p
    linalg::AlignedDoubles read_, written_;  // (preᵀ ⊗ I) J and F times it, p×N
    linalg::AlignedDoubles shared_;          // normals of tied layers
    linalg::AlignedDoubles slopes_;
    linalg::AlignedDoubles rest_, half_, transposed_, whole_;  // of an aligned branch
    std::optional<Shared> shared_of_;
    std::optional<BiInvariant> bi_invariant_;
    std::optional<ForwardPass> forward_pass_;
};

}  // namespace spectra::montecarlo
