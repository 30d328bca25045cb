#include "base/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace spectra {

namespace {

/// Optimal string alignment distance.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
    if (word.empty() || word.size() > 64) return std::nullopt;
    const std::string* best = nullptr;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const auto& candidate : candidates) {
        const auto d = distance(word, candidate);
        if (d < best_distance) {
            best = &candidate;
            best_distance = d;
        }
    }
    if (best != nullptr) return *best;

    const auto begins = [&](const std::string& candidate) { return candidate.starts_with(word); };
    if (word.find_first_not_of('-') != std::string_view::npos &&
        std::count_if(candidates.begin(), candidates.end(), begins) == 1)
        return *std::find_if(candidates.begin(), candidates.end(), begins);
    return std::nullopt;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
    const auto near = nearest(word, candidates);
    const auto accepted = fmt::format("accepted: {}", fmt::join(candidates, ", "));
    return near ? fmt::format("; did you mean '{}'? ({})", *near, accepted) : "; " + accepted;
}

}  // namespace spectra
