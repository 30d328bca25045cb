#pragma once

#include "layouts/mixer_table.hpp"
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
    Metrics metrics;
    std::optional<Metrics> error;  ///< of the metrics, if they are estimates
    std::string words;             ///< "8 inputs, last token, N = 128"
    std::string note;              ///< a caveat for readers: "smallest value not converged"; or empty
};

/// Prediction and measurement of one connection.
struct LayerDistance {
    /// Between the singular values of Y_l and their law by theory, at the first input; NaN if that law is not
    /// certified. The law is its distribution function (dyson/law/cdf_law.hpp): one layer with few distinct
    /// singular values has very many narrow bands.
    double wasserstein1 = 0;
    double variance = 0;               ///< σ_l² = ‖X_l‖²/N, mean over inputs
    double mixer_share = 0;            ///< share from the derivatives of input-dependent mixer, pre and post
    double largest = 0, smallest = 0;  ///< singular values of Y_l, over all inputs
};

/// All results for one file.
struct Validation {
    std::string file, layout;
    std::string model;  ///< "edelta, 6 blocks, 128 = 4 × 32 channels, after 2000 steps"; or ""
    std::optional<std::int64_t> step;  ///< of training, if the file contains it
    /// The connections, at the first input; none for a model of which only the Jacobian is known.
    std::optional<layouts::Stack> stack;
    std::optional<layouts::MixerTable> mixers;
    std::vector<layouts::Measurement> measurements;  ///< one per input; none for a file that cannot be run
    std::optional<Measured> measured;
    std::vector<Prediction> predictions;              ///< in the order of Part; full is called predicted
    std::vector<std::optional<Agreement>> agreement;  ///< of each with the measured law
    std::vector<LayerDistance> layers;
    std::vector<Requirement> requirements;
    Verdict verdict;

    const Prediction* predicted() const { return predictions.empty() ? nullptr : &predictions.back(); }
    /// The metrics that the verdict uses: the measured ones, or without a measurement the predicted ones.
    const Metrics* judged() const;
    /// Their errors if they are estimates; otherwise null.
    const Metrics* judged_error() const;
    bool certified() const;
};

/// The rounding error of singular values relative to the largest, in double and in single precision.
inline constexpr double double_resolution = 1e-13, single_resolution = 1e-5;

/// A quantity by its name in --require, with its error if it is an estimate; nothing if it is not
/// known.
std::optional<Estimate> quantity(const Validation& validation, const std::string& name);

/// Adds mixers and theory of a file that is not run; at least one stack (one per input).
void add_stacks(Validation& validation, const std::vector<layouts::Stack>& stacks, double noise, int threads);

/// Adds theory and distances of a model measured at one or more inputs; fills everything except the names.
void add_measurements(Validation& validation, std::vector<layouts::Measurement> measurements,
                      double resolution, int threads);

/// Adds only measured singular values (ascending ln s, one set per input). Values below `resolution` times
/// the largest are counted, but their position is only rounding.
void add_values(Validation& validation, std::vector<std::vector<double>> log_values, std::string words,
                double resolution);

/// The law of one input estimated by probes: quantiles (ascending ln s), metrics and their errors.
struct ProbedLaw {
    std::vector<double> log_values;
    Metrics metrics, error;
};

/// The same for probed laws: metrics come from the probes, not from the quantiles. They are means over
/// inputs; largest and smallest are extremes over inputs. The effective rank comes from the quantiles. Errors
/// are means too, because the part that steps do not resolve has one sign.
void add_probed(Validation& validation, std::vector<ProbedLaw> laws, std::string words, double resolution);

/// Last: checks the requirements.
void conclude(Validation& validation, std::vector<Requirement> requirements);

}  // namespace spectra::validation
