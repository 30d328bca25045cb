#include "study/figures/panels.hpp"
#include "study/figures/trained_runs.hpp"
#include "report/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace spectra::study {

namespace {

constexpr std::size_t most_sublayers = 24;  ///< of sublayers in one panel

/// The mean over the places of the network; behind it their range as a band, and each as a thin line.
void add_evolution(plot::Panel& panel, const TrainedRun& run, const Along& along, std::size_t style,
                   bool with_range) {
    std::vector<double> low, high;
    for (std::size_t row = 0; row < along.rows; ++row) {
        const auto first = along.values.begin() + static_cast<std::ptrdiff_t>(row * along.places);
        const auto [least, most] =
            std::minmax_element(first, first + static_cast<std::ptrdiff_t>(along.places));
        low.push_back(*least);
        high.push_back(*most);
    }
    if (with_range && along.places > 1) {
        plot::Series band;
        band.label = "range over sublayers";
        band.mark = plot::Mark::band;
        band.colour = "#dde5ec";
        band.x = run.step;
        band.lower = low;
        band.y = high;
        panel.series.push_back(std::move(band));
        for (std::size_t place = 0; place < along.places && along.places <= most_sublayers; ++place) {
            auto one = line(place == 0 ? "each sublayer" : "", 0, run.step, along.column(place));
            one.colour = "#8fa3b5";
            one.width = 1.2;
            panel.series.push_back(std::move(one));
        }
    }
    add_dotted(panel, line(run.label, style, run.step, along.means()));
}

/// "copying the input", without what follows a comma.
std::string predictor(const std::string& name) {
    const std::string words = report::baseline_words(name);
    return words.substr(0, words.find(','));
}

/// The losses of trivial predictors, each once, as thin lines with their names.
void add_baselines(plot::Panel& panel, const std::vector<TrainedRun>& runs) {
    double first = INFINITY, last = -INFINITY;
    for (const auto& run : runs)
        first = std::min(first, run.step.front()), last = std::max(last, run.step.back());
    std::vector<std::pair<std::string, double>> drawn;
    for (const auto& run : runs) {
        for (const auto& baseline : run.baselines) {
            if (std::find(drawn.begin(), drawn.end(), baseline) != drawn.end()) continue;
            drawn.push_back(baseline);
            const double height = std::log10(baseline.second);
            plot::Series level = line("", 0, {first, last}, {height, height});
            level.colour = "#777777";
            level.dash = baseline.first == "noise_floor" ? plot::Dash::dotted : plot::Dash::dashed;
            level.width = 1.5;
            panel.series.push_back(std::move(level));
            panel.annotations.push_back({last, height, predictor(baseline.first), true});
        }
    }
}

/// Raises the names of lines above them, now that the panel's height is known.
void raise_names(plot::Panel& panel) {
    for (auto& note : panel.annotations) note.y += 0.045 * (panel.y.max - panel.y.min);
}

/// "gyroscope, edelta, seed 42: loss 0.0789 → 0.00786 in 200 steps", and the best trivial predictor.
std::string title_of(const std::vector<TrainedRun>& runs) {
    const auto best = std::min_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
        return a.loss.back() < b.loss.back();
    });
    std::string title = fmt::format("{}{}: validation loss {:.3g} → {:.3g} in {:.0f} steps",
                                    runs.size() > 1 ? fmt::format("Best of {} runs, ", runs.size()) : "",
                                    best->label, best->loss.front(), best->loss.back(), best->step.back());
    const std::pair<std::string, double>* trivial = nullptr;
    for (const auto& baseline : best->baselines)
        if (baseline.first != "noise_floor" && (trivial == nullptr || baseline.second < trivial->second))
            trivial = &baseline;
    if (trivial != nullptr)
        title += fmt::format("; best trivial predictor ({}): {:.3g}", predictor(trivial->first), trivial->second);
    return title;
}

}  // namespace

Drawing draw_training(const FigureRequest& request, Observer&) {
    if (request.files.empty())
        throw std::invalid_argument(
            "figure training: no files given; use spectra figure training FILE.h5…, with files written by "
            "spectra train");
    const auto runs = read_trained(request.files);
    plot::Panel loss, gate, beta, cosine, gradient, rank, profile, norm;
    for (std::size_t k = 0; k < runs.size(); ++k) {
        const auto& run = runs[k];
        const auto at_the_end = [&](plot::Panel& panel, const char* name) {
            if (const auto* along = run.along(name))
                add_dotted(panel, along_places(run, *along, along->rows - 1, k));
        };
        add_dotted(loss, line(run.label, k, run.step, log10_of(run.loss)));
        if (const auto* along = run.along("gate")) add_evolution(gate, run, *along, k, runs.size() == 1);
        if (const auto* along = run.along("beta")) add_evolution(beta, run, *along, k, runs.size() == 1);
        if (const auto* along = run.along("cosine")) add_evolution(cosine, run, *along, k, false);
        if (!run.gradient_norm.empty() && run.step.size() > 1)
            add_dotted(gradient, line(run.label, k, run.step, log10_of(run.gradient_norm)));
        at_the_end(rank, "effective_rank");
        at_the_end(profile, "sequence_rank");
        if (const auto* along = run.along("position_norm"))
            norm.series.push_back(along_places(run, *along, along->rows - 1, k));
    }
    add_baselines(loss, runs);
    const bool tokens = std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.tokens; });
    Drawing drawing;
    add_framed(drawing, std::move(loss), "step",
               "validation loss",
               plot::Scale::logarithmic);
    add_framed(drawing, std::move(gate), "step", "gate γ, mean", plot::Scale::linear);
    add_framed(drawing, std::move(beta), "step", "β, mean", plot::Scale::linear);
    add_framed(drawing, std::move(cosine), "step", "cosine to the target", plot::Scale::linear);
    add_framed(drawing, std::move(gradient), "step", "gradient norm, mean", plot::Scale::logarithmic);
    add_framed(drawing, std::move(rank), "sublayer", "effective rank at the end", plot::Scale::linear);
    for (auto& series : profile.series)  // the first is of what enters block 1
        for (auto& place : series.x) --place;
    add_framed(drawing, std::move(profile), "after block", "rank of a sequence at the end",
               plot::Scale::linear);
    add_framed(drawing, std::move(norm), "position", "norm of the prediction at the end",
               plot::Scale::linear);
    for (const auto& run : runs)
        drawing.numbers.emplace_back(run.label + ": final validation loss", run.loss.back());
    raise_names(drawing.figure.panels.front());
    drawing.figure.title = title_of(runs);
    drawing.figure.columns = drawing.figure.panels.size() > 2 ? 2 : drawing.figure.panels.size();
    drawing.figure.caption = {
        fmt::format("{} run{}; measured, no theory; loss: {}; means over sublayers; grey lines: losses of trivial "
                    "predictors",
                    runs.size(), runs.size() > 1 ? "s" : "",
                    tokens ? "cross-entropy in nats" : "mean square error")};
    return drawing;
}

}  // namespace spectra::study
