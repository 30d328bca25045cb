#include "study/analysis.hpp"

#include "study/version.hpp"
#include "dyson/ask/mixer_average.hpp"
#include "dyson/ask/sensitivity.hpp"
#include "dyson/law/theory.hpp"
#include "montecarlo/run/fingerprint.hpp"
#include "montecarlo/run/simulate.hpp"
#include "parallel/launch.hpp"
#include "report/density_figure.hpp"
#include "report/result_file.hpp"
#include "report/simulation_group.hpp"
#include "study/draw.hpp"
#include "study/green_over_ranks.hpp"
#include "study/output_files.hpp"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>
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
    return options;
}

void compute(const Request& request, const Analysis& analysis, Observer& observer, report::Report& report) {
    const auto theory = theory_options(request);
    if (!request.omega.empty()) {
        observer.stage("evaluating g");
        auto* const ranks = analysis.simulation.ranks;
        report.green = ranks != nullptr ? gather_green(*ranks, report.network, request.omega, theory)
                                        : dyson::green(report.network, request.omega, theory);
    }
    // What an earlier run simulated is kept where this one is stopped before it gets there.
    if (analysis.done && request.samples > 0) report.simulation = analysis.done;
    for (const auto method : analysis.methods) {
        if (observer.stopped()) return;
        observer.stage("solving " + dyson::name(method));
        report.theories.push_back(dyson::solve(report.network, method, theory));
    }
    if (request.samples == 0 || observer.stopped()) return;
    observer.stage("simulating");
    auto options = analysis.simulation;
    options.progress = [&observer](int finished, int requested) { observer.update(finished, requested); };
    if (analysis.done) options.resume = &*analysis.done;
    if (analysis.save) {
        options.checkpoint = [&](const montecarlo::Simulation& so_far) {
            report::Report part = report;
            part.simulation = so_far;
            report::compare(part);
            analysis.save(part);
        };
    }
    auto result = montecarlo::simulate(report.network, options);
    report.simulation.reset();
    if (result.samples > 0) report.simulation = std::move(result);
    // Redrawn mixers are a different network from the one in the theory.
    if (!report.simulation || report.theories.empty() || request.redrawn || observer.stopped()) return;
    observer.stage("simulating smaller widths");
    auto expecting = analysis.simulation;
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
        report.sensitivity = dyson::sensitivities(report.network);
    }
    if (request.average > 0 && !observer.stopped())
        report.average = average_of(request, *recipe, report.network, observer);
}

}  // namespace

report::Provenance provenance(const std::string& command, std::uint64_t seed) {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char created[32];
    std::strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {version::number, version::git, command, created, seed};
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
    compute(request, analysis, observer, report);
    compute_design(request, analysis.described.recipe, observer, report);
    report::compare(report);
    return report;
}

std::optional<report::Report> analyse(const Request& request, const std::string& command, Observer& observer) {
    const auto ranks = parallel::open_ranks();
    auto analysis = prepare(request);
    analysis.simulation.ranks = ranks.get();
    analysis.simulation.stop = &observer.stop();
    if (ranks && ranks->rank() > 0) {
        // The first rank does all the rest.
        if (!request.omega.empty())
            send_green(*ranks, analysis.described.network, request.omega, theory_options(request));
        if (request.samples > 0) montecarlo::simulate(analysis.described.network, analysis.simulation);
        return std::nullopt;
    }
    const auto& described = analysis.described;
    const auto files = output_files(
        request.out.value_or(fmt::format("spectra-{}-L{}", described.short_name, described.network.depth())),
        request.plots);
    check_writable(files, request.force);
    if (request.resume && std::filesystem::exists(files.result))
        analysis.done = report::read_simulation(
            files.result, static_cast<std::size_t>(analysis.simulation.samples) *
                              static_cast<std::size_t>(analysis.described.network.size()));

    throw_if_stopped(observer);  // nothing was computed: earlier files stay
    const auto origin = provenance(command, request.seed);
    analysis.save = [&](report::Report part) {
        part.provenance = origin;
        report::write_result_file(part, files.result);
    };
    report::Report report = [&] {
        try {
            return compute(request, std::move(analysis), observer);
        } catch (const montecarlo::OtherSamples& error) {
            throw OtherRun(error.what(), files.result.string(), report::read_provenance(files.result).command);
        }
    }();
    report.provenance = origin;
    observer.stage("writing");
    report::write_result_file(report, files.result);
    report.files.push_back(files.result.string());
    observer.stage("drawing");
    draw_figures(files.figures, request.column, report, observer);
    return report;
}

}  // namespace spectra::study
