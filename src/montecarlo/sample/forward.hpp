#pragma once

#include "linalg/aligned.hpp"
#include "montecarlo/sample/layer.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <span>

namespace spectra::montecarlo {

/// The network run forward: h_l = W_l x_l, x_{l+1} = (A_l ⊗ I) x_l + φ(h_l), from x_0 with independent
/// entries N(0, 1), the input of network/mean_field.hpp. x_0 is read from Stream(seed, Purpose::slope, 0,
/// sample), from which propagated slopes read nothing else.
///
/// x is stored as 2^exponent() times numbers below 2, so that it may grow and shrink with depth beyond the
/// range of double while φ gets the actual h. Entries of one x below 2^−1000 of the largest are lost.
class ForwardPass {
public:
    ForwardPass(int streams, int width);

    /// x_0 of a sample.
    void begin(std::uint64_t seed, std::uint32_t sample);

    /// Advances to the next layer. `weights`: W_l divided by 2^exponent of the layer, N×N column-major;
    /// `slopes` becomes φ'(h_l).
    void advance(const Layer& layer, const double* weights, std::span<double> slopes);

    /// The same for a layer without noise: x ← (A ⊗ I) x.
    void advance(const Layer& layer);

    /// x = 2^exponent() values().
    Eigen::Map<const Eigen::VectorXd> values() const { return {state_.data(), size()}; }
    long exponent() const { return exponent_; }

private:
    Eigen::Index size() const { return static_cast<Eigen::Index>(state_.size()); }
    /// x ← (A ⊗ I) x + 2^branch_unit branch_
    void add_skip(const Layer& layer, long branch_unit);

    int streams_, width_;
    long exponent_ = 0;
    linalg::AlignedDoubles state_, carried_, branch_;
};

/// φ and its slope at h·2^exponent, for h of any size.
struct Response {
    double slope = 0;
    double value = 0;  ///< φ = 2^{response_unit} value
};
Response response(const Activation& activation, double h, long exponent);

/// The unit of a response's value: `exponent`, but never above 0 for a bounded φ.
long response_unit(const Activation& activation, long exponent);

}  // namespace spectra::montecarlo
