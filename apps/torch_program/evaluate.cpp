#include "torch_program/commands.hpp"

#include "console/interrupt.hpp"
#include "console/progress.hpp"
#include "console/terminal.hpp"
#include "exit_status.hpp"
#include "torch_program/torch_error.hpp"
#include "train/evaluate_text.hpp"

#include <nlohmann/json.hpp>

namespace spectra::cli {

using namespace console;

int evaluate(const study::EvaluateRequest& request) {
    catch_interrupts(was_interrupted);
    return with_short_errors([&] {
        Progress progress(!request.quiet);
        const auto evaluation = train::evaluate_text(request, progress);
        progress.clear();
        if (request.json)
            print_json(train::evaluation_json(evaluation));
        else if (!request.quiet)
            print(train::evaluation_page(evaluation));
        return done;
    });
}

}  // namespace spectra::cli
