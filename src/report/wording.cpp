#include "report/wording.hpp"

#include "base/text.hpp"
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>
#include <utility>

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

namespace {

Closeness closeness(double relative, double in_logs) {
    const auto within = [&](double bound, double log_bound) {
        return relative <= bound && !(in_logs > log_bound);
    };
    if (within(0.01, 0.1)) return Closeness::agree;
    return within(0.03, 0.3) ? Closeness::close : Closeness::differ;
}

const char* words_of(Closeness closeness) {
    if (closeness == Closeness::agree) return "agree";
    return closeness == Closeness::close ? "are close" : "differ";
}

/// Not further apart than width and samples alone put them.
bool as_expected(const Agreement& agreement, const montecarlo::ExpectedDistance& expected) {
    const auto within = [](double distance, const montecarlo::Expected& e) {
        return std::isnan(distance) || distance <= e.mean + 2 * e.deviation;
    };
    return within(agreement.wasserstein1, expected.wasserstein1) &&
           within(agreement.wasserstein1_log, expected.wasserstein1_log);
}

}  // namespace

std::vector<ComparedLaws> compared_words(const Report& report) {
    const auto is_hidden = [&](Source source) {
        return std::any_of(report.theories.begin(), report.theories.end(), [&](const dyson::Theory& theory) {
            return source_of(theory.method) == source && theory.summary.unresolved;
        });
    };
    std::vector<ComparedLaws> all;
    for (const auto& [pair, measured] : report.agreement) {
        const auto [a, b] = pair;
        // Where the lowest part of a law is only counted, its place in ln s is not known.
        const bool hidden = is_hidden(a) || is_hidden(b);
        Agreement agreement = measured;
        if (hidden) agreement.wasserstein1_log = std::nan("");
        const Metrics* reference = find(report.metrics, b == Source::montecarlo ? b : a);
        const double rms = reference ? std::sqrt(reference->mean_square) : std::nan("");
        const double relative = agreement.wasserstein1 / rms;
        if (!std::isfinite(relative)) continue;
        Closeness found = closeness(relative, agreement.wasserstein1_log);
        if (report.expected && b == Source::montecarlo && as_expected(agreement, *report.expected))
            found = Closeness::agree;
        std::string first = long_name(a);
        first[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(first[0])));
        std::string words =
            fmt::format("{} and {} {}: W1 = {:.2g} ({:.2g} % of the rms singular value)", first, long_name(b),
                        words_of(found), agreement.wasserstein1, 100 * relative);
        if (!std::isnan(agreement.wasserstein1_log)) {
            words += fmt::format(", {:.2g} in ln s", agreement.wasserstein1_log);
            if (agreement.left_out > 0) {
                const bool probed = report.simulation && report.simulation->probes > 0;
                words += fmt::format(" ({} value{} {} left out)", agreement.left_out,
                                     agreement.left_out == 1 ? "" : "s",
                                     probed ? "of unknown place" : "below rounding");
            }
        }
        if (hidden)
            words += "; what rounding hides cannot be compared in ln s.";
        else
            words += fmt::format(", KS = {:.2g}.", agreement.kolmogorov_smirnov);
        all.push_back({pair, found, std::move(words)});
    }
    return all;
}

std::string answer(const Report& report) {
    // From a certified theory, otherwise from the simulation.
    const Metrics* metrics = nullptr;
    for (const auto source : {Source::ov, Source::montecarlo, Source::scalar}) {
        const bool uncertified =
            std::any_of(report.theories.begin(), report.theories.end(), [&](const dyson::Theory& theory) {
                return source_of(theory.method) == source && !theory.summary.certified;
            });
        if (!metrics && !uncertified) metrics = find(report.metrics, source);
    }
    if (!metrics || !std::isfinite(metrics->window)) return "";
    const int depth = report.network.depth();
    const std::string layers = depth == 1 ? "1 layer" : fmt::format("{} layers", depth);
    // Even: all directions change by much the same factor, the root mean square.
    const bool even = metrics->effective_rank >= 0.95;
    const double factor = std::sqrt(metrics->mean_square);
    std::string lead;
    if (even && factor < 0.75) {
        lead = fmt::format("Gradients shrink evenly, to {:.2g} times their size, over {}", factor, layers);
    } else if (even && factor > 1.25) {
        lead = fmt::format("Gradients grow evenly, to {:.3g} times their size, over {}", factor, layers);
    } else if (metrics->collapsed > 0.5) {
        lead = "Most gradient directions vanish over " + layers;
    } else if (metrics->collapsed > 0.05) {
        lead = "Some gradient directions vanish over " + layers;
    } else if (metrics->largest > 2) {
        lead =
            fmt::format("Gradients pass {}, the largest growing to {:.3g} times", layers, metrics->largest);
    } else if (metrics->window >= 0.9) {
        lead = "Gradients survive " + layers;
    } else if (even) {
        lead = "Gradients pass " + layers + " nearly evenly";
    } else {
        lead = "Gradients pass " + layers + " unevenly";
    }
    return fmt::format("{}: {} of the singular values lie in [0.75, 1.25], {} have collapsed below 0.1.", lead,
                       percent(metrics->window), percent(metrics->collapsed));
}

std::string triplets_to_shrink(const std::vector<std::pair<double, std::string>>& triplets) {
    std::string words;
    int named = 0;
    for (const auto& [elasticity, place] : triplets) {
        if (elasticity <= 0 || ++named > 3) continue;
        words += fmt::format("{}{:.2g} % ({})", words.empty() ? "" : ", ", 10 * elasticity, place);
    }
    if (words.empty()) return words;
    return "shrinking one triplet by 10 % lowers the largest value, to first order, by " + words;
}

const std::vector<std::string>& baseline_names() {
    static const std::vector<std::string> names{"copy",         "zero",    "negation", "plain_negation",
                                                "running_mean", "uniform", "unigram",  "noise_floor"};
    return names;
}

std::string baseline_words(const std::string& name) {
    if (name == "copy") return "copying the input";
    if (name == "zero") return "zero";
    if (name == "negation") return "negation, best sign per coordinate";
    if (name == "plain_negation") return "negating the input";
    if (name == "running_mean") return "running mean";
    if (name == "noise_floor") return "noise floor";
    if (name == "uniform") return "uniform guess";
    return "symbol frequencies";
}

}  // namespace spectra::report
