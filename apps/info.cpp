#include "info.hpp"

#include "base/text.hpp"
#include "console/option_file.hpp"
#include "console/terminal.hpp"
#include "describe.hpp"
#include "exit_status.hpp"
#include "help.hpp"
#include "report/result_file.hpp"
#include "report/runs_file.hpp"
#include "report/terminal.hpp"

#include <fmt/format.h>

namespace spectra::cli {

using namespace console;

int info(const std::string& file) {
    std::string page = report::describe_result_file(file);
    if (!page.ends_with('\n')) page += '\n';
    page += report::describe_runs(file, page_columns(), report::locale_is_utf8());
    print(page);
    return done;
}

int info_config(const std::string& file, const CLI::App& program) {
    const auto made = report::read_provenance(file);
    print(fmt::format("# Options of {}, made by spectra {} on {}\n{}", printable(file), printable(made.program_version),
                      printable(made.created), option_file_of(describe(program), made.command, file, option_files())));
    return done;
}

}  // namespace spectra::cli
