#pragma once

#include "montecarlo/sample/slopes.hpp"
#include "network/network.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace spectra::montecarlo {

/// Where X = D W: the law of D's diagonal and the size of W's entries.
struct Neurons {
    Activation activation;
    double preactivation_variance = 1;  ///< q; an estimate for propagated slopes
    double sigma_w = 0;
    Slopes slopes = Slopes::drawn;
};

/// What an aligned branch keeps, and where its rest is drawn (network.hpp): F = fixed + left G rightᵀ with G of as many
/// rows as left has columns.
struct Kept {
    Eigen::MatrixXd fixed;              ///< Σ s u vᵀ, in units of the layer
    Eigen::MatrixXd left, right;        ///< orthonormal bases of what the kept vectors leave
    Eigen::MatrixXd add_left, add_right;  ///< Δ = add_left add_rightᵀ, in units of the layer
};

/// A layer for drawing, divided by a power of two: Y_l = 2^exponent (mixer ⊗ I_p + X). With F of size m and
/// with entries N(0, sigma²/m),
///
///     X = F                     isotropic, m = N
///     X = (post preᵀ) ⊗ F       if pre and post are set (hyper-connection), m = p
///     X = D W                   if neurons is set: W with entries N(0, sigma_w²/N), D diagonal with φ'(h)
///
/// and if law is set, F = sigma U diag(law) Vᵀ with U and V uniform in O(m) (haar.hpp). If kept is set, that is G of
/// struct Kept, of the size of its law.
///
/// The largest entry of |A| and sigma are below 1, one of the two at least ½, and so are the largest entries
/// of pre and post: no product of layers leaves the range of double, and the division is exact.
struct Layer {
    Mixer mixer;
    double sigma = 0;  ///< root of m times the mean square of the entries of F, or of X = D W
    int exponent = 0;

    std::optional<Neurons> neurons = {};
    Eigen::VectorXd pre = {}, post = {};
    std::shared_ptr<const std::vector<double>> law = {};  ///< m values with mean square 1, ascending
    std::optional<std::uint32_t> weights = {};            ///< tied: the layer with the same F, counted from 0
    std::shared_ptr<const Kept> kept = {};                ///< aligned: then law is that of the rest

    /// Whether only the mixer acts.
    bool noiseless() const { return !(sigma > 0) && !kept; }
    bool hyper_connection() const { return pre.size() > 0; }
    bool propagated() const { return neurons && neurons->slopes == Slopes::propagated; }
};

/// `slopes` applies only to activations. Throws std::invalid_argument for propagated slopes of bernoulli,
/// which has no φ.
std::vector<Layer> scaled_layers(const Network& network, Slopes slopes = Slopes::drawn);

/// The same branches with other mixers.
std::vector<Layer> with_mixers(std::vector<Layer> layers, const std::vector<Mixer>& mixers);

/// The `count` equally weighted values nearest (in Wasserstein distance) to the given, equally weighted,
/// law: its quantiles at (k + ½)/count. Each of m given values appears count/m times if m divides count.
std::vector<double> spread(std::vector<double> values, int count);

}  // namespace spectra::montecarlo
