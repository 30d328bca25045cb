#include "report/wording.hpp"

#include "base/text.hpp"
#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace spectra::report {

std::string certificate(const dyson::Summary& summary) {
    if (summary.certified && summary.unresolved)
        return fmt::format("certified; {} lie below s = {}, where rounding hides their density",
                           percent(summary.unresolved->mass),
                           power_of_ten(summary.unresolved->log_below / std::numbers::ln10));
    if (summary.certified) return "certified";
    if (summary.uncertified > 0) {
        return fmt::format("{} of {} points NOT certified", summary.uncertified, summary.points);
    }
    return "NOT certified: " + summary.message;
}

std::string sample_size(const Report& report) {
    const auto& simulation = *report.simulation;
    std::string words = std::to_string(simulation.samples);
    if (simulation.interrupted()) words += fmt::format(" of {}", simulation.samples_requested);
    words += simulation.samples == 1 && !simulation.interrupted() ? " sample" : " samples";
    words += fmt::format(", N = {}", report.network.size());
    if (simulation.probes > 0) words += fmt::format(", quadrature by {} probes", simulation.probes);
    return words;
}

std::string percent(double share) {
    constexpr double exact = 1e-6;  // of a solver's mass
    if (!std::isfinite(share)) return "an unknown share";
    if (share < exact) return "0 %";
    if (share > 1 - exact) return "100 %";
    if (share < 0.001) return "under 0.1 %";
    if (share > 0.999) return "over 99.9 %";
    return fmt::format("{:.1f} %", 100 * share);
}

const std::vector<std::string>& baseline_names() {
    static const std::vector<std::string> names{"copy",         "zero",    "negation", "plain_negation",
                                                "running_mean", "uniform", "unigram",  "noise_floor"};
    return names;
}

std::string baseline_words(const std::string& name) {
    if (name == "copy") return "copying the input";
    if (name == "zero") return "zero";
    if (name == "negation") return "negation, best sign a coordinate";
    if (name == "plain_negation") return "negating the input";
    if (name == "running_mean") return "running mean";
    if (name == "noise_floor") return "noise floor";
    if (name == "uniform") return "uniform guess";
    return "symbol frequencies";
}

}  // namespace spectra::report
