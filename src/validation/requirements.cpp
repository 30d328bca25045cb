#include "validation/requirements.hpp"

#include "base/text.hpp"
#include "spectrum/metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace spectra::validation {

namespace {

using Relation = Requirement::Relation;

Requirement parse_one(const std::string& text) {
    const auto at = text.find_first_of("<>");
    if (at == std::string::npos || at + 1 >= text.size() || text[at + 1] != '=')
        throw std::invalid_argument(
            fmt::format("{}: must be NAME>=NUMBER or NAME<=NUMBER, separated by commas", in_quotes(text)));
    Requirement r;
    r.name = std::string(trimmed(std::string_view(text).substr(0, at)));
    r.relation = text[at] == '>' ? Relation::at_least : Relation::at_most;
    const auto& names = required_names();
    if (std::find(names.begin(), names.end(), r.name) == names.end())
        throw std::invalid_argument(
            fmt::format("unknown quantity {}; must be one of {}", in_quotes(r.name), fmt::join(names, ", ")));
    const auto threshold = parse_number(trimmed(std::string_view(text).substr(at + 2)));
    if (!threshold || !std::isfinite(*threshold))
        throw std::invalid_argument(
            fmt::format("{}: {} is not a finite number", r.name, in_quotes(text.substr(at + 2))));
    r.threshold = *threshold;
    return r;
}

}  // namespace

const std::vector<std::string>& required_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const auto& metric : metric_names) list.emplace_back(metric.name);
        for (const char* other : {"norm", "row_sum_defect", "column_sum_defect", "orthogonality_defect",
                                  "spectral_norm_max", "identity_distance", "diagonal_dominant_share",
                                  "forward_gain", "backward_gain", "wasserstein1"})
            list.emplace_back(other);
        return list;
    }();
    return names;
}

std::vector<Requirement> default_requirements() {
    return {{"window", Relation::at_least, 0.9},
            {"collapsed", Relation::at_most, 0.05},
            {"largest", Relation::at_most, 2}};
}

std::vector<Requirement> parse_requirements(const std::string& text) {
    std::vector<Requirement> all;
    std::size_t from = 0;
    while (from <= text.size()) {
        const auto comma = std::min(text.find(',', from), text.size());
        const auto next = parse_one(std::string(trimmed(std::string_view(text).substr(from, comma - from))));
        if (std::any_of(all.begin(), all.end(), [&](const Requirement& r) {
                return r.name == next.name && r.relation == next.relation;
            }))
            throw std::invalid_argument(fmt::format("{}: duplicate bound", next.name));
        all.push_back(next);
        from = comma + 1;
    }
    return all;
}

std::string words(const Requirement& r) {
    const std::string bound = fmt::format("{} {} ", r.name, r.relation == Relation::at_least ? ">=" : "<=");
    return bound + (r.reason.empty() ? fmt::format("{}", r.threshold) : fmt::format("{:.4g} ({})", r.threshold, r.reason));
}

Verdict judge(const std::vector<Requirement>& requirements,
              const std::function<std::optional<Estimate>(const std::string&)>& value) {
    Verdict verdict;
    for (const auto& r : requirements) {
        const auto found = value(r.name);
        if (!found || std::isnan(found->value) || std::isnan(found->error)) {
            verdict.reasons.push_back(fmt::format("{} is not known; required {}", r.name, words(r)));
            continue;
        }
        const auto& [x, error] = *found;
        const bool kept =
            r.relation == Relation::at_least ? x - error >= r.threshold : x + error <= r.threshold;
        if (!kept)
            verdict.reasons.push_back(
                fmt::format("{} is {:.4g}{}; required {}", r.name, x,
                            error > 1e-4 * std::abs(x) ? fmt::format(" ± {:.2g}", error) : "", words(r)));
    }
    verdict.pass = verdict.reasons.empty();
    return verdict;
}

}  // namespace spectra::validation
