#include "info.hpp"

#include "console.hpp"
#include "exit_status.hpp"
#include "report/result_file.hpp"
#include "report/runs_file.hpp"
#include "report/terminal.hpp"

namespace spectra::cli {

int info(const std::string& file) {
    std::string page = report::describe_result_file(file);
    if (!page.ends_with('\n')) page += '\n';
    page += report::describe_runs(file, page_columns(), report::locale_is_utf8());
    print(page);
    return done;
}

}  // namespace spectra::cli
