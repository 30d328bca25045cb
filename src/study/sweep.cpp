#include "study/sweep.hpp"

#include "study/analysis.hpp"
#include "study/observer.hpp"
#include "study/build_network.hpp"
#include "montecarlo/run/fingerprint.hpp"
#include "parallel/launch.hpp"
#include "study/memory.hpp"
#include "study/output_files.hpp"
#include "base/atomic_file.hpp"
#include "report/result_file.hpp"
#include "report/runs_file.hpp"
#include "report/simulation_group.hpp"
#include "study/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace spectra::study {

namespace {

using report::StoredRun;

/// The fields that only choose networks: results of a network do not depend on them.
const std::vector<std::string> lists{"mixers", "checkpoints", "branches", "streams", "widths",
                                     "depths", "noises",      "seeds"};

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Everything that the results of a network depend on. Results of an earlier run are reused only if this text
/// is identical.
std::string description_of(const Settings& settings, const GridPoint& point, const Analysis& analysis) {
    std::string text = fmt::format(
        "spectra {} ({}); {}", version::number, version::git,
        montecarlo::fingerprint(analysis.described.network, analysis.simulation, "as given", "as given"));
    for (const auto& [name, value] : settings)
        if (name != "command" && !contains(lists, name) && !contains(point.unused, name))
            text += fmt::format("; {} {}", name, value);
    if (const auto& omega = point.request.omega; !omega.empty()) {  // the fields above have only the file name
        const std::string_view bytes(reinterpret_cast<const char*>(omega.data()),
                                     omega.size() * sizeof omega.front());
        text += fmt::format("; omega {:x}", std::hash<std::string_view>{}(bytes));
    }
    return text;
}

/// Approximate size of one network in the result file, in bytes.
double result_bytes(const GridPoint& point, const Network& network) {
    constexpr double values_kept_to = 256e6, rest = 200e3;
    const double n = network.streams;
    const double values = 8.0 * point.request.samples * network.size();
    const bool kept = point.request.keep == montecarlo::Keep::values ||
                      (point.request.keep == montecarlo::Keep::automatic && values <= values_kept_to);
    return rest + 8.0 * network.depth() * n * n + (kept ? 2 * values : 0);
}

/// Throws for invalid networks before anything is computed. Checks one of several networks that differ only in
/// their seed.
void check_grid(const SweepRequest& request, const std::vector<GridPoint>& points) {
    for (const auto& mixer : request.mixers) check_mixer("mixers", mixer);
    const std::size_t seeds = std::max<std::size_t>(request.seeds.size(), 1);
    double bytes = 0;
    std::vector<dyson::Method> used;
    for (std::size_t k = 0; k < points.size(); k += seeds) {
        try {
            const Analysis analysis = prepare(points[k].request);
            used.insert(used.end(), analysis.methods.begin(), analysis.methods.end());
            bytes += static_cast<double>(seeds) * result_bytes(points[k], analysis.described.network);
        } catch (const std::invalid_argument& error) {
            if (points.size() == seeds) throw;
            throw std::invalid_argument(fmt::format("{}: {}", points[k].name, error.what()));
        }
    }
    for (const auto method : request.each.methods) {
        if (!request.each.methods_given || std::find(used.begin(), used.end(), method) != used.end())
            continue;
        Request unknown = points.front().request;
        unknown.methods = {method};
        unknown.methods_given = true;
        prepare(unknown);  // throws: no network of the grid supports it; the message explains why for the first
    }
    // Twice: in memory while it is built and while it is written.
    check_memory("the result file of this grid", 2 * bytes,
                 "fewer networks or `samples`, or `keep` histogram");
}

/// A grid may grow. Refuses to drop networks that the file holds and the grid does not.
void refuse_to_drop(const std::filesystem::path& result, const std::vector<GridPoint>& points) {
    if (!report::is_result_file(result)) return;
    auto dropped = report::run_names(result);
    for (const auto& point : points) std::erase(dropped, point.name);
    if (dropped.empty()) return;
    throw std::invalid_argument(fmt::format(
        "`out`: {}: holds {}{}, which this grid does not have; use another `out`, or `force` to replace it",
        result.string(), dropped.front(),
        dropped.size() > 1 ? fmt::format(" and {} more networks", dropped.size() - 1) : ""));
}

/// Stores results until the grid is complete.
class Parts {
public:
    explicit Parts(const std::filesystem::path& result)
        : result_(result), folder_(std::filesystem::path(result).replace_extension(".parts")) {}

