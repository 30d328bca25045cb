#include "study/trainings.hpp"

#include "base/atomic_file.hpp"
#include "base/program.hpp"
#include "base/refuse.hpp"
#include "claims/registry.hpp"
#include "h5/file.hpp"
#include "study/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

namespace spectra::study {
namespace {

using claims::Training;
using claims::TrainingResult;
namespace fs = std::filesystem;

constexpr double longest_training = 4 * 3600;  // seconds

fs::path result_file(const fs::path& folder, const std::string& name) {
    return folder / (name + ".json");
}

/// Six digits, but for whole numbers: a training repeats less.
double rounded(double value) {
    if (!std::isfinite(value) || value == std::round(value)) return value;
    return std::stod(fmt::format("{:.6g}", value));
}

std::string last_line(std::string_view text) {
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    const auto end_of_line_before = text.rfind('\n');
    return std::string(end_of_line_before == text.npos ? text : text.substr(end_of_line_before + 1));
}

/// The step at which a training diverged, from what it printed (train::Diverged).
std::optional<double> diverged_at(const std::string& output) {
    constexpr std::string_view words = "training diverged at step ";
    const auto found = output.find(words);
    int step = 0;
    if (found == output.npos ||
        std::from_chars(output.data() + found + words.size(), output.data() + output.size(), step).ec !=
            std::errc{})
        return {};
    return step;
}

/// The threads of a run of trainings, and what they share.
class Crew {
public:
    Crew(const TrainingsRequest& request, std::vector<Training> queue, const std::atomic<bool>& stop)
        : request_(request), queue_(std::move(queue)), stop_(stop) {}

    void work() {
        while (const auto* const training = next()) {
            std::string failure;
            try {
                failure = run(*training);
            } catch (const std::exception& error) {
                failure = error.what();
            }
            const std::lock_guard lock(mutex_);
            finished_ += training->seconds;
            if (failure.empty())
                ++done_;
            else if (!stop_)
                failures_.push_back(fmt::format("{}: {}", training->name, failure));
            changed_.notify_all();
        }
        const std::lock_guard lock(mutex_);
        ++ended_;
        changed_.notify_all();
    }

    /// Waits until all threads have ended, showing how far they are.
    void follow(int threads, Observer& observer) {
        const double total = std::accumulate(queue_.begin(), queue_.end(), 0.0,
                                             [](double sum, const Training& t) { return sum + t.seconds; });
        std::unique_lock lock(mutex_);
        while (ended_ < threads) {
            observer.update(static_cast<int>(finished_), static_cast<int>(total));
            changed_.wait_for(lock, std::chrono::milliseconds(500));
        }
    }

    int done() const { return done_; }
    const std::vector<std::string>& failures() const { return failures_; }

private:
    const Training* next() {
        const std::lock_guard lock(mutex_);
        if (stop_ || !failures_.empty() || taken_ == queue_.size()) return nullptr;
        return &queue_[taken_++];
    }

    /// Empty, or why it failed.
    std::string run(const Training& training) const {
        const auto stem = request_.folder / training.name;
        const auto log = stem.string() + ".h5";
        const auto result =
            run_program(request_.program, request_.arguments(training, stem), longest_training, &stop_);
        const auto diverged = result.status != 0 ? diverged_at(result.output) : std::nullopt;
        if (result.status != 0 && !diverged)
            return fmt::format("ended with {}: {}", result.status, last_line(result.output));
        {
            const std::lock_guard lock(reading_);
            const auto found = diverged
                                   ? TrainingResult{training.name,
                                                    request_.machine,
                                                    fmt::format("{} ({})", version::number, version::git),
                                                    {{"diverged_at", *diverged}},
                                                    {}}
                                   : training_result(log, training.name, request_.machine);
            AtomicFile file(result_file(request_.folder, training.name));
            file.write(claims::to_json(found));
            file.commit();
        }
        for (const char* const ending : {".h5", ".ckpt", ".ckpt.previous", ".csv"}) {
            std::error_code none;
            fs::remove(stem.string() + ending, none);
        }
        return {};
    }

