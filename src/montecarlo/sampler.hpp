#pragma once

#include "mixers/mixer.hpp"
#include "montecarlo/aligned.hpp"
#include "random/stream.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <vector>

namespace spectra::montecarlo {

/// A layer divided by a power of two: Y_l = 2^exponent (mixer ⊗ I_p + X), X entries N(0, sigma²/N). The
/// larger of |A|'s largest entry and σ lies in [½, 1), so that no product of layers leaves the range
/// of double, and the division is exact.
struct Layer {
    Mixer mixer;
    double sigma = 0;
    int exponent = 0;
};

std::vector<Layer> scaled_layers(const std::vector<Mixer>& mixers, const std::vector<double>& sigma2);

/// Draws Jacobians J = Y_L ··· Y_1 of n streams of width p, N = n·p. Row and column i·p + a belong to
/// channel a of stream i, as in A ⊗ I_p.
///
/// X_l of a sample is read column by column from Stream(seed, Purpose::branch, l, sample), l = 0 … L−1: it
/// depends on nothing else, in particular not on the other layers or on which thread draws it. A
/// layer with σ_l = 0 draws nothing.
class Sampler {
public:
    Sampler(int streams, int width);

    /// Draws J of the given sample; matrix() and exponent() hold it until the next call.
    void draw(const std::vector<Layer>& layers, std::uint64_t seed, std::uint32_t sample);

    /// N×N, column-major; J = 2^exponent() matrix().
    Eigen::Map<const Eigen::MatrixXd> matrix() const { return {product_.data(), size_, size_}; }
    long exponent() const { return exponent_; }

    /// out = mixer ⊗ I_p + X, N×N column-major.
    void draw_layer(const Layer& layer, random::Stream stream, double* out) const;
    /// out = (mixer ⊗ I_p) in.
    void apply_mixer(const Mixer& mixer, const double* in, double* out) const;

private:
    void rescale();

    int streams_, width_, size_;
    long exponent_ = 0;
    AlignedDoubles layer_, product_, next_;
};

}  // namespace spectra::montecarlo
