#include "doctor.hpp"

#include "console/progress.hpp"
#include "console/terminal.hpp"
#include "exit_status.hpp"
#include "study/doctor.hpp"
#include "torch_commands.hpp"

#include <algorithm>

namespace spectra::cli {

using namespace console;

namespace {

/// However wide the terminal is: the page is also for reports of problems.
constexpr int widest_page = 80;

}  // namespace

int doctor(bool json) {
    report::Diagnosis diagnosis;
    {
        Progress progress(true);
        diagnosis = study::doctor({torch_program()}, progress);
    }
    if (json)
        print(report::to_json(diagnosis) + "\n");
    else
        print(report::terminal_page(diagnosis, std::min(page_columns(), widest_page), use_colour()), Colours::kept);
    return diagnosis.works() ? done : not_finished;
}

}  // namespace spectra::cli
