#include "report/density_notes.hpp"

#include "base/special_values.hpp"
#include "base/text.hpp"
#include "report/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spectra::report {

namespace {

/// Shares that are worth a note.
constexpr double least_hidden = 0.05, least_band = 0.005;

double log_place(const plot::Axis& axis, double place) {
    if (axis.scale == plot::Scale::logarithmic) return place * std::numbers::ln10;
    return place > 0 ? std::log(place) : -infinity;
}

/// A number that is not below 10^x, of two digits; a power of ten where it is small.
std::string rounded_up(double x) {
    if (x < -4) return power_of_ten(std::ceil(x - 1e-9));
    const double unit = std::floor(x) - 1;
    return power_of_ten(std::log10(std::ceil(std::pow(10.0, x - unit) - 1e-6)) + unit);
}

/// The largest height of the solid lines between two places.
double height_between(const plot::Panel& panel, double from, double to) {
    double height = 0;
    for (const auto& series : panel.series) {
        if (series.mark != plot::Mark::line || series.dash != plot::Dash::solid) continue;
        for (std::size_t k = 0; k < series.x.size(); ++k)
            if (series.x[k] >= from && series.x[k] <= to && std::isfinite(series.y[k]))
                height = std::max(height, series.y[k]);
    }
    return height;
}

/// The largest height of anything between two places.
double highest_between(const plot::Panel& panel, double from, double to) {
    double height = 0;
    for (const auto& series : panel.series)
        for (std::size_t k = 0; k < series.y.size(); ++k)
            if (series.x[k] >= from && series.x[k] <= to && std::isfinite(series.y[k]))
                height = std::max(height, series.y[k]);
    return height;
}

/// Stems of one method that look like one.
struct Cluster {
    Stem stem;  ///< with the mass of all
    std::size_t count;
};

std::vector<Cluster> clusters_of(const plot::Panel& panel, const std::vector<Stem>& stems) {
    const double near = 0.02 * (panel.x.max - panel.x.min);
    std::vector<Cluster> clusters;
    for (const auto& stem : stems) {
        const auto close = [&](const Cluster& c) {
            return c.stem.method == stem.method && std::abs(c.stem.place - stem.place) < near;
        };
        const auto found = std::find_if(clusters.begin(), clusters.end(), close);
        if (found == clusters.end()) {
            clusters.push_back({stem, 1});
        } else {
            ++found->count;
            found->stem.mass += stem.mass;
        }
    }
    return clusters;
}

std::string words(const Cluster& cluster) {
    return (cluster.count > 1 ? fmt::format("{} atoms, ", cluster.count) : "") +
           fmt::format("mass {:.3g}", cluster.stem.mass) +
           (cluster.stem.method == "ov" ? "" : " (" + cluster.stem.method + ")");
}

/// Whether there are several and all have the same mass.
bool alike(const std::vector<Cluster>& clusters) {
    return clusters.size() > 2 && std::all_of(clusters.begin(), clusters.end(), [&](const Cluster& c) {
               return c.count == 1 && c.stem.method == clusters.front().stem.method &&
                      std::abs(c.stem.mass - clusters.front().stem.mass) < 1e-6;
           });
}

/// A stem and its disc.
void add_stem(plot::Panel& panel, const Stem& stem, bool named) {
    plot::Series line;
    line.label = named ? stem.label : "";
    line.mark = plot::Mark::impulses;
    line.width = 3;
    line.colour = stem.colour;
    line.x = {stem.place};
    line.y = {stem.mass};
    line.on_right = true;
    plot::Series disc = line;
    disc.label.clear();
    disc.mark = plot::Mark::points;
    disc.width = 12;
    panel.series.push_back(std::move(line));
    panel.series.push_back(std::move(disc));
}

}  // namespace

void note_hidden(plot::Panel& panel, const Spectrum& law, bool cut) {
    const bool linear = panel.x.scale != plot::Scale::logarithmic;
    const double width = panel.x.max - panel.x.min;
    const double end = log_place(panel.x, linear ? panel.x.min + (cut ? 0.08 : 0.01) * width : panel.x.min);
    const double share = law.cdf(end);
    double atoms = 0;
    for (const auto& atom : law.density().atoms)
        if (atom.log_place <= end) atoms += atom.mass;
    const bool worth = share - atoms > least_hidden;
    if (!cut && !worth) return;
    const double last = share > 0 ? law.log_quantile(share - 1e-9) : -infinity;
    std::string text = "ρ(s) is cut near s = 0";
    if (worth && std::isfinite(last))
        text = fmt::format("{}{} of the singular values lie below {}", cut ? "cut: " : "", percent(share),
                           rounded_up(last / std::numbers::ln10));
    // Where the curves leave room: on the left, next to what it is about, or else on the right.
    const bool right = highest_between(panel, panel.x.min + 0.05 * width, panel.x.min + 0.6 * width) >
                       std::max(0.6 * panel.y.max,
                                highest_between(panel, panel.x.min + 0.45 * width, panel.x.max));
    const double room = 0.55;
    panel.annotations.push_back(
        {right ? panel.x.max : panel.x.min + 0.06 * width, 0.93 * panel.y.max, text, right, false, room});
}