    const std::filesystem::path& folder() const { return folder_; }

    std::filesystem::path file_of(const std::string& name, bool finished = true) const {
        return folder_ / (name + (finished ? ".h5" : ".unfinished.h5"));
    }

    void check() const {
        std::error_code ignored;
        if (std::filesystem::exists(std::filesystem::symlink_status(folder_, ignored)) &&
            !std::filesystem::is_directory(folder_, ignored))
            throw std::invalid_argument(
                fmt::format("`out`: {}: exists and is not a folder; use another `out`", folder_.string()));
    }

    /// The results of the network with this description, finished now or by an earlier run.
    std::optional<StoredRun> find(const std::string& name, const std::string& description) const {
        const StoredRun part{name, file_of(name)};
        const StoredRun earlier{name, result_, "runs/" + name};
        for (const auto& stored : {part, earlier})
            if (report::stored_description(stored) == description) return stored;
        return std::nullopt;
    }

    /// The samples of an interrupted earlier run of the network with this description.
    std::optional<montecarlo::Simulation> unfinished(const std::string& name,
                                                     const std::string& description) const {
        const auto file = file_of(name, false);
        if (report::stored_description({name, file}) != description) return std::nullopt;
        return report::read_simulation(file);
    }

    void write(const report::Report& report, const std::string& name, bool finished) const {
        std::error_code error;
        std::filesystem::create_directory(folder_, error);
        if (!std::filesystem::is_directory(folder_))
            throw std::runtime_error(
                fmt::format("{}: cannot be created: {}", folder_.string(), error.message()));
        report::write_result_file(report, file_of(name, finished));
        if (finished) std::filesystem::remove(file_of(name, false), error);
    }

    /// Removes result files written by spectra and leftovers of killed runs; a folder with other files stays.
    void remove() const {
        std::error_code ignored;
        std::vector<std::filesystem::path> ours;
        for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
            const std::string name = entry.path().filename().string();
            const bool unfinished = name.starts_with('.') && name.find(".h5.tmp-") != std::string::npos;
            if (unfinished || report::is_result_file(entry.path())) ours.push_back(entry.path());
        }
        for (const auto& path : ours) std::filesystem::remove(path, ignored);
        std::filesystem::remove(folder_, ignored);  // only if it is empty
    }

private:
    std::filesystem::path result_, folder_;
};

/// A running grid.
class Sweep {
public:
    Sweep(const SweepRequest& request, const Invocation& invocation, std::vector<GridPoint> points,
          const GridOutput& output, std::unique_ptr<parallel::Ranks> ranks, Observer& observer)
        : invocation_(invocation),
          points_(std::move(points)),
          output_(output),
          parts_(output.files.result),
          ranks_(std::move(ranks)),
          observer_(observer),
          stored_(points_.size()) {
        if (!ranks_) return;
        for (auto& point : points_) point.request.gpu = ranks_->local_rank();
        if (request.each.threads > 0) return;
        for (auto& point : points_) point.request.threads = parallel::threads_of(*ranks_);
    }

    SweepOutcome run() {
        compute_own();
        SweepOutcome outcome;
        outcome.first = is_first();
        outcome.networks = points_.size();
        if (is_first()) {
            wait_for_others();
            if (!observer_.stopped()) find_others();
        }
        outcome.kept = static_cast<std::size_t>(
            std::count_if(stored_.begin(), stored_.end(), [](const auto& s) { return s.has_value(); }));
        outcome.stopped = observer_.stopped();
        outcome.report.failed = failed_;
        if (is_first() && !outcome.stopped) finish(outcome.report);
        return outcome;
    }

private:
    bool is_first() const { return !ranks_ || ranks_->rank() == 0; }

    /// Networks are dealt to ranks in turn.
    bool is_own(std::size_t k) const {
        return !ranks_ ||
               k % static_cast<std::size_t>(ranks_->size()) == static_cast<std::size_t>(ranks_->rank());
    }

