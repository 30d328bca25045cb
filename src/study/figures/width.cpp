#include "study/build_network.hpp"
#include "dyson/law/theory.hpp"
#include "study/figures/panels.hpp"
#include "study/observer.hpp"
#include "montecarlo/run/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spectra::study {

namespace {

/// Slope of the least-squares line through the points.
double slope(const std::vector<double>& x, const std::vector<double>& y) {
    const auto count = static_cast<double>(x.size());
    double mean_x = 0, mean_y = 0, across = 0, along = 0;
    for (std::size_t k = 0; k < x.size(); ++k) mean_x += x[k] / count, mean_y += y[k] / count;
    for (std::size_t k = 0; k < x.size(); ++k) {
        along += (x[k] - mean_x) * (y[k] - mean_y);
        across += (x[k] - mean_x) * (x[k] - mean_x);
    }
    return along / across;
}

}  // namespace

Drawing draw_width(const FigureRequest& request, Observer& observer) {
    const auto mixers = mixers_or(request, {"orthogonal", "cayley-hybrid", "bistochastic"});
    const int depth = depth_or(request, 10), samples = request.samples.value_or(200);
    const int largest = request.width.value_or(32);
    std::vector<int> widths;
    for (int p = largest; p >= 2 && widths.size() < 6; p /= 2) widths.insert(widths.begin(), p);
    if (widths.size() < 2)
        throw std::invalid_argument(fmt::format("`width` {}: must be ≥ 4 for the figure width", largest));

    Drawing drawing;
    plot::Panel panel;
    std::vector<double> x;
    for (const int p : widths) x.push_back(std::log10(p));
    double top = -INFINITY;
    for (std::size_t m = 0; m < mixers.size(); ++m) {
        Request described = network_request(request, mixers[m], default_noise);
        described.depth = depth;
        Network network = describe_network(described).network;
        observer.stage(mixers[m]);
        dyson::Options options;
        options.threads = request.threads;
        const auto theory = dyson::solve(network, dyson::Method::operator_valued, options);
        drawing.points += theory.summary.points;
        drawing.uncertified += theory.summary.certified ? 0 : std::max(1, theory.summary.uncertified);
        std::vector<double> y;
        for (const int p : widths) {
            network.width = p;
            montecarlo::Options simulation;
            simulation.samples = samples;
            simulation.seed = request.seed;
            simulation.threads = request.threads;
            simulation.stop = &observer.stop();
            observer.stage(fmt::format("{}, p = {}", mixers[m], p));
            const auto simulated = montecarlo::simulate(network, simulation);
            throw_if_stopped(observer);
            y.push_back(std::log10(agreement(theory.law, simulated.law).wasserstein1));
        }
        const double fitted = slope(x, y);
        drawing.numbers.emplace_back(mixers[m] + "_slope", fitted);
        top = std::max(top, y.front());
        add_dotted(panel, line(fmt::format("{}, slope −{:.2f}", mixers[m], -fitted), m, x, y));
    }
    auto reference =
        line("slope −1", 0, {x.front(), x.back()}, {top + 0.1, top + 0.1 - (x.back() - x.front())});
    reference.dash = plot::Dash::dotted;
    reference.colour = "#888888";
    panel.series.push_back(std::move(reference));
    frame_x(panel, "width p of a stream", plot::Scale::logarithmic);
    frame_y(panel, "Wasserstein-1 distance in s", plot::Scale::logarithmic);
    drawing.figure.panels.push_back(std::move(panel));
    drawing.figure.title = "Simulation approaches the theory of infinite width";
    drawing.figure.panel_height = 44;
    drawing.figure.caption = {fmt::format("L = {}, {}; {} samples per width; distance to operator-valued theory", depth,
                                          setting_words(request, default_noise), samples),
                              certificate_of(drawing)};
    return drawing;
}

}  // namespace spectra::study
