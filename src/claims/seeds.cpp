#include "claims/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace spectra::claims {

double Seeds::error() const {
    return spread / std::sqrt(count);
}

Seeds over_seeds(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    Seeds out{std::accumulate(values.begin(), values.end(), 0.0) / count, 0, static_cast<int>(values.size())};
    for (const double value : values) out.spread += (value - out.mean) * (value - out.mean);
    out.spread = std::sqrt(out.spread / (count - 1));
    return out;
}

std::vector<const TrainingResult*> series(const TrainingResults& results, const std::string& name) {
    auto out = results.of(name);
    if (out.empty()) throw std::out_of_range(fmt::format("trainings {} are not all there", name));
    return out;
}

Seeds value(const TrainingResults& results, const std::string& name, const std::string& which) {
    std::vector<double> values;
    for (const auto* const result : series(results, name)) values.push_back(result->at(which));
    return over_seeds(values);
}

Seeds loss(const TrainingResults& results, const std::string& name) {
    std::vector<double> values;
    for (const auto* const result : series(results, name))
        values.push_back(result->diverged() ? std::numeric_limits<double>::infinity()
                                            : result->at("final_val_loss"));
    return over_seeds(values);
}

int diverged(const TrainingResults& results, const std::vector<std::string>& names) {
    std::ptrdiff_t count = 0;
    for (const auto& name : names) {
        const auto all = series(results, name);
        count += std::count_if(all.begin(), all.end(), [](const auto* result) { return result->diverged(); });
    }
    return static_cast<int>(count);
}

std::optional<Outcome> undecided(const TrainingResults& results, const std::vector<std::string>& names) {
    const int count = diverged(results, names);
    if (count == 0) return {};
    return Outcome{Verdict::open, {counted("trainings that diverged", count)}};
}

bool clearly_below(const Seeds& a, const Seeds& b) {
    if (std::isinf(a.mean) || std::isinf(b.mean)) return a.mean < b.mean;
    return a.mean + 2 * std::hypot(a.error(), b.error()) < b.mean;
}

Number number(std::string name, const Seeds& seeds, std::optional<double> published) {
    return {std::move(name), seeds.mean, 1e-6 * std::abs(seeds.mean), published, seeds.spread};
}

}  // namespace spectra::claims
