#include "torch_program/commands.hpp"

#include "console/interrupt.hpp"
#include "console/progress.hpp"
#include "console/terminal.hpp"
#include "exit_status.hpp"
#include "report/terminal.hpp"
#include "torch_program/torch_error.hpp"
#include "train/cost.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace spectra::cli {

using namespace console;

int cost_models(const study::CostRequest& request, const study::Invocation& invocation) {
    catch_interrupts(was_interrupted);
    return with_short_errors([&] {
        train::CostReport report;
        {
            Progress progress(!request.quiet);
            report = train::cost(request, invocation, progress);
        }
        for (auto& model : report.models) model.refused = with_options(model.refused);
        if (request.json)
            print_json(train::cost_json(report));
        else if (!request.quiet)
            print(train::cost_page(report, page_columns(), use_colour(), report::locale_is_utf8()) +
                      fmt::format("\n{}\n", fmt::join(report.files, "  ")),
                  Colours::kept);
        return report.files.size() == 1 + request.plot.size() ? done : not_finished;
    });
}

}  // namespace spectra::cli
