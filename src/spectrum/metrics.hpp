#pragma once

/// \file
/// The table of metrics: every name that files use, with its member of Metrics.

#include "spectrum/spectrum.hpp"

#include <array>

namespace spectra {

/// A metric and what it is called in files.
struct MetricName {
    const char* name;         ///< in result files and JSON
    double Metrics::*member;  ///< where its value is
};
/// All metrics, in the order users see them.
inline constexpr std::array metric_names = {
    MetricName{"mean_square", &Metrics::mean_square},
    MetricName{"log_mean", &Metrics::log_mean},
    MetricName{"window", &Metrics::window},
    MetricName{"collapsed", &Metrics::collapsed},
    MetricName{"smallest", &Metrics::smallest},
    MetricName{"largest", &Metrics::largest},
    MetricName{"effective_rank", &Metrics::effective_rank},
};

}  // namespace spectra
