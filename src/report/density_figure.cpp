#include "report/density_figure.hpp"

#include "report/panel_height.hpp"
#include "report/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace spectra::report {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double log_ten = std::numbers::ln10;

/// Density per unit ln s over x = ln s; NaN interrupts the line.
struct Outline {
    std::vector<double> x, density_log;

    void add(double place, double height) {
        x.push_back(place);
        density_log.push_back(height);
    }
};

Outline outline(const dyson::Theory& theory) {
    Outline line;
    if (theory.eta > 0) {
        line.x = theory.curve.log_s;
        line.density_log = theory.curve.density_log;
        return line;
    }
    const Density& density = theory.law.density();
    if (density.support.empty()) {
        line.x = density.log_s;
        line.density_log = density.density_log;
        return line;
    }
    for (const auto& band : density.support) {
        if (std::isfinite(band.log_lower)) line.add(band.log_lower, 0);
        const auto first = std::upper_bound(density.log_s.begin(), density.log_s.end(), band.log_lower);
        const auto last = std::lower_bound(first, density.log_s.end(), band.log_upper);
        for (auto it = first; it != last; ++it) {
            line.add(*it, density.density_log[static_cast<std::size_t>(it - density.log_s.begin())]);
        }
        line.add(band.log_upper, 0);
        line.add(band.log_upper, nan);
    }
    return line;
}

/// The drawn curve of one theory.
struct Curve {
    const dyson::Theory* theory;
    Outline line;
};

struct Range {
    double min = infinity, max = -infinity;

    void include(double x) {
        if (!std::isfinite(x)) return;
        min = std::min(min, x);
        max = std::max(max, x);
    }
    bool empty() const { return min > max; }
};

double per_unit_s(double density_log, double log_s) {
    return std::exp(std::log(density_log) - log_s);
}

/// Extends a range to the support of a law.
void include_law(Range& range, const Density& density) {
    for (const auto& band : density.support) {
        range.include(std::exp(band.log_lower));
        range.include(std::exp(band.log_upper));
    }
    for (const auto& atom : density.atoms) range.include(std::exp(atom.log_place));
    if (density.support.empty() && !density.log_s.empty()) {
        range.include(std::exp(density.log_s.front()));
        range.include(std::exp(density.log_s.back()));
    }
}

const montecarlo::Simulation* simulated(const Report& report) {
    return report.simulation && !report.simulation->law.empty() ? &*report.simulation : nullptr;
}

/// The frame in s: from zero, or around the support if that is far from zero. A scalar theory
/// that is far off must not compress the rest.
Range linear_frame(const Report& report, const std::vector<Curve>& curves) {
    Range trusted, all;
    if (const auto* simulation = simulated(report)) {
        trusted.include(simulation->smallest);
        trusted.include(simulation->largest);
    }
    for (const auto& curve : curves) {
        if (curve.theory->method == dyson::Method::operator_valued) {
            include_law(trusted, curve.theory->law.density());
        }
        include_law(all, curve.theory->law.density());
    }
    if (trusted.empty()) trusted = all;
    all.include(trusted.min);
    all.include(trusted.max);
    if (all.empty()) return {0, 1};
    constexpr double stretch = 2;
    all.max = std::min(all.max, stretch * trusted.max);
    if (all.max <= 0) return {0, 1};
    if (all.min < 0.25 * all.max) return {0, 1.05 * all.max};
    const double pad = std::max(0.1 * (all.max - all.min), 0.02 * all.max);
    return {all.min - pad, all.max + pad};
}

