#pragma once

/// \file
/// The table of metrics: every name that files use, with its member of Metrics.

#include "spectrum/spectrum.hpp"

#include <array>

namespace spectra {

/// A metric, and what it is called.
struct MetricName {
    const char* name;         ///< in files, JSON, requirements and CSV
    const char* label;        ///< on pages and figures
    const char* brief;        ///< where there is little room
    double Metrics::*member;  ///< where its value is
};

/// The one table of metrics, in the order users see them (docs/metrics.md defines them).
inline constexpr std::array metric_names = {
    MetricName{"mean_square", "mean square", "mean square", &Metrics::mean_square},
    MetricName{"log_mean", "mean of ln s", "mean ln s", &Metrics::log_mean},
    MetricName{"window", "share in [0.75, 1.25]", "in window", &Metrics::window},
    MetricName{"collapsed", "share below 0.1", "below 0.1", &Metrics::collapsed},
    MetricName{"smallest", "smallest", "smallest", &Metrics::smallest},
    MetricName{"largest", "largest", "largest", &Metrics::largest},
    MetricName{"effective_rank", "effective rank", "eff. rank", &Metrics::effective_rank},
};

/// The entry of a member.
constexpr const MetricName& metric(double Metrics::*member) {
    for (const auto& entry : metric_names)
        if (entry.member == member) return entry;
    return metric_names.front();
}

}  // namespace spectra
