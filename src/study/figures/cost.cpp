#include "study/build_network.hpp"
#include "dyson/law/theory.hpp"
#include "study/figures/panels.hpp"
#include "study/observer.hpp"
#include "montecarlo/run/simulate.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace spectra::study {

namespace {

/// Most runs of which the shortest counts: other programs only ever add time.
constexpr int repetitions = 7;

/// Run time of `work` in seconds: the shortest of up to seven runs, of at least three unless they take long.
double seconds(const std::function<void()>& work) {
    constexpr double enough = 0.5, long_run = 2;
    double best = INFINITY, spent = 0;
    for (int k = 0; k < repetitions && spent < (k < 3 ? long_run : enough); ++k) {
        const auto began = std::chrono::steady_clock::now();
        work();
        const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        best = std::min(best, took);
        spent += took;
    }
    return best;
}

/// True if a GPU can simulate; otherwise gives the reason.
bool has_gpu(const Network& network, std::string& why_not) {
    montecarlo::Options options;
    options.samples = 1;
    options.device = montecarlo::Device::cuda;
    const auto simulation = montecarlo::simulate(network, options);
    why_not = simulation.note;
    return simulation.device.starts_with("cuda");
}

}  // namespace

Drawing draw_cost(const FigureRequest& request, Observer& observer) {
    const auto mixers = mixers_or(request, {"bistochastic"});
    if (mixers.size() > 1 && request.name != "all")
        throw std::invalid_argument(
            fmt::format("`mixers`: {} given; must be one for the figure cost", mixers.size()));
    const int depth = depth_or(request, 10), most = request.samples.value_or(256);
    Request described = network_request(request, mixers.front(), default_noise);
    described.depth = depth;
    Network network = describe_network(described).network;

    Drawing drawing;
    plot::Panel panel;
    observer.stage("reference");
    dyson::Options fine;
    fine.threads = request.threads;
    fine.points = 3200;
    fine.tolerance = 1e-11;
    const auto reference = dyson::solve(network, dyson::Method::operator_valued, fine);
    throw_if_stopped(observer);
    auto theory_curve = line("operator-valued theory, 25, 100, 400 points", 0, {}, {});
    for (int points = 25; points <= 400; points *= 4) {
        observer.stage(fmt::format("theory, {} points", points));
        dyson::Options options;
        options.threads = request.threads;
        options.points = points;
        options.tolerance = 1e-2 * std::pow(25.0 / points, 4);
        dyson::Theory theory;
        theory_curve.x.push_back(std::log10(
            seconds([&] { theory = dyson::solve(network, dyson::Method::operator_valued, options); })));
        theory_curve.y.push_back(log10_of(agreement(reference.law, theory.law).wasserstein1));
        drawing.points += theory.summary.points;
        drawing.uncertified += theory.summary.uncertified;
        throw_if_stopped(observer);
    }
    add_dotted(panel, std::move(theory_curve));

    const auto simulate = [&](montecarlo::Device device, int width, const std::string& label,
                              std::size_t style) {
        auto curve = line(label, style, {}, {});
        network.width = width;
        for (int samples = 4; samples <= most; samples *= 4) {
            observer.stage(fmt::format("{}, {} samples", label, samples));
            montecarlo::Options options;
            options.samples = samples;
            options.seed = request.seed;
            options.threads = request.threads;
            options.device = device;
            options.stop = &observer.stop();
            montecarlo::Simulation simulation;
            curve.x.push_back(
                std::log10(seconds([&] { simulation = montecarlo::simulate(network, options); })));
            curve.y.push_back(log10_of(agreement(reference.law, simulation.law).wasserstein1));
            throw_if_stopped(observer);
        }
        add_dotted(panel, std::move(curve));
    };
    const int widest = request.width.value_or(32);
    std::size_t style = 1;
    for (const int width : {std::max(1, widest / 4), widest})
        simulate(montecarlo::Device::cpu, width, fmt::format("simulation, p = {}, CPU", width), style++);
    std::string why_not;
    const bool gpu = has_gpu(network, why_not);
    if (gpu)
        simulate(montecarlo::Device::cuda, widest, fmt::format("simulation, p = {}, GPU", widest), style++);
    else
        drawing.remarks.push_back("no GPU in this figure: " + why_not);

    frame_x(panel, "time (s)", plot::Scale::logarithmic);
    panel.x.min -= 0.1, panel.x.max += 0.1;
    frame_y(panel, "Wasserstein-1 distance in s", plot::Scale::logarithmic);
    drawing.figure.panels.push_back(std::move(panel));
    drawing.figure.title = "Time against accuracy";
    drawing.figure.panel_height = 44;
    const int threads = request.threads > 0 ? request.threads : omp_get_max_threads();
    drawing.figure.caption = {
        fmt::format("{}, L = {}, {}; distance to theory of {} points ({}); {} threads{}", network.mixer_name,
                    depth, setting_words(request, default_noise), reference.summary.points,
                    reference.summary.certified ? "certified" : "NOT certified", threads,
                    gpu ? "" : "; no GPU"),
        fmt::format("samples 4, 16, 64, …; times measured when the figure was drawn: shortest of up to {} runs",
                    repetitions)};
    return drawing;
}

}  // namespace spectra::study
