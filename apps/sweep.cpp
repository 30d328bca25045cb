#include "sweep.hpp"

#include "base/text.hpp"
#include "console/progress.hpp"
#include "console/terminal.hpp"
#include "exit_status.hpp"
#include "console/interrupt.hpp"
#include "report/table.hpp"
#include "report/terminal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <vector>

namespace spectra::cli {

using namespace console;

namespace {

std::string names(const std::vector<std::string>& all) {
    constexpr std::size_t shown = 5;
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(shown, all.size()));
    const std::string list = fmt::format("{}", fmt::join(all.begin(), end, ", "));
    return all.size() > shown ? fmt::format("{} and {} more", list, all.size() - shown) : list;
}

/// True if some networks failed or are not certified.
bool report_what_is_missing(const study::Request& request, const study::SweepOutcome& outcome) {
    std::vector<std::string> uncertified, failed;
    for (const auto& run : outcome.report.runs) {
        // By default the scalar theory is only compared with.
        const bool scalar_alone = run.doubts == std::vector<std::string>{"scalar"} && !request.methods_given;
        if (!run.certified && !scalar_alone) uncertified.push_back(fmt::format("{} ({})", run.name, fmt::join(run.doubts, ", ")));
    }
    for (const auto& run : outcome.report.failed) failed.push_back(run.name);
    if (!uncertified.empty())
        print_error(fmt::format("{} of {} networks are not certified: {}", uncertified.size(), outcome.networks,
                                names(uncertified)));
    if (!failed.empty())
        print_error(fmt::format("{} of {} networks could not be finished: {}", failed.size(), outcome.networks,
                                names(failed)));
    return !uncertified.empty() || !failed.empty();
}

/// `page` is the human-readable output.
int print_outcome(const study::Request& request, const study::SweepOutcome& outcome,
                  const std::function<std::string()>& page) {
    if (!outcome.first) return outcome.stopped ? was_interrupted : outcome.report.failed.empty() ? done : not_finished;
    if (outcome.stopped) {
        print_error(fmt::format("interrupted: {} of {} networks are kept; rerun the same command to resume",
                                outcome.kept, outcome.networks));
        return was_interrupted;
    }
    if (request.json) {
        auto report = outcome.report;
        for (auto& run : report.failed) run.reason = with_options(run.reason);
        print(report::to_json(report) + "\n");
    }
    if (!request.json && !request.quiet && !outcome.report.runs.empty()) print(page(), Colours::kept);
    return report_what_is_missing(request, outcome) ? not_finished : done;
}

void require_networks(const study::SweepRequest& request) {
    if (request.mixers.empty() && request.checkpoints.empty())
        throw std::invalid_argument(
            fmt::format("{0}: no networks: give --mixers NAME,NAME… (spectra {0} --help)", request.command));
}

}  // namespace

int sweep(const study::SweepRequest& request, const study::Invocation& invocation) {
    require_networks(request);
    catch_interrupts(was_interrupted);
    study::SweepOutcome outcome;
    {
        Progress progress(!request.each.quiet);
        outcome = study::sweep(request, invocation, progress);
    }
    return print_outcome(request.each, outcome, [&] {
        return report::terminal_page(outcome.report, page_columns(), use_colour(), report::locale_is_utf8());
    });
}

int compare(const study::CompareRequest& request, const study::Invocation& invocation) {
    require_networks(request.grid);
    catch_interrupts(was_interrupted);
    study::Comparison comparison;
    {
        Progress progress(!request.grid.each.quiet);
        comparison = study::compare(request, invocation, progress);
    }
    return print_outcome(request.grid.each, comparison.outcome, [&] {
        std::string page =
            report::to_page(comparison.table, page_columns(), use_colour(), report::locale_is_utf8()) + "\n";
        for (const auto& file : comparison.outcome.report.files) page += "wrote " + printable(file) + "\n";
        return page;
    });
}

}  // namespace spectra::cli
