#include "study/figures/panels.hpp"
#include "study/figures/trained_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace spectra::study {

namespace {

/// The mean over the places of the network, and their range as a band behind the line.
void add_evolution(plot::Panel& panel, const TrainedRun& run, const Along& along, std::size_t style,
                   bool with_range) {
    std::vector<double> mean, low, high;
    for (std::size_t row = 0; row < along.rows; ++row) {
        double sum = 0, least = INFINITY, most = -INFINITY;
        for (std::size_t place = 0; place < along.places; ++place) {
            const double value = along.at(row, place);
            sum += value / static_cast<double>(along.places);
            least = std::min(least, value);
            most = std::max(most, value);
        }
        mean.push_back(sum);
        low.push_back(least);
        high.push_back(most);
    }
    if (with_range) {
        plot::Series band;
        band.label = "range over sublayers";
        band.mark = plot::Mark::band;
        band.colour = "#dde5ec";
        band.x = run.step;
        band.lower = low;
        band.y = high;
        panel.series.push_back(std::move(band));
    }
    panel.series.push_back(line(run.label, style, run.step, mean));
}

}  // namespace

Drawing draw_training(const FigureRequest& request, Observer&) {
    if (request.files.empty())
        throw std::invalid_argument(
            "figure training: no files given; use spectra figure training FILE.h5…, with files written by "
            "spectra train");
    const auto runs = read_trained(request.files);
    plot::Panel loss, gate, beta, rank;
    for (std::size_t k = 0; k < runs.size(); ++k) {
        const auto& run = runs[k];
        loss.series.push_back(line(run.label, k, run.step, log10_of(run.loss)));
        if (run.gate) add_evolution(gate, run, *run.gate, k, runs.size() == 1);
        if (run.beta) add_evolution(beta, run, *run.beta, k, runs.size() == 1);
        if (run.effective_rank)
            rank.series.push_back(along_places(run, *run.effective_rank, run.effective_rank->rows - 1, k));
    }
    const bool tokens = std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.tokens; });
    Drawing drawing;
    add_framed(drawing, std::move(loss), "step",
               tokens ? "validation cross-entropy (nats)" : "validation mean square error",
               plot::Scale::logarithmic);
    add_framed(drawing, std::move(gate), "step", "gate γ, mean over sublayers", plot::Scale::linear);
    add_framed(drawing, std::move(beta), "step", "β, mean over sublayers", plot::Scale::linear);
    add_framed(drawing, std::move(rank), "sublayer", "effective rank at the end", plot::Scale::linear);
    for (const auto& run : runs)
        drawing.numbers.emplace_back(run.label + ": final validation loss", run.loss.back());
    drawing.figure.title = "Training";
    drawing.figure.columns = drawing.figure.panels.size() > 2 ? 2 : drawing.figure.panels.size();
    drawing.figure.caption = {
        fmt::format("{} run{}; measured, no theory", runs.size(), runs.size() > 1 ? "s" : "")};
    return drawing;
}

}  // namespace spectra::study
