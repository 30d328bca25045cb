#include "info.hpp"

#include "console.hpp"
#include "exit_status.hpp"
#include "report/result_file.hpp"

namespace spectra::cli {

int info(const std::string& file) {
    std::string page = report::describe_result_file(file);
    if (!page.ends_with('\n')) page += '\n';
    print(page);
    return done;
}

}  // namespace spectra::cli
