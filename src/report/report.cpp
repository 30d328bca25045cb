#include "report/report.hpp"

#include <algorithm>
#include <cmath>

namespace spectra::report {

double limit_quantile(const DepthReport& report, double u) {
    std::vector<double> depths;
    for (const auto& draw : report.draws) depths.push_back(draw.depth);
    std::sort(depths.begin(), depths.end());
    const double place = u * static_cast<double>(depths.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto above = std::min(below + 1, depths.size() - 1);
    return std::lerp(depths[below], depths[above], place - static_cast<double>(below));
}

void compare(Report& report) {
    report.metrics.clear();
    report.agreement.clear();

    std::vector<std::pair<Source, const Spectrum*>> laws;
    for (const auto& theory : report.theories) {
        if (theory.law.empty()) continue;
        laws.emplace_back(source_of(theory.method), &theory.law);
        report.metrics.emplace_back(laws.back().first, theory.law.metrics());
    }
    if (report.simulation && !report.simulation->law.empty()) {
        const auto& simulation = *report.simulation;
        laws.emplace_back(Source::montecarlo, &simulation.law);
        Metrics metrics = simulation.law.metrics();
        if (!simulation.law.is_empirical()) {  // a histogram gives these to a bin, the sampler exactly
            metrics.mean_square = simulation.mean_square;
            metrics.smallest = simulation.smallest;
            metrics.largest = simulation.largest;
        }
        report.metrics.emplace_back(Source::montecarlo, metrics);
    }
    for (std::size_t a = 0; a < laws.size(); ++a) {
        for (std::size_t b = a + 1; b < laws.size(); ++b) {
            report.agreement.emplace_back(SourcePair{laws[a].first, laws[b].first},
                                          agreement(*laws[a].second, *laws[b].second));
        }
    }
}

}  // namespace spectra::report
