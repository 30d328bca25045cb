#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spectra::validation {

/// "window>=0.9": a threshold for a quantity.
struct Requirement {
    enum class Relation { at_least, at_most };
    std::string name;
    Relation relation = Relation::at_least;
    double threshold = 0;
};

/// Quantities that may be required, in the order shown to users: the metrics, norm (spectral norm of the
/// product of the mixers), the defects of the mixers, wasserstein1.
const std::vector<std::string>& required_names();

/// window ≥ 0.9, collapsed ≤ 0.05, largest ≤ 2.
std::vector<Requirement> default_requirements();

/// "window>=0.9,collapsed<=0.05". Throws std::invalid_argument, one line, for an unknown name, another
/// relation, a threshold that is not a number, and a duplicate bound.
std::vector<Requirement> parse_requirements(const std::string& text);

/// "window >= 0.9".
std::string words(const Requirement& requirement);

/// A number and its error.
struct Estimate {
    double value = 0;
    double error = 0;
};

/// The result of checking the requirements.
struct Verdict {
    bool pass = false;
    std::vector<std::string> reasons;  ///< one line per violated requirement
};

/// `value` returns a quantity by its name; nothing or NaN if it was not found: its requirement then fails. A
/// requirement also fails if the error alone could violate it.
Verdict judge(const std::vector<Requirement>& requirements,
              const std::function<std::optional<Estimate>(const std::string&)>& value);

}  // namespace spectra::validation
