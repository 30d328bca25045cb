#pragma once

/// \file
/// Predicts the Jacobian of a trained model from what was measured of its connections.

#include "dyson/law/theory.hpp"
#include "spectrum/spectrum.hpp"
#include "layouts/measurement.hpp"

#include <optional>
#include <string>
#include <vector>

namespace spectra::validation {

/// How much of a measured connection's branch a prediction uses, least first.
enum class Part {
    mixers,     ///< nothing: only the mixers
    isotropic,  ///< Gaussian without structure, of the measured variance σ_l² = ‖X_l‖²/N
    full,       ///< the measured singular values of F_l between pre and post, or of X_l without pre and post
};

/// "mixers", "isotropic", "full": names in files.
std::string name(Part part);

/// The theoretical network to compare with a measured model. Weights shared by connections are tied:
/// their branch is then Gaussian with the measured variance of every connection.
Network network_of(const layouts::Measurement& measurement, Part part);

/// The network of mixers from a file. Its branches are unknown, so the noise Lσ² is assumed: between pre and
/// post if the file has them, otherwise isotropic.
Network network_of(const layouts::Stack& stack, double noise);

/// One connection of a network as a separate network.
Network layer_of(const Network& network, std::size_t layer);

/// The law of the singular values over several inputs, by theory.
struct Prediction {
    Part part = Part::full;               ///< what it uses
    std::vector<Network> networks;        ///< one per input
    std::vector<dyson::Theory> theories;  ///< one per network
    Spectrum law;                         ///< all inputs together, equally weighted
    Metrics metrics;                      ///< of that law
    /// Where an input's density is not certified but its distribution function is (dyson/law/cdf_law.hpp),
    /// which is then its law: the largest error of W1.
    std::optional<double> counted_error;
    Certificate certificate;  ///< of all of it
};

/// Solves every network, in parallel.
Prediction predict(Part part, std::vector<Network> networks, int threads);

/// The equal mixture of several laws, as values: its quantiles. A single law is returned unchanged.
Spectrum mixture(const std::vector<Spectrum>& laws);

}  // namespace spectra::validation
