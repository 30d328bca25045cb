#include "analyse.hpp"

#include "console/progress.hpp"
#include "console/terminal.hpp"
#include "exit_status.hpp"
#include "console/interrupt.hpp"
#include "report/json.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"
#include "study/analysis.hpp"
#include "study/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace spectra::cli {

using namespace console;

namespace {

std::string complex_text(std::complex<double> value) {
    return fmt::format("{:.10g} {} {:.10g}i", value.real(), value.imag() < 0 ? '-' : '+',
                       std::abs(value.imag()));
}

std::string green_table(const dyson::Green& green) {
    std::string table = fmt::format("\n  {:<28}{:<40}{}\n", "omega", "g", "certified");
    for (std::size_t k = 0; k < green.omega.size(); ++k)
        table +=
            fmt::format("  {:<28}{:<40}{}\n", complex_text(green.omega[k]),
                        green.certified[k] != 0 ? complex_text(green.g[k]) : "not found", green.verdict(k));
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

/// Prints every line as an error.
void print_errors(const std::vector<std::string>& lines) {
    for (const auto& line : lines) print_error(with_options(line));
}

}  // namespace

int analyse(const study::Request& request, const study::Invocation& invocation) {
    if (!request.mixer && !request.model)
        throw std::invalid_argument(
            "no network: give --mixer NAME or --model FILE.json (spectra --help-all shows examples)");
    catch_interrupts(was_interrupted);
    std::optional<report::Report> analysed;
    {
        Progress progress(!request.quiet);
        analysed = study::analyse(request, invocation, progress);
    }
    if (!analysed) return done;
    const auto& report = *analysed;
    print_report(request, report);
    if (report.simulation && !report.simulation->note.empty()) print_error(report.simulation->note);
    const auto doubts = study::doubts(request, report);
    if (!request.quiet) print_errors(doubts.notes);
    print_errors(doubts.failures);
    if (interrupted()) {
        print_error(with_options(study::what_is_kept(request, report)));
        return was_interrupted;
    }
    // A note means that a GPU was asked for and could not be had.
    const bool elsewhere = report.simulation && !report.simulation->note.empty();
    return !doubts.failures.empty() || elsewhere ? not_finished : done;
}

}  // namespace spectra::cli
