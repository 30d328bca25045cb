#include "depth_limit.hpp"

#include "console/progress.hpp"
#include "console/terminal.hpp"
#include "exit_status.hpp"
#include "console/interrupt.hpp"
#include "report/json.hpp"
#include "report/terminal.hpp"
#include "study/depth_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace spectra::cli {

using namespace console;

int depth_limit(const study::DepthLimitRequest& request, const study::Invocation& invocation) {
    if (!request.network.mixer && !request.network.model)
        throw std::invalid_argument(
            "no network: give --mixer NAME or --model FILE.json (spectra depth-limit --help shows an example)");
    catch_interrupts(was_interrupted);
    report::DepthReport report;
    {
        Progress progress(!request.network.quiet);
        report = study::depth_limit(request, invocation, progress);
    }
    if (request.network.json)
        print(report::to_json(report) + "\n");
    else if (!request.network.quiet)
        print(report::terminal_page(report, page_columns(), use_colour()), Colours::kept);
    if (interrupted()) {
        print_error("interrupted: the depths evaluated are kept");
        return was_interrupted;
    }
    const auto uncertified = std::count_if(report.draws.begin(), report.draws.end(),
                                           [](const auto& draw) { return !draw.certified; });
    if (!report.limit.certified)
        print_error("depth-limit: not every depth is certified; the result file marks them");
    if (uncertified > 0)
        print_error(
            fmt::format("depth-limit: {} of {} draws are not certified", uncertified, report.draws.size()));
    return report.limit.certified && uncertified == 0 ? done : not_finished;
}

}  // namespace spectra::cli
