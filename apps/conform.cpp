#include "conform.hpp"

#include "console/terminal.hpp"
#include "exit_status.hpp"
#include "report/conformity_report.hpp"
#include "report/terminal.hpp"

#include <nlohmann/json.hpp>

namespace spectra::cli {

using namespace console;

int conform(const study::ConformRequest& r) {
    const auto found = study::conform(r);
    if (r.json)
        print_json(validation::conformity_json(found, r.files[0], r.files[1]));
    else
        print(validation::conformity_page(found, r.files[0], r.files[1], page_columns(), use_colour(),
                                          report::locale_is_utf8()),
              Colours::kept);
    return found.conforms ? done : verdict_negative;
}

}  // namespace spectra::cli
