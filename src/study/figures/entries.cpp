#include "study/figures/mixer_stacks.hpp"
#include "study/figures/panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace spectra::study {

namespace {

constexpr double bin = 0.05;

constexpr double farthest = 1000;  ///< entries beyond it count as this

/// The shares of the numbers in bins about multiples of `bin`, so that 0 and 1 are in the middle of theirs: as the corners of
/// a staircase, in log10, interrupted where bins are empty.
void add_histogram(plot::Panel& panel, const std::string& label, const std::vector<double>& numbers) {
    std::map<long, int> counts;
    for (const double value : numbers) ++counts[std::lround(std::clamp(value, -farthest, farthest) / bin)];
    std::vector<double> x, y;
    long last = counts.begin()->first - 1;
    for (const auto& [place, count] : counts) {
        const double middle = bin * static_cast<double>(place);
        const double share = log10_of(count / static_cast<double>(numbers.size()));
        if (place > last + 1) {
            x.push_back(middle - bin);
            y.push_back(std::numeric_limits<double>::quiet_NaN());
        }
        x.insert(x.end(), {middle - bin / 2, middle + bin / 2});
        y.insert(y.end(), {share, share});
        last = place;
    }
    panel.series.push_back(line(label, panel.series.size(), std::move(x), std::move(y)));
}

}  // namespace

Drawing draw_entries(const FigureRequest& request, Observer&) {
    const auto stacks = mixer_stacks(request, {"bistochastic", "permutation", "spectral-sphere"});
    Drawing drawing;
    plot::Panel panel;
    for (const auto& stack : stacks) {
        std::vector<double> entries;
        for (const auto& a : stack.all()) entries.insert(entries.end(), a.data(), a.data() + a.size());
        const auto share = [&](const char* what, const auto& holds) {
            const auto count = std::count_if(entries.begin(), entries.end(), holds);
            drawing.numbers.emplace_back(fmt::format("{}: share {}", stack.label, what),
                                         static_cast<double>(count) / static_cast<double>(entries.size()));
        };
        // The definitions of the training log (train/diagnostics.hpp).
        share("below −0.01", [](double a) { return a < -0.01; });
        share("> 0.05 from 0 and 1", [](double a) { return std::min(std::abs(a), std::abs(a - 1)) > 0.05; });
        add_histogram(panel, stack.label, entries);
    }
    frame_x(panel, "entry of a mixer", plot::Scale::linear);
    frame_y(panel, "share of the entries", plot::Scale::logarithmic);
    drawing.figure.panels.push_back(std::move(panel));
    drawing.figure.title = "Entries of the mixers";
    drawing.figure.panel_height = 48;
    drawing.figure.caption = {
        fmt::format("All mixers together, {}; bins of width {:g} about 0, ±{:g}, ±{:g} …; no line: no entry",
                    origin(request, stacks), bin, bin, 2 * bin)};
    return drawing;
}

}  // namespace spectra::study
