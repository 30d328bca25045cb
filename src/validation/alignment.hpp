#pragma once

/// \file
/// How much the layers of a trained model know of each other: predictions that keep the largest triplets of every branch.

#include "dyson/law/outlier.hpp"
#include "layouts/measurement.hpp"
#include "montecarlo/run/simulation.hpp"
#include "network/network.hpp"
#include "spectrum/certificate.hpp"
#include "spectrum/spectrum.hpp"
#include "validation/leading_triplets.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace spectra::validation {

/// The measured stack with the r largest triplets of every branch kept, and the derivative of its mixers.
Network aligned_network(const layouts::Measurement& measurement, int rank);

/// The law that follows if only `rank` triplets of every branch keep their vectors.
struct AlignedPrediction {
    int rank = 0;            ///< triplets kept of every branch
    Spectrum law;            ///< all inputs together, equally weighted
    Metrics metrics;         ///< of that law
    double distance = 0;     ///< W1 to the measured law over the measured root mean square
    double error = 0;        ///< of the distance: what another set of draws may change, or the tolerance of a theory
    int draws = 0;           ///< of the rest, per input; 0: by theory
    Certificate certificate; ///< of a theory; of draws there is nothing to certify
    std::vector<dyson::Outlier> outliers;  ///< of a theory (dyson::Theory::outliers)
};

/// The finding: how many triplets explain what was measured.
struct Alignment {
    double explain = 0;                        ///< the distance that counts as explained
    std::vector<AlignedPrediction> by_rank;    ///< by draws of the rest: r = 0, 1, 2, 4, … up to the rank
    std::optional<int> rank;                   ///< the smallest that explains; none: not even all that were tried
    std::optional<AlignedPrediction> theory;   ///< at that rank, at the first input, where it takes no more than minutes
    int width = 0;                             ///< rows of a branch: with that many everything is kept
    /// (l, k), l > k: how much of what branch k writes along its kept vectors is read along those of branch l,
    /// ‖V_lᵀU_k‖²/r: r/width by chance, 1 if they are the same. At the first input.
    Eigen::MatrixXd overlaps;
    std::vector<double> common;           ///< what each branch multiplies all channels by, at the first input
    std::vector<LeadingTriplet> leading;  ///< what makes the largest value at the first input; a few
    std::optional<Network> network;       ///< at the first input, with as many triplets as were to be stored

    /// The prediction at the rank, or the last that was tried.
    const AlignedPrediction& best() const { return by_rank.back(); }
};

/// A prediction from draws of the rest: `log_values` has one row per input, of `draws` sets of ln s one after the other.
/// `chance` receives what a single draw is off the law of all draws, over the measured root mean square: the mean and two
/// standard deviations; 0 where there is only one.
AlignedPrediction prediction_of_draws(int rank, const std::vector<std::vector<double>>& log_values, int draws,
                                      const Spectrum& measured, double& chance);

/// How align() searches.
struct AlignmentOptions {
    double explain = 0.02;           ///< W1 over the root mean square
    std::optional<int> rank;         ///< only this one; none: the smallest that explains
    int stored = 0;                  ///< triplets of every branch of the network to be stored; 0: no network
    bool theory = true;              ///< also solve the equation at the rank found
    std::uint64_t seed = 1;          ///< of the draws
    int threads = 0;                 ///< 0: all
    montecarlo::Device device = montecarlo::Device::cpu;  ///< where the rest is drawn
    std::function<void(int rank)> before_rank = {};  ///< what it throws ends the search
};

/// From one or more inputs and the law measured there. What a branch does to all channels alike counts as part of the
/// mixer (common_part.hpp). Where weights are shared the rest is drawn once per set.
Alignment align(const std::vector<layouts::Measurement>& measurements, const Spectrum& measured,
                const AlignmentOptions& options);

}  // namespace spectra::validation