/// The frame in ln s: where any density exceeds a thousandth of its maximum.
Range log_frame(const Report& report, const std::vector<Curve>& curves) {
    constexpr double visible = 1e-3;
    Range range;
    for (const auto& [theory, line] : curves) {
        double top = 0;
        for (const double d : line.density_log) top = std::isfinite(d) ? std::max(top, d) : top;
        for (std::size_t k = 0; k < line.x.size(); ++k) {
            if (line.density_log[k] > visible * top) range.include(line.x[k]);
        }
        for (const auto& atom : theory->law.density().atoms) range.include(atom.log_place);
    }
    if (const auto* simulation = simulated(report)) {
        // Only values at known positions: zeros and rounding lie below.
        const Spectrum& law = simulation->law;
        const double below = std::max(law.cdf(-infinity), law.cdf(law.log_floor(), true));
        if (below < 1) {
            range.include(law.log_quantile(below + visible * (1 - below)));
            range.include(law.log_quantile(1 - visible * (1 - below)));
        }
    }
    if (range.empty()) return {-1, 1};
    const double pad = std::max(0.04 * (range.max - range.min), 0.02);
    return {range.min - pad, range.max + pad};
}

/// Freedman and Diaconis' number of bins over a frame, limited to a readable number; more if
/// the narrowest band would otherwise have fewer than three.
int bin_count(double frame, double quartiles, double narrowest_band, double values, double most) {
    const double width =
        std::isfinite(quartiles) && quartiles > 0 ? 2 * quartiles / std::cbrt(values) : frame / 60;
    double count = std::clamp(frame / width, 30.0, 100.0);
    if (narrowest_band > 0) count = std::max(count, std::min(3 * frame / narrowest_band, most));
    return static_cast<int>(count);
}

plot::Series histogram(const Report& report, plot::Scale scale, const Range& frame) {
    const auto& simulation = *report.simulation;
    const Spectrum& law = simulation.law;
    const bool linear = scale == plot::Scale::linear;
    const auto place = [&](double log_s) { return linear ? std::exp(log_s) : log_s; };

    double narrowest = 0;
    for (const auto& theory : report.theories) {
        for (const auto& band : theory.law.density().support) {
            const double width = place(band.log_upper) - place(band.log_lower);
            if (std::isfinite(width) && (narrowest == 0 || width < narrowest)) narrowest = width;
        }
    }
    const double values = std::max(1.0, double(simulation.samples) * report.network.size());
    const int bins =
        bin_count(frame.max - frame.min, place(law.log_quantile(0.75)) - place(law.log_quantile(0.25)),
                  narrowest, values, linear ? 100 : 400);
    const double width = (frame.max - frame.min) / bins;

    plot::Series steps;
    steps.label = "simulation (" + sample_size(report) + ")";
    steps.mark = plot::Mark::filled_steps;
    steps.width = 0.75;
    steps.colour = "#c8c8c8";
    double before = 0;
    for (int k = 0; k <= bins; ++k) {
        const double edge = frame.min + k * width;
        const double log_edge = linear ? std::log(std::max(edge, 0.0)) : edge;
        // Below the floor the values are only rounding of the product.
        const bool untrusted = !linear && log_edge < law.log_floor();
        const double below = std::isfinite(log_edge) ? law.cdf(log_edge) : 0.0;
        if (k > 0) {
            const bool hidden = !linear && log_edge - width < law.log_floor();
            steps.y.push_back(untrusted || hidden ? 0.0 : (below - before) / width);
        }
        steps.x.push_back(linear ? edge : edge / log_ten);
        before = below;
    }
    return steps;
}

plot::Series line_series(const Curve& curve, plot::Scale scale, const Range& frame) {
    plot::Series series;
    const bool exact = curve.theory->method == dyson::Method::operator_valued;
    series.label = long_name(source_of(curve.theory->method));
    if (!curve.theory->summary.certified) series.label += " (not certified)";
    // Okabe and Ito's palette: black, vermillion, bluish green, reddish purple.
    switch (curve.theory->method) {
        case dyson::Method::operator_valued:
            series.colour = "#000000";
            series.dash = plot::Dash::solid;
            break;
        case dyson::Method::scalar:
            series.colour = "#d55e00";
            series.dash = plot::Dash::dashed;
            break;
        case dyson::Method::s_transform:
            series.colour = "#009e73";
            series.dash = plot::Dash::dotted;
            break;
        case dyson::Method::printed:
            series.colour = "#cc79a7";
            series.dash = plot::Dash::dash_dotted;
            break;
    }
    series.width = exact ? 2.0 : 2.6;
    // One point beyond the frame on either side, so that the line leaves it.
    const auto& x = curve.line.x;
    const auto outside = [&](std::size_t k) {
        const double place = scale == plot::Scale::linear ? std::exp(x[k]) : x[k];
        return place < frame.min ? -1 : place > frame.max ? 1 : 0;
    };
    for (std::size_t k = 0; k < x.size(); ++k) {
        const int side = outside(k);
        if (side < 0 && k + 1 < x.size() && outside(k + 1) < 0) continue;
        if (side > 0 && k > 0 && outside(k - 1) > 0) continue;
        const double height = curve.line.density_log[k];
        if (scale == plot::Scale::linear) {
            const double density = per_unit_s(height, x[k]);
            if (std::isinf(density) || std::exp(x[k]) == 0) continue;
            series.x.push_back(std::exp(x[k]));
            series.y.push_back(density);
        } else {
            series.x.push_back(x[k] / log_ten);
            series.y.push_back(height);
        }
    }
    return series;
}

