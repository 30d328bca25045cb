#include "reproduce.hpp"

#include "base/program.hpp"
#include "base/text.hpp"
#include "console/interrupt.hpp"
#include "console/progress.hpp"
#include "console/terminal.hpp"
#include "exit_status.hpp"
#include "report/claims_report.hpp"
#include "study/trainings.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace spectra::cli {

using namespace console;

namespace {

/// "x86_64, 16 cores".
std::string this_machine() {
    utsname names{};
    uname(&names);
    return fmt::format("{}, {} cores", names.machine, std::thread::hardware_concurrency());
}

/// What a training is called with: it writes its log, and continues where it was stopped.
std::vector<std::string> words_of(const claims::Training& training, const std::filesystem::path& stem,
                                  const std::string& text) {
    std::vector<std::string> out{"train", training.task};
    const auto add = [&](const std::string& field, const std::string& value) {
        out.push_back("--" + field);
        out.push_back(value);
    };
    for (const auto& [field, value] : training.fields) add(field, value);
    if (training.on_gpu()) add("device", "cuda");
    if (training.task == "text") add("text", text);
    add("plot", "none");
    add("out", stem.string());
    out.insert(out.end(), {"--quiet", "--resume"});
    return out;
}

/// Checks the text if one is needed. Throws std::invalid_argument with one line.
void check_text(const std::vector<claims::Training>& missing, const std::string& text) {
    const auto first =
        std::find_if(missing.begin(), missing.end(), [](const auto& t) { return t.task == "text"; });
    if (first == missing.end()) return;
    if (text.empty())
        throw std::invalid_argument(
            fmt::format("--text FILE is required: {} learns {}", first->name, claims::training_text_words));
    if (!claims::is_training_text(read_text(text)))
        throw std::invalid_argument(fmt::format("--text {}: must be {}", text, claims::training_text_words));
}

/// Runs the trainings that the folder lacks. Returns the exit status.
int train_missing(const ReproduceOptions& options) {
    const auto trainings = study::trainings_of(study::requested_claims(options.request));
    const auto missing = study::missing_trainings(trainings, *options.request.trainings, options.afresh);
    check_text(missing, options.text);
    const bool needs_gpu =
        std::any_of(missing.begin(), missing.end(), [](const auto& training) { return training.on_gpu(); });
    const std::string gpu = needs_gpu ? study::gpu_name() : "";
    if (needs_gpu && gpu.empty()) {
        print_error("--gpu: no NVIDIA GPU was found (nvidia-smi)");
        return not_finished;
    }
    std::optional<study::SharedGpu> sharing;
    if (needs_gpu) sharing.emplace();
    const int at_once = options.jobs > 0    ? options.jobs
                        : !needs_gpu        ? static_cast<int>(std::thread::hardware_concurrency())
                        : sharing->shared() ? 7
                                            : 4;
    Progress progress(!options.json);
    const auto result = study::run_trainings(
        {trainings, *options.request.trainings, program_folder() / "spectra",
         [&](const auto& training, const auto& stem) { return words_of(training, stem, options.text); },
         needs_gpu ? fmt::format("{}; {}", gpu, this_machine()) : this_machine(), at_once, options.afresh},
        progress);
    progress.note(fmt::format("{} models trained, {} had been", result.trained, result.there));
    for (const auto& failure : result.failures) progress.warn(failure);
    return result.stopped ? was_interrupted : result.failures.empty() ? 0 : not_finished;
}

}  // namespace

int reproduce(ReproduceOptions options) {
    for (const auto& [name, given] :
         {std::pair{"--afresh", options.afresh}, std::pair{"--text", !options.text.empty()},
          std::pair{"--jobs", options.jobs != 0}})
        if (given && !options.gpu)
            throw std::invalid_argument(fmt::format("{} is for trainings: it needs --gpu", name));
    if (options.markdown) {
        print(report::claims_markdown(study::requested_claims(options.request)));
        return done;
    }
    catch_interrupts(was_interrupted);
    options.request.machine = this_machine();
    if (options.gpu) {
        if (!options.request.trainings) options.request.trainings = "spectra-trainings";
        if (const int status = train_missing(options); status != 0) return status;
    }
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
