#include "report/report.hpp"

namespace spectra::report {

void compare(Report& report) {
    report.metrics.clear();
    report.agreement.clear();

    std::vector<std::pair<std::string, const Spectrum*>> laws;
    for (const auto& theory : report.theories) {
        if (theory.law.empty()) continue;
        laws.emplace_back(dyson::name(theory.method), &theory.law);
        report.metrics.emplace_back(laws.back().first, theory.law.metrics());
    }
    if (report.simulation && !report.simulation->law.empty()) {
        const auto& simulation = *report.simulation;
        laws.emplace_back("montecarlo", &simulation.law);
        Metrics metrics = simulation.law.metrics();
        if (!simulation.law.is_empirical()) {  // a histogram knows these to a bin; the sampler knows them
            metrics.mean_square = simulation.mean_square;
            metrics.smallest = simulation.smallest;
            metrics.largest = simulation.largest;
        }
        report.metrics.emplace_back("montecarlo", metrics);
    }
    for (std::size_t a = 0; a < laws.size(); ++a) {
        for (std::size_t b = a + 1; b < laws.size(); ++b) {
            report.agreement.emplace_back(laws[a].first + "_" + laws[b].first,
                                          agreement(*laws[a].second, *laws[b].second));
        }
    }
}

}  // namespace spectra::report