std::vector<double> atom_places(const std::vector<Curve>& curves, plot::Scale scale) {
    std::vector<double> atoms;
    for (const auto& curve : curves)
        for (const auto& atom : curve.theory->law.density().atoms)
            atoms.push_back(scale == plot::Scale::linear ? std::exp(atom.log_place) : atom.log_place / log_ten);
    return atoms;
}

Height height_of(const plot::Panel& panel, const std::vector<Curve>& curves, double stretch, bool cut = false) {
    return report::height_of(panel, atom_places(curves, panel.x.scale), stretch, cut);
}

void add_atoms(plot::Panel& panel, const std::vector<Curve>& curves) {
    bool named = false;
    double noted = 0.94;
    for (const auto& [theory, line] : curves) {
        const std::string method = dyson::name(theory->method);
        for (const auto& atom : theory->law.density().atoms) {
            const std::string mass =
                fmt::format("mass {:.3g}{}", atom.mass, method == "ov" ? "" : " (" + method + ")");
            const bool linear = panel.x.scale == plot::Scale::linear;
            if (!linear && !std::isfinite(atom.log_place)) {
                panel.annotations.push_back({panel.x.min + 0.02 * (panel.x.max - panel.x.min),
                                             noted * panel.y.max, "atom at s = 0, " + mass});
                noted -= 0.07;
                continue;
            }
            const double place = linear ? std::exp(atom.log_place) : atom.log_place / log_ten;
            if (place < panel.x.min || place > panel.x.max) continue;
            const double height =
                panel.y.max * (0.3 + 0.55 * std::clamp(atom.mass, 0.0, 1.0)) * (method == "ov" ? 1.0 : 0.85);
            plot::Series impulse;
            impulse.label = std::exchange(named, true) ? "" : "atom";
            impulse.mark = plot::Mark::impulses;
            impulse.width = 4;
            impulse.colour = method == "ov" ? "#0072b2" : "#d55e00";
            impulse.x = {place};
            impulse.y = {height};
            panel.series.push_back(std::move(impulse));
            const bool left = place > 0.5 * (panel.x.min + panel.x.max);
            const double shift = 0.012 * (panel.x.max - panel.x.min) * (left ? -1 : 1);
            panel.annotations.push_back({place + shift, height, mass, left});
        }
    }
}

std::vector<Curve> curves_of(const Report& report) {
    std::vector<Curve> curves;
    for (const auto& theory : report.theories) curves.push_back({&theory, outline(theory)});
    return curves;
}

Range frame_of(const Report& report, const std::vector<Curve>& curves, plot::Scale scale) {
    return scale == plot::Scale::linear ? linear_frame(report, curves) : log_frame(report, curves);
}

/// The contents of a frame, without the height of the panel.
plot::Panel framed_panel(const Report& report, const std::vector<Curve>& curves, plot::Scale scale, const Range& frame) {
    plot::Panel panel;
    const bool linear = scale == plot::Scale::linear;
    panel.x = {linear ? "singular value s" : "singular value s (logarithmic)", scale,
               linear ? frame.min : frame.min / log_ten, linear ? frame.max : frame.max / log_ten};
    panel.y = {linear ? "density ρ(s)" : "density per unit ln s", plot::Scale::linear, 0, 1};
    if (simulated(report)) panel.series.push_back(histogram(report, scale, frame));
    for (const auto& curve : curves) {
        if (!curve.line.x.empty()) panel.series.push_back(line_series(curve, scale, frame));
    }
    return panel;
}

