#include "study/figures/trained_runs.hpp"

#include "study/figures/panels.hpp"
#include "h5/file.hpp"
#include "report/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace spectra::study {

namespace {

/// Every diagnostic with a value per row of the log and place of the network.
std::map<std::string, Along> read_diagnostics(const h5::File& file, std::size_t rows) {
    std::map<std::string, Along> all;
    const std::string group = "training/diagnostics";
    if (!file.is_group(group)) return all;
    for (const auto& name : file.children(group)) {
        const std::string path = group + "/" + name;
        if (!file.is_dataset(path)) continue;
        h5::Shape shape = file.shape(path);
        if (shape.size() != 2 || shape[0] != rows || shape[1] == 0) continue;
        all[name] = {rows, shape[1], file.read_doubles(path, shape)};
    }
    return all;
}

TrainedRun read_run(const std::string& name) {
    const auto file = h5::File::open_read(name);
    if (!file.is_dataset("training/step") || !file.is_dataset("training/val_loss"))
        throw std::invalid_argument(
            fmt::format("{}: contains no training; use a STEM.h5 written by spectra train", name));
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
    run.task = words("task");
    run.architecture = words("architecture");
    run.label =
        fmt::format("{}, {}{}", run.task, run.architecture, seed ? fmt::format(", seed {}", *seed) : "");
    run.tokens = file.double_attribute("training", "baseline_uniform").has_value();
    for (const auto& predictor : report::baseline_names())
        if (const auto loss = file.double_attribute("training", "baseline_" + predictor))
            if (*loss > 0 && predictor != "plain_negation") run.baselines.emplace_back(predictor, *loss);
    run.diagnostics = read_diagnostics(file, run.step.size());
    if (file.is_dataset("training/gradient_norm")) {
        run.gradient_norm = file.read_doubles("training/gradient_norm", shape);
        if (run.gradient_norm.size() != run.step.size()) run.gradient_norm.clear();
    }
    return run;
}

}  // namespace

std::vector<double> Along::column(std::size_t place) const {
    std::vector<double> out;
    for (std::size_t row = 0; row < rows; ++row) out.push_back(at(row, place));
    return out;
}

std::vector<double> Along::means() const {
    std::vector<double> out(rows, 0.0);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t place = 0; place < places; ++place)
            out[row] += at(row, place) / static_cast<double>(places);
    return out;
}

std::vector<TrainedRun> read_trained(const std::vector<std::string>& files) {
    std::vector<TrainedRun> runs;
    for (const auto& file : files) {
        runs.push_back(read_run(file));
        const auto same = [&](const TrainedRun& run) { return run.label == runs.back().label; };
        if (std::count_if(runs.begin(), runs.end(), same) > 1)
            runs.back().label += " (" + std::filesystem::path(file).stem().string() + ")";
    }
    return runs;
}

plot::Series along_places(const TrainedRun& run, const Along& along, std::size_t row, std::size_t style) {
    std::vector<double> places, values;
    for (std::size_t place = 0; place < along.places; ++place) {
        places.push_back(static_cast<double>(place + 1));
        values.push_back(along.at(row, place));
    }
    return line(run.label, style, std::move(places), std::move(values));
}

void add_framed(Drawing& drawing, plot::Panel panel, const std::string& x, const std::string& y,
                plot::Scale scale) {
    if (panel.series.empty()) return;
    frame_x(panel, x, plot::Scale::whole);
    frame_y(panel, y, scale);
    drawing.figure.panels.push_back(std::move(panel));
}

}  // namespace spectra::study
