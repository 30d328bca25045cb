#pragma once

#include "dyson/law/outlier.hpp"
#include "montecarlo/finite_size.hpp"
#include "spectrum/metrics.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <vector>

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

inline nlohmann::ordered_json expected_object(const montecarlo::Expected& expected) {
    return {{"mean", number(expected.mean)}, {"std", number(expected.deviation)}};
}

/// Outliers of an aligned law, the largest first.
inline nlohmann::ordered_json outlier_list(const std::vector<dyson::Outlier>& outliers) {
    auto list = nlohmann::ordered_json::array();
    for (const dyson::Outlier& outlier : outliers)
        list.push_back({{"position", number(outlier.position)},
                        {"spread", number(outlier.spread)},
                        {"values", outlier.values}});
    return list;
}

}  // namespace spectra::report
