#include "study/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace spectra::study {

namespace {

void add_theories(const Request& request, const report::Report& report, Doubts& doubts) {
    for (const auto& theory : report.theories) {
        const auto& summary = theory.summary;
        if (summary.certified) continue;
        const auto name = dyson::name(theory.method);
        if (!request.methods_given && theory.method != dyson::Method::operator_valued)
            doubts.notes.push_back(fmt::format(
                "note: the {} theory, which is only compared with, is not certified: {}", name, summary.message));
        else
            doubts.failures.push_back(fmt::format("theory {}: {}{}", name, summary.message,
                                                  summary.uncertified > 0 ? "; the result file marks the points" : ""));
    }
}

}  // namespace

Doubts doubts(const Request& request, const report::Report& report) {
    Doubts doubts;
    add_theories(request, report, doubts);
    if (report.sensitivity)
        for (const auto& [name, sensitivity] : report.sensitivity->by_name())
            if (!sensitivity->certified)
                doubts.failures.push_back(fmt::format("`sensitivity`: the derivative of {} is not certified", name));
    if (report.largest_by_triplet && !report.largest_by_triplet->certified)
        doubts.failures.push_back("`sensitivity`: the derivative of the largest value is not certified");
    if (report.average && report.average->certified < report.average->draws)
        doubts.failures.push_back(fmt::format("`average`: {} of {} draws are not certified and left out",
                                              report.average->draws - report.average->certified,
                                              report.average->draws));
    if (report.green) {
        const auto& certified = report.green->certified;
        if (const auto missing = std::count(certified.begin(), certified.end(), std::uint8_t{0}); missing > 0)
            doubts.failures.push_back(fmt::format("`omega`: {} of {} points are not certified; the result file marks them",
                                                  missing, certified.size()));
    }
    return doubts;
}

std::string what_is_kept(const Request& request, const report::Report& report) {
    const std::string theories = "the theories that were finished are kept";
    if (request.samples == 0)
        return "interrupted: " + (report.theories.empty() ? std::string("nothing was finished") : theories);
    if (!report.simulation)
        return fmt::format("interrupted before the first sample{}; `resume` continues",
                           report.theories.empty() ? "" : "; " + theories);
    const auto& simulation = *report.simulation;
    if (simulation.samples == simulation.samples_requested)
        return fmt::format("interrupted: all {} samples are kept", simulation.samples);
    return fmt::format("interrupted: {} of {} samples are kept; `resume` continues", simulation.samples,
                       simulation.samples_requested);
}

}  // namespace spectra::study
