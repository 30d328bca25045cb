#pragma once

/// \file
/// Validates a trained model: what was measured, what theory predicts, and the verdict.

#include "layouts/mixer_table.hpp"
#include "validation/alignment.hpp"
#include "validation/prediction.hpp"
#include "validation/requirements.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spectra::validation {

/// The measured singular values of a model.
struct Measured {
    std::vector<std::vector<double>> values;  ///< one set per input, ascending, ln s
    Spectrum law;                             ///< all inputs together, equally weighted
    Metrics metrics;                          ///< of that law
    std::optional<Metrics> error;  ///< of the metrics, where they are estimates
    std::string words;             ///< "8 inputs, last token, N = 128"
    std::string note;              ///< a caveat for readers: "smallest value not converged"; or empty
};

/// Prediction and measurement of one connection.
struct LayerDistance {
    /// Of the singular values of Y_l and their law by theory, at the first input; NaN where that law is not
    /// certified. It is counted (dyson/law/cdf_law.hpp): one layer of few distinct singular values has very
    /// many narrow bands.
    double wasserstein1 = 0;
    double variance = 0;               ///< σ_l² = ‖X_l‖²/N, mean over inputs
    double mixer_share = 0;            ///< of it, the derivative of an input-dependent mixer, pre and post
    double largest = 0;                ///< singular value of Y_l, over all inputs
    double smallest = 0;               ///< singular value of Y_l, over all inputs
};

/// All results for one file.
struct Validation {
    std::string file;    ///< its name
    std::string layout;  ///< whose tensor names it has
    std::string model;  ///< "edelta, 6 blocks, 128 = 4 × 32 channels, after 2000 steps"; or ""
    std::optional<std::int64_t> step;  ///< of training, if the file contains it
    /// The connections, at the first input; none for a model of which only the Jacobian is known.
    std::optional<layouts::Stack> stack;
    std::optional<layouts::MixerTable> mixers;       ///< properties of its mixers
    std::vector<layouts::Measurement> measurements;  ///< one per input; none of a file that cannot be run
    std::optional<Measured> measured;                ///< its singular values, where they were measured
    std::vector<Prediction> predictions;  ///< in the order of Part; full is what is called predicted
    std::vector<std::optional<Agreement>> agreement;  ///< of each with the measured law
    std::vector<LayerDistance> layers;                ///< one per connection that was measured
    std::optional<Alignment> alignment;               ///< of the connections' branches, where it was asked for
    /// Of identity mixers with the same branches, where these are assumed: no mixers can be expected to do better.
    std::optional<Metrics> identity;
    std::vector<Requirement> requirements;            ///< what the verdict is about
    Verdict verdict;                                  ///< of conclude()

    /// The prediction that uses most; null where there is none.
    const Prediction* predicted() const { return predictions.empty() ? nullptr : &predictions.back(); }
    /// What the verdict is about: the measured metrics, or where there are none the predicted ones.
    const Metrics* judged() const;
    /// Their errors if they are estimates; otherwise null.
    const Metrics* judged_error() const;
    /// Whether every prediction is certified.
    bool certified() const;
};

/// Singular values below this share of the largest are rounding in double precision.
inline constexpr double double_resolution = 1e-13;
/// The same in single precision.
inline constexpr double single_resolution = 1e-5;

/// A quantity by its name (required_names()), with its error where it is an estimate; nothing where it is not
/// known.
std::optional<Estimate> quantity(const Validation& validation, const std::string& name);

/// Mixers and theory of a file that is not run; at least one stack, one per input. `noise` is the
/// assumed Lσ² of the branches, which a file does not hold.
void add_stacks(Validation& validation, const std::vector<layouts::Stack>& stacks, double noise, int threads);

/// Adds theory and distances of a model measured at one or more inputs; fills everything except the names.
void add_measurements(Validation& validation, std::vector<layouts::Measurement> measurements,
                      double resolution, int threads);

/// Measured singular values alone (ascending ln s, one set per input). Values below `resolution` of the
/// largest are counted, but their place is rounding.
void add_values(Validation& validation, std::vector<std::vector<double>> log_values, std::string words,
                double resolution);

/// What probes found of one input's law: quantiles (ascending ln s), metrics and their errors.
struct ProbedLaw {
    std::vector<double> log_values;  ///< quantiles of the law
    Metrics metrics;                 ///< by the probes
    Metrics error;                   ///< of these metrics
};

/// The same for probed laws: metrics come from the probes, not from the quantiles. They are means over
/// inputs; largest and smallest are extremes over inputs. The effective rank of several inputs together is no mean: it
/// comes from the quantiles. Errors are means too, because the part that steps do not resolve has one sign.
void add_probed(Validation& validation, std::vector<ProbedLaw> laws, std::string words, double resolution);

/// What is required where the user says nothing. Where the branches are assumed, the identity is the yardstick: 0.9 of
/// its window, 0.05 more collapsed than it, and a largest value of 2 or a quarter above its own.
std::vector<Requirement> requirements_for(const Validation& validation);

/// Last: checks the requirements.
void conclude(Validation& validation, std::vector<Requirement> requirements);

}  // namespace spectra::validation
