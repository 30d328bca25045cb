#include "study/analysis.hpp"

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "dyson/ask/mixer_average.hpp"
#include "dyson/ask/sensitivity.hpp"
#include "dyson/law/theory.hpp"
#include "montecarlo/run/cost.hpp"
#include "montecarlo/run/simulate.hpp"
#include "parallel/launch.hpp"
#include "parallel/rank_team.hpp"
#include "report/density_figure.hpp"
#include "report/result_file.hpp"
#include "report/simulation_group.hpp"
#include "study/draw.hpp"
#include "study/memory.hpp"
#include "study/output_files.hpp"
#include "study/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>

namespace spectra::study {

namespace {

/// Refuses a network that a theory does not support, with the options that avoid that theory.
void check_theory(const Network& network, dyson::Method method) {
    try {
        dyson::check(network, method);
    } catch (const std::invalid_argument& error) {
        if (method != dyson::Method::operator_valued) throw;
        throw std::invalid_argument(fmt::format("{} (`theory` none, no `omega`)", error.what()));
    }
}

/// The requested theories, which must all support the network; by default those that do.
std::vector<dyson::Method> methods_for(const Request& request, const Network& network) {
    std::vector<dyson::Method> methods;
    for (const auto method : request.methods) {
        try {
            check_theory(network, method);
            methods.push_back(method);
        } catch (const std::invalid_argument&) {
            if (request.methods_given || method == dyson::Method::operator_valued) throw;
        }
    }
    if (!request.omega.empty()) check_theory(network, dyson::Method::operator_valued);
    return methods;
}

dyson::Options theory_options(const Request& request) {
    dyson::Options options;
    options.eta = request.eta.value_or(0);
    options.grid = request.grid;
    options.threads = request.threads;
    return options;
}

constexpr int most_samples = 1'000'000;

// Samples that are worth having where none were asked for: as many as half a minute of two cores draws, and no fewer
// than 25, whose law already has 25·N values. Counted in operations, so that it does not depend on the machine.
constexpr double worthwhile_cost = 6e10;
constexpr int fewest_samples = 25;

int worthwhile_samples(int wanted, double sample_cost) {
    const double affordable = worthwhile_cost / std::max(sample_cost, 1.0);
    return affordable >= wanted ? wanted : std::max(std::min(wanted, fewest_samples), static_cast<int>(affordable));
}

montecarlo::Options simulation_options(const Request& request, const DescribedNetwork& described) {
    montecarlo::Options options;
    options.samples = request.samples;
    if (request.until_error && !request.samples_given) options.samples = most_samples;
    options.until_error = request.until_error;
    options.slopes = request.slopes;
    options.method = request.method;
    options.checkpoint_seconds = request.checkpoint_seconds;
    options.seed = request.seed;
    options.keep = request.keep;
    options.device = request.device;
    options.precision = request.precision;
    options.threads = request.threads;
    options.gpu = request.gpu;
    if (request.redrawn) options.redrawn = described.recipe;
    options.shared_mixers = request.shared_draws.value_or(false);
    if (!request.samples_given && !request.until_error)
        options.samples = worthwhile_samples(options.samples, sample_cost(described.network, options));
    return options;
}

/// Counts Newton steps for the progress, and ends the solve when the study is stopped.
std::function<void()> step_counter(Observer& observer) {
    struct Counter {
        std::mutex mutex;
        int steps = 0;
    };
    return [&observer, counter = std::make_shared<Counter>()] {
        if (observer.stopped()) throw Stopped{};
        const std::unique_lock lock(counter->mutex, std::try_to_lock);  // a missed count does no harm
        if (!lock) return;
        ++counter->steps;
        observer.update(counter->steps, std::max(dyson::typical_newton_steps, counter->steps + counter->steps / 4));
    };
}

std::string solving(dyson::Method method) {
    return "solving " + dyson::name(method);
}

constexpr const char* simulating = "simulating";
constexpr const char* simulating_smaller = "simulating smaller widths";

/// Whether the distance that width and samples explain will be found too. Redrawn mixers are a different network from
/// the one in the theory.
bool expects_distance(const Request& request, const Analysis& analysis) {
    return !analysis.methods.empty() && analysis.simulation.samples > 0 && !request.redrawn;
}

/// The seconds of every stage, within a factor of two or three. Nothing is known of a simulation on a GPU.
std::vector<Observer::Stage> expected_stages(const Request& request, const Analysis& analysis) {
    std::vector<Observer::Stage> stages;
    const auto& network = analysis.described.network;
    for (const auto method : analysis.methods)
        stages.push_back({solving(method), dyson::typical_newton_steps * dyson::seconds_per_step(network, method) /
                                               threads_or_all(request.threads)});
    const auto& options = analysis.simulation;
    if (options.samples == 0 || request.samples == 0) return stages;
    const bool gpu = options.device == montecarlo::Device::cuda ||
                     (options.device == montecarlo::Device::automatic && std::filesystem::exists("/dev/nvidia0"));
    const double seconds =
        gpu ? 0 : montecarlo::estimated_seconds(network, options, montecarlo::measured_speed());
    stages.push_back({simulating, seconds});
    if (expects_distance(request, analysis)) stages.push_back({simulating_smaller, seconds / 2});
    return stages;
}

constexpr double worth_a_note = 60, hopeless = 3 * 86400.0;  // seconds

/// Says what a long run will take, and refuses a hopeless one.
void announce(const Request& request, const std::vector<Observer::Stage>& stages, Observer& observer) {
    double total = 0, simulation = 0;
    for (const auto& stage : stages) {
        total += stage.seconds;
        if (stage.name.starts_with(simulating)) simulation += stage.seconds;
    }
    if (total < worth_a_note) return;
    const std::string remedy = simulation > total / 2
                                   ? "fewer `samples` or a smaller `width` take less"
                                   : "fewer `streams` or a smaller `depth` take less, and `theory` none only simulates";
    if (total > hopeless && !request.force)
        throw std::invalid_argument(
            fmt::format("this would take about {} on this machine; {}, and `force` starts it all the same",
                        duration_text(total), remedy));
    observer.note(fmt::format("this will take about {} (theory {}, simulation {}); {}", duration_text(total),
                              duration_text(total - simulation), duration_text(simulation), remedy));
}

/// The theory in a line, while the simulation is still to come.
void note_theory(const report::Report& report, Observer& observer) {
    for (const auto& theory : report.theories) {
        if (theory.method != dyson::Method::operator_valued || !theory.summary.certified) continue;
        const auto metrics = theory.law.metrics();
        observer.note(fmt::format("theory is solved: {:.4g} of the singular values in [0.75, 1.25], {:.4g} below 0.1, "
                                  "largest {:.4g}; now the simulation",
                                  metrics.window, metrics.collapsed, metrics.largest));
    }
}

bool nothing_in(const report::Report& report) {
    return report.theories.empty() && !report.simulation && !report.green;
}

/// Of another process: its progress is not shown, but it can be stopped.
class Unseen final : public Observer {
public:
    explicit Unseen(const Observer& observer) : stop_(observer.stop()) {}
    const std::atomic<bool>& stop() const override { return stop_; }

private:
    const std::atomic<bool>& stop_;
};

/// The theories, on every process of a run. What the others find is for the first one.
void solve_theories(const Request& request, const Analysis& analysis, Observer& observer,
                    report::Report& report) {
    auto* const ranks = analysis.simulation.ranks;
    std::optional<parallel::RankTeam> team;
    auto theory = theory_options(request);
    if (ranks != nullptr) {
        theory.team = &team.emplace(*ranks, observer.stop());
        if (request.threads <= 0) theory.threads = parallel::threads_of(*ranks);
    }
    theory.on_step = step_counter(observer);
    if (!request.omega.empty()) {
        observer.stage("evaluating g");
        report.green = dyson::green(report.network, request.omega, theory);
    }
    for (const auto method : analysis.methods) {
        throw_if_stopped(observer);
        observer.stage(solving(method));
        theory.on_step = step_counter(observer);
        report.theories.push_back(dyson::solve(report.network, method, theory));
    }
}

void compute(const Request& request, const Analysis& analysis, Observer& observer, report::Report& report) {
    // What an earlier run simulated is kept where this one is stopped before it gets there.
    if (analysis.done && request.samples > 0) report.simulation = analysis.done;
    solve_theories(request, analysis, observer, report);
    if (request.samples == 0 || observer.stopped()) return;
    if (analysis.long_simulation) note_theory(report, observer);
    observer.stage(simulating);
    auto options = analysis.simulation;
    options.progress = [&observer](int finished, int requested) { observer.update(finished, requested); };
    if (analysis.done) options.resume = &*analysis.done;
    if (analysis.save) {
        options.checkpoint = [&](const montecarlo::Simulation& so_far) {
            report::Report part = report;
            if (so_far.samples > 0) part.simulation = so_far;
            if (nothing_in(part)) return;
            report::compare(part);
            analysis.save(part);
        };
    }
    auto result = montecarlo::simulate(report.network, options);
    report.simulation.reset();
    if (result.samples > 0) report.simulation = std::move(result);
    if (!report.simulation || !expects_distance(request, analysis) || observer.stopped()) return;
    observer.stage(simulating_smaller);
    auto expecting = analysis.simulation;
    expecting.progress = options.progress;
    expecting.samples = report.simulation->samples;
    report.expected = montecarlo::expected_distance(report.network, expecting);
}

void draw_figures(const std::vector<std::filesystem::path>& paths, bool column, report::Report& report,
                  Observer& observer) {
    if (paths.empty() || (report.theories.empty() && !report.simulation)) return;
    draw_or_warn(observer, [&] {
        auto figure = report::density_figure(report);
        if (column) plot::fit_column(figure);
        render_all(figure, paths, report.files);
    });
}

/// The network with draw k of its mixers, k = 1, 2, …: those of the samples where `redrawn` is set.
dyson::Average average_of(const Request& request, const mixers::Recipe& recipe, const Network& network,
                          Observer& observer) {
    const auto draw = [&](int k) {
        Network drawn = network;
        drawn.mixers = mixers::draw_layers(recipe, network.streams, network.depth(),
                                           request.shared_draws.value_or(false), request.seed,
                                           static_cast<std::uint32_t>(k) + 1);
        return drawn;
    };
    observer.stage("averaging");
    return dyson::average(draw, request.average, theory_options(request), [&](int k) {
        observer.update(k, request.average);
        return !observer.stopped();
    });
}

void compute_design(const Request& request, const std::optional<mixers::Recipe>& recipe, Observer& observer,
                    report::Report& report) {
    if (request.sensitivity && !observer.stopped()) {
        observer.stage("sensitivities");
        if (!std::holds_alternative<AlignedBranch>(report.network.branch))
            report.sensitivity = dyson::sensitivities(report.network);
        else
            for (const auto& theory : report.theories)
                if (theory.method == dyson::Method::operator_valued)
                    report.largest_by_triplet = dyson::largest_by_triplet(report.network, theory.law);
    }
    if (request.average > 0 && !observer.stopped())
        report.average = average_of(request, *recipe, report.network, observer);
}

}  // namespace

report::Provenance provenance(const Invocation& invocation, std::uint64_t seed) {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char created[32];
    std::strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {.program_version = version::number,
            .git = version::git,
            .command = invocation.command,
            .created = created,
            .seed = seed,
            .settings = to_json(invocation.settings)};
}

Analysis prepare(const Request& request) {
    check_conflicts(request);
    Analysis analysis;
    analysis.described = describe_network(request);
    const Network& network = analysis.described.network;
    if (request.average > 0 && !analysis.described.recipe)
        throw std::invalid_argument(fmt::format(
            "`mixer` {} cannot be combined with `average`: mixers of a file are not drawn", *request.mixer));
    analysis.methods = methods_for(request, network);
    analysis.simulation = simulation_options(request, analysis.described);
    if (request.samples > 0)
        check_memory("the simulation",
                     static_cast<double>(montecarlo::memory_needed(network, analysis.simulation)),
                     "a smaller `width`, `streams`, `depth` or `samples`, fewer `threads`, or `keep` "
                     "histogram");
    return analysis;
}

report::Report compute(const Request& request, Analysis analysis, Observer& observer) {
    report::Report report;
    report.network = std::move(analysis.described.network);
    analysis.simulation.stop = &observer.stop();
    try {
        compute(request, analysis, observer, report);
        compute_design(request, analysis.described.recipe, observer, report);
    } catch (const Stopped&) {  // the report has what was finished
    }
    report::compare(report);
    return report;
}

std::optional<report::Report> analyse(const Request& request, const Invocation& invocation, Observer& observer) {
    const auto ranks = parallel::open_ranks();
    auto analysis = prepare(request);
    analysis.simulation.ranks = ranks.get();
    analysis.simulation.stop = &observer.stop();
    if (ranks && ranks->rank() > 0) {
        // The first rank does all the rest.
        report::Report share;
        share.network = analysis.described.network;
        Unseen unseen(observer);
        try {
            solve_theories(request, analysis, unseen, share);
            if (request.samples > 0) montecarlo::simulate(share.network, analysis.simulation);
        } catch (const Stopped&) {  // as the first rank is, or has told
        }
        return std::nullopt;
    }
    const auto& described = analysis.described;
    const auto& settings = invocation.settings;
    const auto files = output_files(
        request.out.value_or(fmt::format("spectra-{}-L{}{}", described.short_name, described.network.depth(),
                                         file_name_suffix(settings, {"command", "mixer", "model", "depth"}))),
        request.plots);
    std::vector<std::string> may_differ;
    if (request.resume) may_differ = {"samples", "until_error", "keep"};
    check_writable(files, settings, request.force, may_differ);
    const auto stale = stale_figures(files, settings);
    if (request.resume && std::filesystem::exists(files.result))
        analysis.done = report::read_simulation(
            files.result, static_cast<std::size_t>(analysis.simulation.samples) *
                              static_cast<std::size_t>(analysis.described.network.size()));

    const auto stages = expected_stages(request, analysis);
    announce(request, stages, observer);
    observer.plan(stages);
    for (const auto& stage : stages)
        if (stage.name == simulating) analysis.long_simulation = stage.seconds > worth_a_note / 10;

    throw_if_stopped(observer);  // nothing was computed: earlier files stay
    const auto origin = provenance(invocation, request.seed);
    analysis.save = [&](report::Report part) {
        part.provenance = origin;
        report::write_result_file(part, files.result);
    };
    report::Report report = compute(request, std::move(analysis), observer);
    if (nothing_in(report)) throw_if_stopped(observer);
    report.provenance = origin;
    observer.stage("writing");
    report::write_result_file(report, files.result);
    report.files.push_back(files.result.string());
    for (const auto& figure : stale) std::filesystem::remove(figure);
    observer.stage("drawing");
    draw_figures(files.figures, request.column, report, observer);
    return report;
}

}  // namespace spectra::study
