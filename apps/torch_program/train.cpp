#include "torch_program/commands.hpp"

#include "console/interrupt.hpp"
#include "console/progress.hpp"
#include "console/terminal.hpp"
#include "exit_status.hpp"
#include "parallel/launch.hpp"
#include "torch_program/torch_error.hpp"
#include "train/train_models.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace spectra::cli {

using namespace console;

namespace {

using Json = nlohmann::ordered_json;

int train_models(const study::TrainRequest& r, const study::Invocation& invocation) {
    parallel::heed_torchrun();
    catch_interrupts(was_interrupted);
    std::vector<train::TrainingReport> reports;
    auto objects = Json::array();
    int status = done;
    Progress progress(!r.quiet);
    const bool kept = train::train_models(r, invocation, progress, [&](train::TrainedRun&& model) {
        progress.clear();
        if (!model.no_figure.empty()) {
            print_error(model.no_figure);
            status = not_finished;
        }
        if (!r.stop_after && !model.report.result.finished) status = was_interrupted;
        objects.push_back(train::training_json(model.report));
        objects.back()["files"] = model.files;
        if (!r.json && !r.quiet)
            print(train::training_page(model.report) + fmt::format("\n{}\n\n", fmt::join(model.files, "  ")));
        reports.push_back(std::move(model.report));
    });
    progress.clear();
    if (!kept) print_error("interrupted before the first step; files are unchanged");
    if (r.json)
        print_json(r.seeds.size() <= 1 && !objects.empty() ? objects.front() : Json{{"runs", objects}});
    else if (reports.size() > 1 && !interrupted() && !r.quiet)
        print(train::seeds_line(reports));
    return interrupted() ? static_cast<int>(was_interrupted) : status;
}

}  // namespace

int train_model(const study::TrainRequest& request, const study::Invocation& invocation) {
    return with_short_errors([&] { return train_models(request, invocation); });
}

}  // namespace spectra::cli