    void compute_own() {
        for (std::size_t k = 0; k < points_.size() && !observer_.stopped(); ++k) {
            if (!is_own(k)) continue;
            const auto& point = points_[k];
            observer_.prefix(fmt::format("{} of {}, {}: ", k + 1, points_.size(), point.name));
            observer_.stage("preparing");
            Analysis analysis = prepare(point.request);
            const std::string description = description_of(invocation_.settings, point, analysis);
            stored_[k] = parts_.find(point.name, description);
            if (stored_[k]) continue;
            const auto save = [&, origin = provenance(invocation_, point.request.seed)](report::Report report,
                                                                                     bool finished) {
                report.provenance = origin;
                report.provenance.description = description;
                parts_.write(report, point.name, finished);
            };
            analysis.save = [&](const report::Report& report) { save(report, false); };
            analysis.done = parts_.unfinished(point.name, description);
            auto report = analysed(point, std::move(analysis));
            if (!report) continue;
            if (!observer_.stopped()) {
                save(std::move(*report), true);
                stored_[k] = StoredRun{point.name, parts_.file_of(point.name)};
            } else if (report->simulation) {
                save(std::move(*report), false);
            }
        }
    }

    /// Nothing if it failed; the other networks continue.
    std::optional<report::Report> analysed(const GridPoint& point, Analysis analysis) {
        const auto failed = [&](const std::string& reason) {
            observer_.warn(fmt::format("{}: {}", point.name, reason));
            failed_.push_back({point.name, reason});
        };
        try {
            auto report = compute(point.request, std::move(analysis), observer_);
            if (report.simulation && report.simulation->note != note_ && is_first()) {
                note_ = report.simulation->note;
                if (!note_.empty()) observer_.warn(note_);
            }
            return report;
        } catch (const std::bad_alloc&) {
            failed("out of memory");
        } catch (const std::exception& error) {
            failed(error.what());
        }
        return std::nullopt;
    }

    /// The other ranks only report that they are done.
    void wait_for_others() {
        for (int left = ranks_ ? ranks_->size() - 1 : 0; left > 0;) {
            const auto message = ranks_->receive();
            if (message && message->bytes.empty()) --left;
            if (!message) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }

    void find_others() {
        for (std::size_t k = 0; k < points_.size(); ++k) {
            if (is_own(k)) continue;
            const auto& point = points_[k];
            stored_[k] = parts_.find(point.name, description_of(invocation_.settings, point, prepare(point.request)));
            if (!stored_[k]) failed_.push_back({point.name, "its process ended before finishing it"});
        }
    }

    void finish(report::RunsReport& report) {
        report.provenance = provenance(invocation_, points_.front().request.seed);
        std::vector<StoredRun> finished;
        for (const auto& stored : stored_)
            if (stored) finished.push_back(*stored);
        if (finished.empty()) return;
        report::write_runs_file(report, finished, output_.files.result);
        report.files.push_back(output_.files.result.string());
        output_.write(report);
        parts_.remove();
    }

    Invocation invocation_;
    std::vector<GridPoint> points_;
    const GridOutput& output_;
    Parts parts_;
    std::unique_ptr<parallel::Ranks> ranks_;
    Observer& observer_;
    std::vector<std::optional<StoredRun>> stored_;  ///< as points_
    std::vector<report::FailedRun> failed_;
    std::string note_;
};

}  // namespace

SweepOutcome run_grid(const SweepRequest& request, const Invocation& invocation, const GridOutput& output,
                      Observer& observer) {
    auto points = grid_points(request);
    for (auto& point : points) point.request.methods_given = false;  // a theory is for networks it supports
    check_grid(request, points);
    check_writable(output.files, invocation.settings, request.each.force, lists);
    if (!request.each.force) refuse_to_drop(output.files.result, points);
    Parts(output.files.result).check();
    return Sweep(request, invocation, std::move(points), output, parallel::open_ranks(), observer).run();
}

SweepOutcome sweep(const SweepRequest& request, const Invocation& invocation, Observer& observer) {
    GridOutput output;
    output.files = output_files(request.each.out.value_or("spectra-sweep"), {"csv"});
    output.write = [&](report::RunsReport& report) {
        const auto& path = output.files.figures.front();
        AtomicFile table(path);
        table.write(report::summary_csv(report));
        table.commit();
        report.files.push_back(path.string());
    };
    return run_grid(request, invocation, output, observer);
}

}  // namespace spectra::study
