#include "report/panel_height.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace spectra::report {

double mean_height(const plot::Series& series, double from, double to) {
    double area = 0;
    const auto overlap = [&](double a, double b) {
        return std::max(0.0, std::min(b, to) - std::max(a, from));
    };
    for (std::size_t k = 0; k + 1 < series.x.size(); ++k) {
        const double a = series.x[k], b = series.x[k + 1];
        const double shared = overlap(a, b);
        if (!(shared > 0)) continue;
        if (series.mark == plot::Mark::filled_steps) {
            area += shared * series.y[k];
            continue;
        }
        const double left = series.y[k], right = series.y[k + 1];
        if (!std::isfinite(left) || !std::isfinite(right)) continue;
        const double middle = 0.5 * (std::max(a, from) + std::min(b, to));
        area += shared * (left + (right - left) * (middle - a) / (b - a));
    }
    return area / (to - from);
}

namespace {

std::vector<Peak> peaks_of(const plot::Series& line, const plot::Axis& axis) {
    constexpr int columns = 200;         // three per millimetre
    constexpr double least_mass = 0.05;  // inverse-square-root edges of a density have less
    const double min = axis.min, step = (axis.max - min) / columns;
    std::vector<double> mean(columns), highest(columns, 0.0);
    for (std::size_t k = 0; k < line.x.size(); ++k) {
        const double column = (line.x[k] - min) / step;
        if (!(column >= 0 && column < columns) || !std::isfinite(line.y[k])) continue;
        auto& height = highest[static_cast<std::size_t>(column)];
        height = std::max(height, line.y[k]);
    }
    double rest = 0;
    for (std::size_t c = 0; c < columns; ++c) {
        const double from = min + step * static_cast<double>(c);
        mean[c] = mean_height(line, from, from + step);
        if (highest[c] <= 3 * mean[c]) rest = std::max(rest, mean[c]);
    }
    std::vector<Peak> peaks;
    for (std::size_t c = 0; c < columns; ++c) {
        if (!(rest > 0 && highest[c] > 3 * mean[c] && highest[c] > 8 * rest)) continue;
        const double from = min + step * static_cast<double>(c);
        if (peaks.empty() || from > peaks.back().to + 0.5 * step) peaks.push_back({from, from, 0, 0});
        peaks.back().to = from + step;
        peaks.back().mass += mean[c] * step * (axis.scale == plot::Scale::linear ? 1 : std::numbers::ln10);
        peaks.back().height = std::max(peaks.back().height, highest[c]);
    }
    std::erase_if(peaks, [](const Peak& peak) { return peak.mass < least_mass; });
    return peaks;
}

/// Largest height of a series within [min, max], without bins that hold an atom and without peaks.
double top(const plot::Series& series, double min, double max, const std::vector<double>& atoms,
           const std::vector<Peak>& peaks) {
    const bool bars = series.mark == plot::Mark::filled_steps;
    double height = 0;
    for (std::size_t k = 0; k < series.y.size(); ++k) {
        const double from = series.x[k], to = bars ? series.x[k + 1] : from, place = 0.5 * (from + to);
        if (!(place >= min && place <= max && series.y[k] > height)) continue;
        const double slack = 0.01 * (to - from);  // an atom on a bin's edge
        const bool holds_atom = bars && std::any_of(atoms.begin(), atoms.end(), [&](double atom) {
                                    return from - slack <= atom && atom <= to + slack;
                                });
        const bool in_peak = std::any_of(peaks.begin(), peaks.end(), [&](const Peak& peak) {
            const double around = peak.to - peak.from;
            return from <= peak.to + around && to >= peak.from - around;
        });
        if (!holds_atom && !in_peak) height = series.y[k];
    }
    return height;
}

/// One of the approximations.
bool is_doubtful(const plot::Series& series) {
    return series.mark == plot::Mark::line && series.dash != plot::Dash::solid;
}

/// The height of a panel: that of the data, with approximations limited to `stretch` times the rest.
double panel_height(const plot::Panel& panel, double min, double max, const std::vector<double>& atoms,
                    double stretch, const std::vector<Peak>& peaks = {}) {
    double trusted = 0, all = 0;
    for (const auto& series : panel.series) {
        const double height = top(series, min, max, atoms, peaks);
        all = std::max(all, height);
        if (!is_doubtful(series)) trusted = std::max(trusted, height);
    }
    return trusted > 0 ? std::min(all, stretch * trusted) : all;
}

constexpr double away_from_zero = 0.08;

/// Peaks of the reliable lines; a density that rises next to zero has collapsed (Height).
std::vector<Peak> peaks_of(const plot::Panel& panel) {
    const bool from_zero = panel.x.scale == plot::Scale::linear && panel.x.min == 0;
    const double least = from_zero ? away_from_zero * panel.x.max : panel.x.min;
    std::vector<Peak> peaks;
    for (const auto& series : panel.series) {
        if (series.mark != plot::Mark::line || is_doubtful(series)) continue;
        for (const auto& peak : peaks_of(series, panel.x))
            if (peak.from >= least) peaks.push_back(peak);
    }
    return peaks;
}

}  // namespace

Height height_of(const plot::Panel& panel, const std::vector<double>& atoms, double stretch, bool cut) {
    const auto above = [&](double least, const std::vector<Peak>& peaks) {
        return panel_height(panel, least, panel.x.max, atoms, stretch, peaks);
    };
    Height height;
    if (cut) height.peaks = peaks_of(panel);
    if (!(above(panel.x.min, height.peaks) > 0)) height.peaks.clear();
    height.full = above(panel.x.min, height.peaks);
    if (panel.x.scale == plot::Scale::linear && panel.x.min == 0)
        height.away = above(away_from_zero * panel.x.max, height.peaks);
    if (height.away == 0 && panel.x.scale == plot::Scale::linear && panel.x.min == 0 &&
        height.full > 50 / panel.x.max)
        height.away = 4 / panel.x.max;
    std::erase_if(height.peaks, [&](const Peak& peak) { return peak.height <= height.shown(); });
    return height;
}

}  // namespace spectra::report