    const TrainingsRequest& request_;
    const std::vector<Training> queue_;
    const std::atomic<bool>& stop_;
    mutable std::mutex reading_;  // the HDF5 library serves one thread at a time
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t taken_ = 0;
    int done_ = 0, ended_ = 0;
    double finished_ = 0;  // seconds of trainings, as estimated
    std::vector<std::string> failures_;
};

/// Whether a command of the service did what it should. It must not inherit the pipe that run_program() reads.
bool control(const std::string& command) {
    try {
        return run_program("/bin/sh", {"-c", command + " > /dev/null 2>&1"}, 30).status == 0;
    } catch (const std::runtime_error&) {
        return false;
    }
}

}  // namespace

std::vector<Training> trainings_of(const std::vector<claims::Claim>& ledger) {
    std::vector<std::string> wanted;
    for (const auto& claim : ledger)
        for (const auto& trained : claims::trained_claims())
            if (trained.id == claim.id)
                wanted.insert(wanted.end(), trained.series.begin(), trained.series.end());
    std::set<std::string> taken;
    std::vector<Training> out;
    for (const auto& name : wanted)
        for (const auto& series : claims::training_series())
            if (series.name == name && taken.insert(name).second)
                for (auto& training : series.trainings()) out.push_back(std::move(training));
    return out;
}

std::string gpu_name() {
    const auto program = find_program("nvidia-smi");
    if (!program) return "";
    try {
        // "GPU 0: NVIDIA H200 (UUID: GPU-…)", a line per GPU
        const auto [status, output] = run_program(*program, {"-L"}, 30);
        const auto begin = output.find(": "), end = output.find(" (UUID");
        return status == 0 && begin < end && end != output.npos ? output.substr(begin + 2, end - begin - 2)
                                                                : "";
    } catch (const std::runtime_error&) {
        return "";
    }
}

std::vector<Training> missing_trainings(const std::vector<Training>& wanted, const fs::path& folder,
                                        bool afresh) {
    const auto there = claims::read_trainings(folder);
    std::vector<Training> out;
    for (const auto& training : wanted)
        if (there.find(training.name) == nullptr &&
            (afresh || claims::stored_trainings().find(training.name) == nullptr))
            out.push_back(training);
    return out;
}

TrainingsDone run_trainings(const TrainingsRequest& request, Observer& observer) {
    fs::create_directories(request.folder);
    auto queue = missing_trainings(request.trainings, request.folder, request.afresh);
    TrainingsDone out;
    out.there = static_cast<int>(request.trainings.size() - queue.size());
    const auto alone =
        std::stable_partition(queue.begin(), queue.end(), [](const auto& t) { return !t.alone; });
    const auto run = [&](std::vector<Training> part, int at_once) {
        if (part.empty() || !out.failures.empty() || observer.stopped()) return;
        const int threads = std::min(at_once, static_cast<int>(part.size()));
        observer.stage(fmt::format("training {} models, {} at a time", part.size(), threads));
        Crew crew(request, std::move(part), observer.stop());
        std::vector<std::thread> workers;
        for (int k = 0; k < threads; ++k) workers.emplace_back([&crew] { crew.work(); });
        crew.follow(threads, observer);
        for (auto& worker : workers) worker.join();
        out.trained += crew.done();
        out.failures = crew.failures();
    };
    run({queue.begin(), alone}, request.at_once);
    run({alone, queue.end()}, 1);
    out.stopped = observer.stopped();
    return out;
}

claims::TrainingResult training_result(const fs::path& log, const std::string& name,
                                       const std::string& machine) {
    const auto file = h5::File::open_read(log);
    if (!file.is_group("training")) refuse(log.string(), "is not the log of a training");
    claims::TrainingResult out{name, machine, {}, {}, {}};
    out.version = fmt::format("{} ({})", file.string_attribute("/", "program_version").value_or("?"),
                              file.string_attribute("/", "git").value_or("?"));
    for (const auto& attribute : file.attributes("training"))
        if (const auto value = file.double_attribute("training", attribute))
            out.values[attribute] = rounded(*value);
    if (!out.values.contains("final_val_loss")) refuse(log.string(), "the training is not finished");
    h5::Shape shape;
    for (const char* const column : {"step", "loss", "val_loss", "gradient_norm"})
        if (const auto path = std::string("training/") + column; file.is_dataset(path))
            for (const double value : file.read_doubles(path, shape))
                out.columns[column].push_back(rounded(value));
    const auto take = [&](const std::string& diagnostic, bool all_rows) {
        const auto path = "training/diagnostics/" + diagnostic;
        if (!file.is_dataset(path)) return;
        const auto all = file.read_doubles(path, shape);
        if (shape.size() != 2 || shape[0] == 0) return;
        const auto begin = all_rows ? 0 : (shape[0] - 1) * shape[1];
        auto& column = out.columns[all_rows ? diagnostic : "final_" + diagnostic];
        for (std::size_t k = begin; k < all.size(); ++k) column.push_back(rounded(all[k]));
    };
    for (const char* const diagnostic : {"gate", "beta", "beta_negative", "sequence_rank", "row_sum_defect",
                                         "column_sum_defect", "negative_share", "fractional_share"})
        take(diagnostic, false);
    for (const char* const diagnostic : {"cosine", "gate", "beta", "stream_cosine", "stream_cosine_mixed"})
        take(diagnostic, true);
    return out;
}

SharedGpu::SharedGpu() {
    constexpr const char *place = "CUDA_MPS_PIPE_DIRECTORY", *log = "CUDA_MPS_LOG_DIRECTORY";
    if (std::getenv(place) != nullptr) {
        shared_ = true;
        return;
    }
    if (!find_program("nvidia-cuda-mps-control")) return;
    folder_.emplace();
    ::setenv(place, folder_->path().c_str(), 1);
    ::setenv(log, folder_->path().c_str(), 1);
    shared_ = control("nvidia-cuda-mps-control -d");
    if (shared_) return;
    ::unsetenv(place);
    ::unsetenv(log);
    folder_.reset();
}

SharedGpu::~SharedGpu() {
    if (folder_) control("echo quit | nvidia-cuda-mps-control");
}

}  // namespace spectra::study
