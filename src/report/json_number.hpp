#pragma once

#include "spectrum/metrics.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace spectra::report {

/// A number as JSON has it: null if it is not finite.
inline nlohmann::ordered_json number(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

/// Metrics by their names.
inline nlohmann::ordered_json metrics_object(const Metrics& metrics) {
    auto object = nlohmann::ordered_json::object();
    for (const auto& metric : metric_names) object[metric.name] = number(metrics.*metric.member);
    return object;
}

}  // namespace spectra::report
