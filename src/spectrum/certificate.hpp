#pragma once

/// \file
/// What was checked of a law, to which limit, and the verdict.

#include <string>
#include <utility>
#include <vector>

namespace spectra {

/// How far off a certified law may be.
namespace tolerance {
inline constexpr double mass = 1e-5;      ///< |mass − 1|, and two counts of one mass
inline constexpr double moment = 1e-5;    ///< E s² and E s⁴, relative to their exact values
inline constexpr double log_mean = 1e-4;  ///< E ln s, relative to 1 + |its exact value|
inline constexpr double overlap = 1e-10;  ///< of bands, in ln s
}  // namespace tolerance

/// One thing that was checked.
struct Check {
    std::string what;     ///< "mass", "points not certified"
    double limit = 0;     ///< that holds up to here
    double found = 0;     ///< NaN never holds
    std::string failure;  ///< one line for where it does not hold

    /// Whether it does.
    bool holds() const { return found <= limit; }
};

/// What was checked of a result, and the verdict. The defaults mean that nothing was.
struct Certificate {
    bool certified = false;              ///< the verdict
    std::string message = "not solved";  ///< "certified", or one line that says why it is not
    std::vector<Check> checks = {};      ///< in the order they were made

    /// Adds checks to those made so far. The verdict is that all hold; the message is the first that does not.
    void judge(std::vector<Check> more) {
        for (auto& check : more) checks.push_back(std::move(check));
        certified = !checks.empty();
        message = "certified";
        for (const auto& check : checks) {
            if (check.holds()) continue;
            certified = false;
            message = check.failure;
            return;
        }
    }
};

}  // namespace spectra
