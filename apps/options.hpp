#pragma once

#include "study/compare.hpp"
#include "study/cost_request.hpp"
#include "study/evaluate_request.hpp"
#include "study/figure_request.hpp"
#include "study/grid.hpp"
#include "study/request.hpp"
#include "study/train_request.hpp"
#include "study/validate_request.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace spectra::cli {

/// Each adds the options of one command; parsing fills `request`, which must outlive the app.
void add_options(CLI::App& app, study::Request& request);
void add_options(CLI::App& app, study::DepthLimitRequest& request);
void add_options(CLI::App& app, study::SweepRequest& request);
void add_options(CLI::App& app, study::CompareRequest& request);
void add_options(CLI::App& app, study::FigureRequest& request);
void add_options(CLI::App& app, study::TrainRequest& request);
void add_options(CLI::App& app, study::ValidateRequest& request);
void add_options(CLI::App& app, study::CostRequest& request);
void add_options(CLI::App& app, study::EvaluateRequest& request);

/// FIRST, FIRST:LAST or FIRST:LAST:STEP, comma-separated.
std::vector<int> to_ints(const std::string& option, const std::string& text, int least, int largest);

/// "--logit-scale" -> "logit_scale": the library's field that an option sets.
inline std::string field_name(const std::string& option) {
    std::string field = option.substr(option.find_first_not_of('-'));
    std::replace(field.begin(), field.end(), '-', '_');
    return field;
}

}  // namespace spectra::cli
