#include "study/figures/panels.hpp"
#include "study/figures/trained_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace spectra::study {

namespace {

constexpr std::size_t most_lines = 6;  ///< of connections in one panel

/// The means over sublayers of the median row maximum and of its 10 % and 90 % quantiles.
void add_row_maxima(plot::Panel& panel, const TrainedRun& run, std::size_t style) {
    const auto *low = run.along("row_maximum_10"), *median = run.along("row_maximum_median"),
               *high = run.along("row_maximum_90");
    if (low == nullptr || median == nullptr || high == nullptr) return;
    auto curve = line(run.label, style, run.step, median->means());
    plot::Series band = curve;
    band.label.clear();
    band.mark = plot::Mark::band;
    band.colour = tint(curve.colour);
    band.lower = low->means();
    band.y = high->means();
    panel.series.insert(panel.series.begin(), std::move(band));  // behind all lines
    panel.series.push_back(std::move(curve));
}

/// The larger of the largest row sum and the largest column sum of the product of all mixers.
void add_composite_sum(plot::Panel& panel, const TrainedRun& run, std::size_t style) {
    const auto *rows = run.along("composite_row_sum"), *columns = run.along("composite_column_sum");
    if (rows == nullptr || columns == nullptr) return;
    auto sums = rows->column(rows->places - 1);
    const auto other = columns->column(columns->places - 1);
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = log10_of(std::max(sums[k], other[k]));
    panel.series.push_back(line(run.label, style, run.step, std::move(sums)));
}

/// The cosine between streams after the mixer of each connection. The log of identity mixers has it after the sublayer only,
/// where it is that after the next connection's mixer.
struct Cosines {
    const Along* along = nullptr;
    std::size_t first = 1;  ///< connection of place 0
};

Cosines mixed_cosines(const TrainedRun& run) {
    if (const auto* mixed = run.along("stream_cosine_mixed")) return {mixed, 1};
    return {run.along("stream_cosine"), 2};
}

/// A line for each connection, or for some of many, from light to dark.
plot::Panel cosine_panel(const TrainedRun& run, const Cosines& cosines) {
    const Along& along = *cosines.along;
    const std::size_t places = cosines.first == 1 ? along.places : along.places - 1,
                      count = std::min(places, most_lines);
    plot::Panel panel;
    panel.heading = run.label;
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t place = count == 1 ? 0 : k * (places - 1) / (count - 1);
        auto curve =
            line(fmt::format("connection {}", place + cosines.first), 0, run.step, along.column(place));
        curve.width = 2.4;
        const double share = count == 1 ? 1 : static_cast<double>(k) / static_cast<double>(count - 1);
        curve.colour = plot::colour_of({1, "#ffffff", "#9ecae1", "#08306b"}, share);
        panel.series.push_back(std::move(curve));
    }
    return panel;
}

}  // namespace

Drawing draw_streams(const FigureRequest& request, Observer&) {
    if (request.files.empty())
        throw std::invalid_argument(
            "figure streams: no files given; use spectra figure streams FILE.h5…, with files written by spectra train");
    const auto runs = read_trained(request.files);
    plot::Panel maxima, diagonal, gradient, sums;
    std::vector<plot::Panel> cosines;
    for (std::size_t k = 0; k < runs.size(); ++k) {
        const auto& run = runs[k];
        add_row_maxima(maxima, run, k);
        if (const auto* share = run.along("diagonal_share"))
            diagonal.series.push_back(line(run.label, k, run.step, share->means()));
        if (!run.gradient_norm.empty() && run.step.size() > 1)
            gradient.series.push_back(line(run.label, k, run.step, log10_of(run.gradient_norm)));
        add_composite_sum(sums, run, k);
        if (const auto found = mixed_cosines(run);
            found.along != nullptr && found.along->places >= found.first)
            cosines.push_back(cosine_panel(run, found));
    }
    if (maxima.series.empty() && cosines.empty())
        throw std::invalid_argument(fmt::format(
            "{}: its log has no mixers of streams; use runs of hc, mhc-lite, shc, jpmhc or of a mixer family",
            request.files.front()));
    Drawing drawing;
    add_framed(drawing, std::move(maxima), "step", "largest entry of a row", plot::Scale::linear);
    add_framed(drawing, std::move(diagonal), "step", "share, maxima on diagonal", plot::Scale::linear);
    add_framed(drawing, std::move(gradient), "step", "gradient norm, mean", plot::Scale::logarithmic);
    add_framed(drawing, std::move(sums), "step", "largest sum", plot::Scale::logarithmic);
    const std::size_t before = drawing.figure.panels.size();
    for (auto& panel : cosines)
        add_framed(drawing, std::move(panel), "step", "cosine between streams", plot::Scale::linear);
    double least = 1, most = -1;
    for (std::size_t k = before; k < drawing.figure.panels.size(); ++k) {
        least = std::min(least, drawing.figure.panels[k].y.min);
        most = std::max(most, drawing.figure.panels[k].y.max);
    }
    for (std::size_t k = before; k < drawing.figure.panels.size(); ++k) {  // to be compared
        drawing.figure.panels[k].y.min = least;
        drawing.figure.panels[k].y.max = most;
    }
    for (const auto& run : runs) {
        const auto number = [&](const char* what, const char* name) {
            if (const auto* along = run.along(name))
                drawing.numbers.emplace_back(fmt::format("{}: {}", run.label, what), along->means().back());
        };
        number("median row maximum", "row_maximum_median");
        number("share, maxima on diagonal", "diagonal_share");
        number("cosine between streams after mixing", "stream_cosine_mixed");
    }
    drawing.figure.title = "Mixers and streams during training";
    drawing.figure.columns = 2;
    drawing.figure.caption = {fmt::format(
        "{} run{}; measured, no theory; rows of mixers: median and 10–90 % of their largest entries, means over sublayers; "
        "sums of rows and columns of the product of all mixers; cosine after the mixer, mean over tokens and pairs of streams",
        runs.size(), runs.size() > 1 ? "s" : "")};
    return drawing;
}

}  // namespace spectra::study
