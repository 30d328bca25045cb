#pragma once

/// \file
/// A Report as JSON text.

#include "report/report.hpp"

#include <string>

namespace spectra::report {

/// The report as one JSON object: `network`, `theory` (by method; `sensitivity` and `average` within ov),
/// `green` if it was computed, `montecarlo` (null without simulation), `metrics` (by source), `agreement` (by
/// pair), `files`. Curves and singular values are in the result file, not here. Numbers have enough digits to
/// be read back exactly; −∞ and NaN are null.
std::string to_json(const Report& report);

/// `network`, `depth_limit` (with all evaluated `points`), `draws` if other draws were requested, `files`.
std::string to_json(const DepthReport& report);

}  // namespace spectra::report
