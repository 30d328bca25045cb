#pragma once

#include "spectrum/spectrum.hpp"

#include <array>

namespace spectra {

/// A metric and its name in files.
struct MetricName {
    const char* name;
    double Metrics::*member;
};
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
