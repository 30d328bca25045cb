#pragma once

#include <nlohmann/json.hpp>

#include <cmath>

namespace spectra::report {

/// A number as JSON has it: null if it is not finite.
inline nlohmann::ordered_json number(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace spectra::report
