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
    double preactivation_variance = 1;  ///< q; of propagated slopes an estimate
    double sigma_w = 0;
    Slopes slopes = Slopes::drawn;
};

/// A layer as it is drawn, divided by a power of two: Y_l = 2^exponent (mixer ⊗ I_p + X). With F of entries
/// N(0, sigma²/m), m its size,
///
///     X = F                     isotropic, m = N
///     X = (post preᵀ) ⊗ F       where pre and post are set (hyper-connection), m = p
///     X = D W                   where neurons is set: W of entries N(0, sigma_w²/N), D diagonal with φ'(h)
///
/// and where law is set, F = sigma U diag(law) Vᵀ with U and V uniform in O(m) (haar.hpp).
///
/// |A|'s largest entry and sigma are below 1, one of the two at least ½, and so are the largest entries of
/// pre and post: no product of layers leaves the range of double, and the division is exact.
struct Layer {
    Mixer mixer;
    double sigma = 0;  ///< root of m times the mean square of F's entries, or of X's = D W
    int exponent = 0;

    std::optional<Neurons> neurons = {};
    Eigen::VectorXd pre = {}, post = {};
    std::shared_ptr<const std::vector<double>> law = {};  ///< m values of mean square 1, ascending
    std::optional<std::uint32_t> weights = {};  ///< tied: the layer whose F this is too, counted from 0

    bool noiseless() const { return !(sigma > 0); }
    bool hyper_connection() const { return pre.size() > 0; }
    bool propagated() const { return neurons && neurons->slopes == Slopes::propagated; }
};

/// `slopes` matters to activations alone. Throws std::invalid_argument for propagated slopes of bernoulli,
/// which has no φ.
std::vector<Layer> scaled_layers(const Network& network, Slopes slopes = Slopes::drawn);

/// The same branches with other mixers.
std::vector<Layer> with_mixers(std::vector<Layer> layers, const std::vector<Mixer>& mixers);

/// The `count` equally weighted values nearest (in Wasserstein's distance) to the given, equally weighted,
/// law: its quantiles at (k + ½)/count. Each given value count/m times where m of them divide count.
std::vector<double> spread(std::vector<double> values, int count);

}  // namespace spectra::montecarlo
