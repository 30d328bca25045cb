#include "analyse.hpp"

#include "console.hpp"
#include "exit_status.hpp"
#include "interrupt.hpp"
#include "report/json.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"
#include "study/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace spectra::cli {

namespace {

std::string complex_text(std::complex<double> value) {
    return fmt::format("{:.10g} {} {:.10g}i", value.real(), value.imag() < 0 ? '-' : '+',
                       std::abs(value.imag()));
}

std::string green_table(const dyson::Green& green) {
    std::string table = fmt::format("\n  {:<28}{:<40}{}\n", "omega", "g", "certified");
    for (std::size_t k = 0; k < green.omega.size(); ++k)
        table += fmt::format("  {:<28}{:<40}{}\n", complex_text(green.omega[k]),
                             green.certified[k] != 0 ? complex_text(green.g[k]) : "not found",
                             green.certified[k] != 0 ? "yes" : "no");
    return table;
}

void print_report(const study::Request& request, const report::Report& report) {
    if (request.json) {
        print(report::to_json(report) + "\n");
    } else if (!request.quiet) {
        print(report::terminal_page(report, page_columns(), use_colour()) +
              (report.green ? green_table(*report.green) : ""),
              Colours::kept);
    }
}

/// Reports what is not certified; true if anything is not.
bool warn_of_uncertified(const study::Request& request, const report::Report& report) {
    bool any = false;
    for (const auto& theory : report.theories) {
        if (theory.summary.certified) continue;
        // By default the scalar theory is only compared with.
        if (!request.methods_given && theory.method != dyson::Method::operator_valued) {
            if (request.quiet) continue;
            print_error(fmt::format("note: the {} theory, which is only compared with, is not certified: {}",
                                    dyson::name(theory.method), theory.summary.message));
            continue;
        }
        print_error(fmt::format("theory {}: {}{}", dyson::name(theory.method), theory.summary.message,
                                theory.summary.uncertified > 0 ? "; the result file marks the points" : ""));
        any = true;
    }
    if (report.sensitivity) {
        for (const auto& [name, sensitivity] : report.sensitivity->by_name()) {
            if (sensitivity->certified) continue;
            print_error(fmt::format("--sensitivity: the derivative of {} is not certified", name));
            any = true;
        }
    }
    if (report.average && report.average->certified < report.average->draws) {
        print_error(fmt::format("--average: {} of {} draws are not certified and left out",
                                report.average->draws - report.average->certified, report.average->draws));
        any = true;
    }
    if (report.green) {
        const auto& certified = report.green->certified;
        const auto missing = std::count(certified.begin(), certified.end(), std::uint8_t{0});
        if (missing > 0) {
            print_error(fmt::format("--omega: {} of {} points are not certified; the result file marks them",
                                    missing, certified.size()));
            any = true;
        }
    }
    return any;
}

/// What an interruption left.
std::string interrupted_words(const study::Request& request, const report::Report& report) {
    if (request.samples == 0)
        return fmt::format("interrupted: {}", report.theories.empty() ? "nothing was finished"
                                                                      : "the theories that were finished are kept");
    if (!report.simulation)
        return fmt::format("interrupted before the first sample{}; --resume continues",
                           report.theories.empty() ? "" : "; the theories that were finished are kept");
    const auto& simulation = *report.simulation;
    if (simulation.samples == simulation.samples_requested)
        return fmt::format("interrupted: all {} samples are kept", simulation.samples);
    return fmt::format("interrupted: {} of {} samples are kept; --resume continues", simulation.samples,
                       simulation.samples_requested);
}

}  // namespace

int analyse(const study::Request& request, const study::Invocation& invocation) {
    if (!request.mixer && !request.model)
        throw std::invalid_argument(
            "no network: give --mixer NAME or --model FILE.json (spectra --help-all shows examples)");
    catch_interrupts();
    std::optional<report::Report> analysed;
    {
        Progress progress(!request.quiet);
        analysed = study::analyse(request, invocation, progress);
    }
    if (!analysed) return done;
    const auto& report = *analysed;
    print_report(request, report);
    if (report.simulation && !report.simulation->note.empty()) print_error(report.simulation->note);
    const bool uncertified = warn_of_uncertified(request, report);
    if (interrupted()) {
        print_error(interrupted_words(request, report));
        return was_interrupted;
    }
    // A note means that a GPU was asked for and could not be had.
    const bool elsewhere = report.simulation && !report.simulation->note.empty();
    return uncertified || elsewhere ? not_finished : done;
}

}  // namespace spectra::cli
