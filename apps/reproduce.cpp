#include "reproduce.hpp"

#include "base/program.hpp"
#include "console/interrupt.hpp"
#include "console/progress.hpp"
#include "console/terminal.hpp"
#include "exit_status.hpp"
#include "report/claims_report.hpp"
#include "study/trainings.hpp"

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

/// What a training is called with: it writes its log, and continues where it was stopped.
std::vector<std::string> words_of(const claims::Training& training, const std::filesystem::path& stem) {
    std::vector<std::string> out{"train", training.task};
    for (const auto& [field, value] : training.fields) {
        out.push_back("--" + field);
        out.push_back(value);
    }
    for (const char* const word : {"--device", "cuda", "--plot", "none", "--quiet", "--resume", "--out"})
        out.emplace_back(word);
    out.push_back(stem.string());
    return out;
}

/// Runs the trainings that the folder lacks. Returns the exit status.
int train_missing(const ReproduceOptions& options) {
    const std::string gpu = study::gpu_name();
    if (gpu.empty()) {
        print_error("--gpu: no NVIDIA GPU was found (nvidia-smi)");
        return not_finished;
    }
    const study::SharedGpu sharing;
    const int at_once = options.jobs > 0 ? options.jobs : sharing.shared() ? 7 : 4;
    Progress progress(!options.json);
    const auto result = study::run_trainings(
        {study::trainings_of(study::requested_claims(options.request)), *options.request.trainings,
         program_folder() / "spectra", words_of, fmt::format("{}; {}", gpu, this_machine()), at_once},
        progress);
    progress.note(fmt::format("{} models trained, {} had been", result.trained, result.there));
    for (const auto& failure : result.failures) progress.warn(failure);
    return result.stopped ? was_interrupted : result.failures.empty() ? 0 : not_finished;
}

}  // namespace

int reproduce(ReproduceOptions options) {
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