void note_peaks(plot::Panel& panel, const Spectrum& law, const std::vector<Peak>& peaks) {
    const double room = panel.x.max - panel.x.min;
    for (const Peak& peak : peaks) {
        const double place = 0.5 * (peak.from + peak.to);
        const bool left = place > panel.x.min + 0.5 * room;
        // The law's own mass: straight lines between the points drawn overstate a narrow peak.
        const double from = log_place(panel.x, peak.from), to = log_place(panel.x, peak.to);
        double mass = law.cdf(to) - law.cdf(from, true);
        for (const auto& atom : law.density().atoms)
            if (atom.log_place >= from && atom.log_place <= to) mass -= atom.mass;
        panel.annotations.push_back({place + 0.012 * room * (left ? -1 : 1), 0.95 * panel.y.max,
                                     fmt::format("mass {:.2g}, cut", mass), left});
    }
}

void note_bands(plot::Panel& panel, const Spectrum& law, const std::vector<Peak>& peaks) {
    const auto& support = law.density().support;
    if (support.size() < 2 || support.size() > 6) return;
    const double line = 0.07 * panel.y.max;
    std::vector<plot::Annotation> notes;
    for (const auto& band : support) {
        const double mass = law.cdf(band.log_upper) - law.cdf(band.log_lower);
        const double from = std::max(band.log_lower / std::numbers::ln10, panel.x.min);
        const double to = std::min(band.log_upper / std::numbers::ln10, panel.x.max);
        if (mass < least_band || !(from <= to)) continue;
        const bool cut = std::any_of(peaks.begin(), peaks.end(),
                                     [&](const Peak& peak) { return peak.from <= to && peak.to >= from; });
        if (cut) continue;
        notes.push_back({0.5 * (from + to), std::min(height_between(panel, from, to), panel.y.max) + line,
                         fmt::format("{:.3g} %", 100 * mass), false, true});
    }
    if (notes.size() + peaks.size() < 2) return;
    panel.annotations.insert(panel.annotations.end(), notes.begin(), notes.end());
}

void add_stems(plot::Panel& panel, const std::vector<Stem>& stems) {
    std::vector<std::string> named;
    std::vector<Stem> shown;
    for (const auto& stem : stems) {
        if (stem.place == -infinity) {
            panel.annotations.push_back({panel.x.min + 0.02 * (panel.x.max - panel.x.min), panel.y.max,
                                         "atom at s = 0, " + words({stem, 1})});
        } else if (stem.place >= panel.x.min && stem.place <= panel.x.max) {
            shown.push_back(stem);
        }
    }
    if (shown.empty()) return;
    panel.right = {"mass of an atom", plot::Scale::linear, 0, 1.12};
    const auto clusters = clusters_of(panel, shown);
    for (const auto& [stem, count] : clusters) {
        const bool first = std::find(named.begin(), named.end(), stem.label) == named.end();
        if (first) named.push_back(stem.label);
        add_stem(panel, stem, first);
    }
    const auto height = [&](const Stem& stem) { return (stem.mass + 0.05) / panel.right.max * panel.y.max; };
    if (alike(clusters)) {
        const Stem& one = clusters.front().stem;
        panel.annotations.push_back({0.5 * (panel.x.min + panel.x.max), height(one) + 0.04 * panel.y.max,
                                     fmt::format("{} × {}", clusters.size(), words(clusters.front())),
                                     false, true});
        return;
    }
    for (const auto& cluster : clusters) {
        const double width = panel.x.max - panel.x.min, place = cluster.stem.place;
        const bool left = place > panel.x.min + 0.6 * width;
        panel.annotations.push_back(
            {place + (left ? -0.02 : 0.02) * width, height(cluster.stem), words(cluster), left});
    }
}

}  // namespace spectra::report
