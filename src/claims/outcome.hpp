#pragma once

/// \file
/// What the computation of a claim finds, and how its numbers are compared with stored ones.

#include "claims/claim.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace spectra::claims {

/// The result of computing a claim again.
struct Outcome {
    Verdict verdict = Verdict::open;  ///< what the numbers say
    std::vector<Number> numbers = {};
};

/// An integer: any other one differs.
inline Number counted(std::string name, double value, std::optional<double> published = {}) {
    return {std::move(name), value, 0, published, {}};
}

/// A number of a deterministic computation, or of draws from counter-based streams: a repetition differs by rounding,
/// which the solvers' tolerance of 1e-8 bounds.
inline Number computed(std::string name, double value, std::optional<double> published = {}) {
    return {std::move(name), value, 1e-6 * std::max(std::abs(value), 1e-6), published, {}};
}

/// What is zero but for rounding: any number below the bound repeats it.
inline Number vanishing(std::string name, double value, double bound = 1e-9) {
    return {std::move(name), value, bound, {}, {}};
}

/// A time. No machine repeats it.
inline Number timed(std::string name, double value, std::optional<double> published = {}) {
    return {std::move(name), value, std::numeric_limits<double>::infinity(), published, {}};
}

/// "holds" or "refuted".
inline Verdict holds_if(bool condition) {
    return condition ? Verdict::holds : Verdict::refuted;
}

}  // namespace spectra::claims