plot::Panel panel_of(const Report& report, const std::vector<Curve>& curves, plot::Scale scale) {
    constexpr double headroom = 1.12;
    plot::Panel panel = framed_panel(report, curves, scale, frame_of(report, curves, scale));
    const Height height = height_of(panel, curves, 3, true);
    if (height.shown() > 0) panel.y.max = headroom * height.shown();
    if (height.collapsed())
        panel.annotations.push_back(
            {0.985 * panel.x.max, 0.95 * panel.y.max, "cut: ρ(s) rises further towards s = 0", true});
    for (const auto& peak : height.peaks) {
        const double place = 0.5 * (peak.from + peak.to), room = panel.x.max - panel.x.min;
        const bool left = place > panel.x.min + 0.5 * room;
        panel.annotations.push_back({place + 0.012 * room * (left ? -1 : 1), 0.95 * panel.y.max,
                                     fmt::format("mass {:.2g}, cut", peak.mass), left});
    }
    add_atoms(panel, curves);
    return panel;
}

std::vector<std::string> caption(const Report& report) {
    std::string sources;
    const auto add = [](std::string& text, const std::string& part) {
        text += (text.empty() ? "" : ";  ") + part;
    };
    if (report.simulation) add(sources, "simulation: " + sample_size(report));
    for (const auto& theory : report.theories) {
        add(sources, fmt::format("{}: {} points, {}", long_name(source_of(theory.method)),
                                 theory.summary.points, certificate(theory.summary)));
        if (theory.eta > 0) sources += fmt::format(", smoothed at η = {:.3g}", theory.eta);
    }
    std::string distances;
    for (const auto& [pair, agreement] : report.agreement) {
        if (report.simulation && pair.second != Source::montecarlo) continue;
        add(distances, fmt::format("{} to {}: {:.2g}", long_name(pair.first), long_name(pair.second),
                                   agreement.wasserstein1));
    }
    std::vector<std::string> lines;
    if (!sources.empty()) lines.push_back(sources);
    if (!distances.empty()) lines.push_back("Wasserstein-1 distance in s:  " + distances);
    return lines;
}

/// The share of collapsed mass from the best available source.
std::optional<double> collapsed_share(const Report& report) {
    const Metrics* const metrics = best_metrics(report.metrics);
    return metrics != nullptr ? std::optional(metrics->collapsed) : std::nullopt;
}

std::string panel_heading(const Report& report) {
    const auto share = collapsed_share(report);
    const bool certified = std::all_of(report.theories.begin(), report.theories.end(),
                                       [](const auto& theory) { return theory.summary.certified; });
    return (share ? percent(*share) + " collapsed" : "") + (certified ? "" : " !");
}

/// One frame per column, or one for all.
std::vector<Range> shared_frames(const DensityGrid& grid, plot::Scale scale) {
    std::vector<Range> frames(grid.columns.size());
    for (std::size_t k = 0; k < grid.cells.size(); ++k) {
        if (!grid.cells[k]) continue;
        const Range frame = frame_of(*grid.cells[k], curves_of(*grid.cells[k]), scale);
        Range& shared = frames[scale == plot::Scale::linear ? 0 : k % frames.size()];
        shared.include(frame.min);
        shared.include(frame.max);
    }
    if (scale == plot::Scale::linear) std::fill(frames.begin(), frames.end(), frames.front());
    return frames;
}

