#include "reproduce.hpp"

#include "console/progress.hpp"
#include "console/terminal.hpp"
#include "exit_status.hpp"
#include "console/interrupt.hpp"
#include "report/claims_report.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <thread>

namespace spectra::cli {

using namespace console;

namespace {

/// "x86_64, 16 cores".
std::string this_machine() {
    utsname names{};
    uname(&names);
    return fmt::format("{}, {} cores", names.machine, std::thread::hardware_concurrency());
}

}  // namespace

int reproduce(ReproduceOptions options) {
    if (options.markdown) {
        print(report::claims_markdown(study::requested_claims(options.request)));
        return done;
    }
    catch_interrupts(was_interrupted);
    options.request.machine = this_machine();
    report::ClaimsReport report;
    {
        Progress progress(!options.json);
        report = study::reproduce(options.request, progress);
    }
    if (options.json)
        print(report::to_json(report) + "\n");
    else
        print(report::terminal_page(report, page_columns(), use_colour()), Colours::kept);
    return report.agrees() ? done : verdict_negative;
}

}  // namespace spectra::cli
