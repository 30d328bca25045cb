#pragma once

/// \file
/// Thresholds that a trained model must keep, and the verdict.

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spectra::validation {

/// "window>=0.9": a threshold for a quantity.
struct Requirement {
    /// On which side of the threshold the quantity must be.
    enum class Relation { at_least, at_most };
    std::string name;                        ///< of the quantity, one of required_names()
    Relation relation = Relation::at_least;  ///< to the threshold
    double threshold = 0;                    ///< itself allowed
    std::string reason = {};                 ///< for that threshold, in words; may be empty
};

/// Quantities that may be required, in the order shown to users: the metrics, norm (spectral norm of the
/// product of the mixers), the defects of the mixers, the gains of their products, wasserstein1.
const std::vector<std::string>& required_names();

/// What is required where the user says nothing: window ≥ 0.9, collapsed ≤ 0.05, largest ≤ 2.
std::vector<Requirement> default_requirements();

/// Requirements from text: "window>=0.9,collapsed<=0.05". Throws std::invalid_argument, one line, for an
/// unknown name, another relation, a threshold that is no number, and a name required twice the same way.
std::vector<Requirement> parse_requirements(const std::string& text);

/// A requirement as text: "window >= 0.9".
std::string words(const Requirement& requirement);

/// A number and its error.
struct Estimate {
    double value = 0;  ///< the number
    double error = 0;  ///< 0 where it is exact
};

/// The result of checking the requirements.
struct Verdict {
    bool pass = false;                 ///< all requirements are kept
    std::vector<std::string> reasons;  ///< one line each that is not kept; none where all are
};

/// Compares quantities with requirements. `value` gives a quantity by its name; nothing or NaN where it was
/// not found: such a requirement is not kept. Nor is one that its error alone would break.
Verdict judge(const std::vector<Requirement>& requirements,
              const std::function<std::optional<Estimate>(const std::string&)>& value);

}  // namespace spectra::validation
