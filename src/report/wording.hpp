#pragma once

#include "report/report.hpp"

#include <string>
#include <utility>
#include <vector>

/// The wording of results, the same in the figure and on the terminal.
namespace spectra::report {

/// "certified" (and which share lies where rounding hides its density), or "3 of 400 points NOT certified", or
/// "NOT certified: reason".
std::string certificate(const dyson::Summary& summary);

/// "100 samples, N = 100", or "40 of 100 samples, N = 100" for a run that was stopped.
std::string sample_size(const Report& report);

/// A share in percent, rounded to 0 or 100 only if it is exactly that: "0 %", "under 0.1 %", "99.3 %".
std::string percent(double share);

/// Will gradients survive this depth? One sentence, from a certified theory or else the simulation; empty where
/// neither has metrics.
std::string answer(const Report& report);

/// How near two laws are (docs/metrics.md).
enum class Closeness { agree, close, differ };

/// Two laws that were compared, in one sentence.
struct ComparedLaws {
    SourcePair pair;
    Closeness closeness = Closeness::differ;
    std::string words;  ///< "Operator-valued theory and simulation agree: W1 = 0.00056 (…), …."
};
/// Every pair of laws whose distance is known.
std::vector<ComparedLaws> compared_words(const Report& report);

/// Triplets with ∂ ln s₁/∂ ln t and their places, the largest first: "shrinking one triplet by 10 % lowers the largest value,
/// to first order, by 2.9 % (triplet 1 of layer 3), …", of at most three; empty if none lowers it.
std::string triplets_to_shrink(const std::vector<std::pair<double, std::string>>& triplets);

/// The trivial predictors of a training file, in the order shown to users: "copy", "zero", "negation", ….
const std::vector<std::string>& baseline_names();

/// A trivial predictor in words: "copying the input".
std::string baseline_words(const std::string& name);

}  // namespace spectra::report
