#include "study/build_network.hpp"
#include "dyson/law/theory.hpp"
#include "study/figures/panels.hpp"
#include "study/observer.hpp"
#include "montecarlo/run/simulate.hpp"
#include "report/density_figure.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace spectra::study {

namespace {

report::Report solved(const FigureRequest& request, const std::string& mixer, int depth, double noise,
                      Observer& observer) {
    Request described = network_request(request, mixer, noise);
    described.depth = depth;
    described.width = request.width.value_or(50);
    report::Report report;
    report.network = describe_network(described).network;
    observer.stage(fmt::format("{}, L = {}", mixer, depth));
    dyson::Options options;
    options.threads = request.threads;
    for (const auto method : {dyson::Method::operator_valued, dyson::Method::printed})
        report.theories.push_back(dyson::solve(report.network, method, options));
    montecarlo::Options simulation;
    simulation.samples = request.samples.value_or(100);
    simulation.seed = request.seed;
    simulation.threads = request.threads;
    simulation.stop = &observer.stop();
    report.simulation = montecarlo::simulate(report.network, simulation);
    throw_if_stopped(observer);
    report::compare(report);
    return report;
}

}  // namespace

Drawing draw_printed(const FigureRequest& request, Observer& observer) {
    constexpr double noise = 0.5;
    const auto mixers = mixers_or(request, {"identity", "cayley-hybrid"});
    const auto depths = depths_or(request, {1, 2});
    std::vector<report::Report> reports;
    for (const auto& mixer : mixers)
        for (const int depth : depths) reports.push_back(solved(request, mixer, depth, noise, observer));

    Drawing drawing;
    std::size_t left_out = 0;  // of the printed equation, whose solver fails at some points
    report::DensityGrid grid;
    grid.title = "The source paper's equation (7) as printed, and corrected";
    grid.rows = mixers;
    for (const int depth : depths) grid.columns.push_back(fmt::format("L = {}", depth));
    for (auto& report : reports) {
        left_out += std::erase_if(report.theories, [](const dyson::Theory& theory) {
            return theory.method == dyson::Method::printed && theory.summary.uncertified > 0;
        });
        grid.cells.push_back(&report);
        const std::string where = fmt::format("{}_L{}_", report.network.mixer_name, report.network.depth());
        for (const auto& theory : report.theories) {
            if (theory.method == dyson::Method::operator_valued) {
                drawing.points += theory.summary.points;
                drawing.uncertified += theory.summary.certified ? 0 : std::max(1, theory.summary.uncertified);
            }
            drawing.numbers.emplace_back(where + "mean_square_" + dyson::name(theory.method),
                                         theory.summary.mean_square);
            drawing.numbers.emplace_back(where + "mass_" + dyson::name(theory.method), theory.summary.mass);
        }
        drawing.numbers.emplace_back(where + "mean_square_simulation", report.simulation->mean_square);
    }
    const auto& first = reports.front();
    grid.caption = {fmt::format("{}, p = {}, {} samples", setting_words(request, noise), first.network.width,
                                first.simulation->samples),
                    "operator-valued (corrected): " + certificate_of(drawing)};
    if (left_out > 0)
        grid.caption.push_back(
            fmt::format("as printed: left out of {} of {} panels, where its points cannot be certified",
                        left_out, reports.size()));
    const auto count = static_cast<double>(reports.size());
    for (const auto source : {report::Source::ov, report::Source::printed}) {
        double distance = 0;
        for (const auto& report : reports)
            if (const auto* agreement =
                    report::find(report.agreement, report::SourcePair{source, report::Source::montecarlo}))
                distance += agreement->wasserstein1 / count;
        drawing.numbers.emplace_back("mean_wasserstein1_" + report::name(source), distance);
    }
    drawing.figure = report::density_grid(grid, plot::Scale::linear);
    drawing.figure.panel_height = 26;
    for (std::size_t k = 0; k < reports.size(); ++k) {
        auto& heading = drawing.figure.panels[k].heading;
        heading.clear();
        for (const auto& theory : reports[k].theories)
            if (theory.method == dyson::Method::printed)
                heading = fmt::format("mass as printed {:.2f}", theory.summary.mass);
    }
    return drawing;
}

}  // namespace spectra::study
