#include "figures/pieces.hpp"
#include "h5/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>

namespace spectra::cli {

namespace {

/// A diagnostic at every row of the log and every place of the network.
struct Along {
    std::size_t rows = 0, places = 0;
    std::vector<double> values;

    double at(std::size_t row, std::size_t place) const { return values[row * places + place]; }
};

struct TrainedRun {
    std::string label;
    std::vector<double> step, loss;
    std::optional<Along> gate, beta, effective_rank;
    bool tokens = false;
};

std::optional<Along> read_along(const h5::File& file, const std::string& name, std::size_t rows) {
    const std::string path = "training/diagnostics/" + name;
    if (!file.is_dataset(path)) return std::nullopt;
    h5::Shape shape;
    Along along;
    along.values = file.read_doubles(path, shape);
    if (shape.size() != 2 || shape[0] != rows || shape[1] == 0) return std::nullopt;
    along.rows = shape[0];
    along.places = shape[1];
    return along;
}

TrainedRun read_run(const std::string& name) {
    const auto file = h5::File::open_read(name);
    if (!file.is_dataset("training/step") || !file.is_dataset("training/val_loss"))
        throw std::invalid_argument(
            fmt::format("{}: no training in it; accepted: STEM.h5 of spectra train", name));
    TrainedRun run;
    h5::Shape shape;
    run.step = file.read_doubles("training/step", shape);
    run.loss = file.read_doubles("training/val_loss", shape);
    if (run.step.empty() || run.loss.size() != run.step.size())
        throw std::invalid_argument(fmt::format("{}: training: steps and losses do not match", name));
    const auto words = [&](const char* attribute) {
        return file.string_attribute("training", attribute).value_or("");
    };
    const auto seed = file.unsigned_attribute("", "seed");
    run.label = fmt::format("{}, {}{}", words("task"), words("architecture"),
                            seed ? fmt::format(", seed {}", *seed) : "");
    run.tokens = file.double_attribute("training", "baseline_uniform").has_value();
    run.gate = read_along(file, "gate", run.step.size());
    run.beta = read_along(file, "beta", run.step.size());
    run.effective_rank = read_along(file, "effective_rank", run.step.size());
    return run;
}

/// The mean over the places of the network, and their range as a band behind the line.
void add_evolution(report::Panel& panel, const TrainedRun& run, const Along& along, std::size_t style,
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
        report::Series band;
        band.label = "range over sublayers";
        band.mark = report::Mark::band;
        band.colour = "#dde5ec";
        band.x = run.step;
        band.lower = low;
        band.y = high;
        panel.series.push_back(std::move(band));
    }
    panel.series.push_back(line(run.label, style, run.step, mean));
}

void add_panel(Drawing& drawing, report::Panel panel, const std::string& x, const std::string& y,
               report::Scale scale) {
    if (panel.series.empty()) return;
    frame_x(panel, x, report::Scale::linear);
    frame_y(panel, y, scale);
    drawing.figure.panels.push_back(std::move(panel));
}

}  // namespace

Drawing draw_training(const FigureRequest& request, Progress&) {
    if (request.files.empty())
        throw std::invalid_argument(
            "figure training: which files? accepted: spectra figure training FILE.h5…, as spectra train "
            "wrote them");
    std::vector<TrainedRun> runs;
    for (const auto& file : request.files) {
        runs.push_back(read_run(file));
        const auto same = [&](const TrainedRun& run) { return run.label == runs.back().label; };
        if (std::count_if(runs.begin(), runs.end(), same) > 1)
            runs.back().label += " (" + std::filesystem::path(file).stem().string() + ")";
    }
    report::Panel loss, gate, beta, rank;
    for (std::size_t k = 0; k < runs.size(); ++k) {
        const auto& run = runs[k];
        loss.series.push_back(line(run.label, k, run.step, log10_of(run.loss)));
        if (run.gate) add_evolution(gate, run, *run.gate, k, runs.size() == 1);
        if (run.beta) add_evolution(beta, run, *run.beta, k, runs.size() == 1);
        if (run.effective_rank) {
            std::vector<double> places, values;
            for (std::size_t place = 0; place < run.effective_rank->places; ++place) {
                places.push_back(static_cast<double>(place + 1));
                values.push_back(run.effective_rank->at(run.effective_rank->rows - 1, place));
            }
            rank.series.push_back(line(run.label, k, std::move(places), std::move(values)));
        }
    }
    const bool tokens = std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.tokens; });
    Drawing drawing;
    add_panel(drawing, std::move(loss), "step",
              tokens ? "validation cross-entropy (nats)" : "validation mean square error",
              report::Scale::logarithmic);
    add_panel(drawing, std::move(gate), "step", "gate γ, mean over sublayers", report::Scale::linear);
    add_panel(drawing, std::move(beta), "step", "β, mean over sublayers", report::Scale::linear);
    add_panel(drawing, std::move(rank), "sublayer", "effective rank of states at the end (share)",
              report::Scale::linear);
    for (const auto& run : runs)
        drawing.numbers.emplace_back(run.label + ": final validation loss", run.loss.back());
    drawing.figure.title = "Training";
    drawing.figure.columns = drawing.figure.panels.size() > 2 ? 2 : drawing.figure.panels.size();
    drawing.figure.caption = {
        fmt::format("{} run{}; measured, no theory", runs.size(), runs.size() > 1 ? "s" : "")};
    return drawing;
}

}  // namespace spectra::cli