/// The largest mean height of a law over 1/120 of the frame: its apparent height.
double broad_height(const Spectrum& law, plot::Scale scale, const Range& frame) {
    constexpr int windows = 120;
    const double width = (frame.max - frame.min) / windows;
    const auto below = [&](double place) {
        const double log_s = scale == plot::Scale::linear ? std::log(std::max(place, 0.0)) : place;
        return std::isfinite(log_s) ? law.cdf(log_s) : 0.0;
    };
    double largest = 0;
    // In steps of half a window, without the region next to zero.
    for (int k = scale == plot::Scale::linear ? 18 : 0; k + 2 <= 2 * windows; ++k) {
        const double begin = frame.min + 0.5 * k * width;
        largest = std::max(largest, (below(begin + width) - below(begin)) / width);
    }
    return largest;
}

/// The height that a panel needs in a grid: that of its densities away from zero, without approximations if
/// there is anything else, and at most three times the broad height for a spike.
double wanted_height(const plot::Panel& panel, const Report& report, const std::vector<Curve>& curves,
                     const Range& frame) {
    constexpr double spike = 3;
    const Height height = height_of(panel, curves, 1);
    double broad = 0;
    if (const auto* simulation = simulated(report)) {
        broad = broad_height(simulation->law, panel.x.scale, frame);
    } else if (!curves.empty() && !curves.front().theory->law.empty()) {
        broad = broad_height(curves.front().theory->law, panel.x.scale, frame);
    }
    const double shown = height.away > 0 ? height.away : height.full;
    return broad > 0 ? std::min(shown, spike * broad) : shown;
}

/// The largest, except for a few panels that exceed the usual one by far: these are cut.
double shared_height(std::vector<double> wanted) {
    constexpr double excess = 3;
    std::erase_if(wanted, [](double height) { return !(height > 0); });
    if (wanted.empty()) return 1;
    std::sort(wanted.begin(), wanted.end());
    return std::min(wanted.back(), excess * wanted[wanted.size() / 2]);
}

}  // namespace

plot::Figure density_grid(const DensityGrid& grid, plot::Scale scale) {
    constexpr double headroom = 1.08;
    constexpr std::size_t column_panels = 3, page_panels = 7;
    plot::Figure figure;
    figure.title = grid.title;
    figure.caption = grid.caption;
    figure.columns = grid.columns.size();
    figure.column_headings = grid.columns;
    figure.row_headings = grid.rows;
    figure.shared_axes = true;
    figure.font_size = 6.5;
    figure.panel_height = 15.2;
    figure.width = figure.columns <= column_panels ? plot::column_width
                   : figure.columns <= page_panels
                       ? plot::page_width
                       : plot::page_width / page_panels * static_cast<double>(figure.columns);

    const auto frames = shared_frames(grid, scale);
    std::vector<double> wanted;
    for (std::size_t k = 0; k < grid.cells.size(); ++k) {
        plot::Panel panel;
        panel.absent = !grid.cells[k];
        if (!panel.absent) {
            const auto curves = curves_of(*grid.cells[k]);
            panel = framed_panel(*grid.cells[k], curves, scale, frames[k % figure.columns]);
            for (auto& series : panel.series) {
                if (series.mark == plot::Mark::filled_steps) series.label = "simulation", series.width = 0;
                for (const char* words : {" theory", " (not certified"})  // stated once for all panels
                    series.label.resize(std::min(series.label.find(words), series.label.size()));
            }
            wanted.push_back(wanted_height(panel, *grid.cells[k], curves, frames[k % figure.columns]));
        }
        figure.panels.push_back(std::move(panel));
    }
    const double height = headroom * shared_height(wanted);
    for (std::size_t k = 0; k < grid.cells.size(); ++k) {
        plot::Panel& panel = figure.panels[k];
        if (panel.absent) continue;
        panel.y.max = height;
        add_atoms(panel, curves_of(*grid.cells[k]));
        panel.annotations.clear();  // no room for the masses of atoms
        panel.heading = panel_heading(*grid.cells[k]);
    }
    return figure;
}

plot::Figure density_figure(const Report& report) {
    const auto curves = curves_of(report);
    plot::Figure figure;
    figure.title = "Singular values of the Jacobian: " + report.network.title;
    figure.caption = caption(report);
    figure.panels = {panel_of(report, curves, plot::Scale::linear), panel_of(report, curves, plot::Scale::logarithmic)};
    return figure;
}

}  // namespace spectra::report
