#include "report/density_figure.hpp"

#include "base/special_values.hpp"
#include "report/density_notes.hpp"
#include "report/panel_height.hpp"
#include "report/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace spectra::report {

namespace {

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
    steps.label = "simulation";  // the caption has its size
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

/// A series of a theory without its data: name, colour and dashes.
plot::Series line_style(const dyson::Theory& theory) {
    plot::Series series;
    series.label = long_name(source_of(theory.method));
    if (!theory.summary.certified) series.label += " (not certified)";
    // Okabe and Ito's palette: black, vermillion, bluish green, reddish purple.
    switch (theory.method) {
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
    series.width = theory.method == dyson::Method::operator_valued ? 2.0 : 2.6;
    return series;
}

plot::Series line_series(const Curve& curve, plot::Scale scale, const Range& frame) {
    plot::Series series = line_style(*curve.theory);
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

/// The atoms of all theories. A theory that has nothing else keeps its name in the legend.
void add_atoms(plot::Panel& panel, const std::vector<Curve>& curves) {
    const bool linear = panel.x.scale == plot::Scale::linear;
    std::vector<Stem> stems;
    for (const auto& curve : curves) {
        const auto style = line_style(*curve.theory);
        for (const auto& atom : curve.theory->law.density().atoms)
            stems.push_back({linear ? std::exp(atom.log_place) : atom.log_place / log_ten, atom.mass,
                             dyson::name(curve.theory->method),
                             curve.line.x.empty() ? style.label + " (atoms)" : "atoms of the " + style.label,
                             style.colour});
    }
    add_stems(panel, stems);
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

/// The law that notes are about: the operator-valued theory's; without it, the simulation's; or null.
const Spectrum* trusted_law(const Report& report) {
    for (const auto& theory : report.theories)
        if (theory.method == dyson::Method::operator_valued && !theory.law.empty()) return &theory.law;
    const auto* simulation = simulated(report);
    return simulation != nullptr ? &simulation->law : nullptr;
}

/// Whether the curves of the two theories cannot be told apart.
bool theories_coincide(const Report& report) {
    constexpr double visible = 0.005;
    const auto* pair = find(report.agreement, SourcePair{Source::ov, Source::scalar});
    const auto drawn = [&](dyson::Method method) {
        return std::any_of(report.theories.begin(), report.theories.end(), [&](const auto& theory) {
            return theory.method == method && !theory.law.density().log_s.empty();
        });
    };
    return pair != nullptr && pair->kolmogorov_smirnov < visible && drawn(dyson::Method::operator_valued) &&
           drawn(dyson::Method::scalar);
}

/// Says so above the highest point of the first curve.
void note_coinciding(plot::Panel& panel) {
    for (const auto& series : panel.series) {
        if (series.mark != plot::Mark::line || series.y.empty()) continue;
        std::size_t top = 0;
        for (std::size_t k = 0; k < series.y.size(); ++k)
            if (series.y[k] > series.y[top] || std::isnan(series.y[top])) top = k;
        panel.annotations.push_back({series.x[top], panel.y.max, "both theories coincide", false, true});
        return;
    }
}

/// The height of the histogram, for a panel in which everything else is atoms.
double highest_bar(const plot::Panel& panel) {
    double height = 0;
    for (const auto& series : panel.series)
        if (series.mark == plot::Mark::filled_steps)
            for (const double y : series.y) height = std::max(height, y);
    return height;
}

plot::Panel panel_of(const Report& report, const std::vector<Curve>& curves, plot::Scale scale) {
    constexpr double headroom = 1.12;
    plot::Panel panel = framed_panel(report, curves, scale, frame_of(report, curves, scale));
    const Height height = height_of(panel, curves, 3, true);
    const double shown = height.shown() > 0 ? height.shown() : highest_bar(panel);
    if (shown > 0) panel.y.max = headroom * shown;
    const Spectrum* const law = trusted_law(report);
    if (law != nullptr) note_hidden(panel, *law, height.collapsed());
    if (law != nullptr) note_peaks(panel, *law, height.peaks);
    if (law != nullptr && scale == plot::Scale::logarithmic) note_bands(panel, *law, height.peaks);
    if (scale == plot::Scale::linear && theories_coincide(report)) note_coinciding(panel);
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

/// "9.1 % collapsed".
std::string panel_heading(const Report& report) {
    const auto share = collapsed_share(report);
    const bool certified = std::all_of(report.theories.begin(), report.theories.end(),
                                       [](const auto& theory) { return theory.summary.certified; });
    return (share ? percent(*share) + " collapsed" : "") + (certified ? "" : " !");
}

/// One frame per column; over s, one for all while their ends differ by less than a half.
std::vector<Range> shared_frames(const DensityGrid& grid, plot::Scale scale) {
    std::vector<Range> frames(grid.columns.size());
    for (std::size_t k = 0; k < grid.cells.size(); ++k) {
        if (!grid.cells[k]) continue;
        const Range frame = frame_of(*grid.cells[k], curves_of(*grid.cells[k]), scale);
        Range& shared = frames[k % frames.size()];
        shared.include(frame.min);
        shared.include(frame.max);
    }
    if (scale != plot::Scale::linear) return frames;
    Range all;
    double least = infinity;
    for (const auto& frame : frames) {
        if (frame.empty()) continue;
        all.include(frame.min);
        all.include(frame.max);
        least = std::min(least, frame.max);
    }
    if (all.max < 1.5 * least) std::fill(frames.begin(), frames.end(), all);
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

/// The height of each row: one for all, or each its own where one for all would flatten a row to less than half.
std::vector<double> row_heights(const std::vector<double>& wanted, std::size_t columns) {
    std::vector<double> heights;
    for (std::size_t k = 0; k < wanted.size(); k += columns) {
        const auto first = wanted.begin() + static_cast<std::ptrdiff_t>(k);
        const auto last = wanted.begin() + static_cast<std::ptrdiff_t>(std::min(k + columns, wanted.size()));
        heights.push_back(shared_height({first, last}));
    }
    const double all = shared_height(wanted);
    if (std::none_of(heights.begin(), heights.end(), [&](double height) { return height < 0.5 * all; }))
        std::fill(heights.begin(), heights.end(), all);
    return heights;
}

/// Draws atoms on the only vertical axis of a panel of a grid: the whole height is mass 1.
void add_atoms_of_grid(plot::Panel& panel, const std::vector<Curve>& curves) {
    add_atoms(panel, curves);
    panel.right = {};
    panel.annotations.clear();  // no room for the masses of atoms
    for (auto& series : panel.series) {
        if (!std::exchange(series.on_right, false)) continue;
        for (double& mass : series.y) mass *= panel.y.max;
        if (!series.label.empty()) series.label = "atom (whole height: mass 1)";
    }
}

}  // namespace

plot::Figure density_grid(const DensityGrid& grid, plot::Scale scale) {
    constexpr double one_note = 1.25, two_notes = 1.5;  // room above the curves
    constexpr std::size_t column_panels = 3, page_panels = 7;
    plot::Figure figure;
    figure.title = grid.title;
    figure.caption = grid.caption;
    figure.columns = grid.columns.size();
    figure.column_headings = grid.columns;
    figure.row_headings = grid.rows;
    figure.shared_axes = true;
    figure.font_size = 6.5;
    figure.panel_height = 17.5;
    figure.width = figure.columns <= column_panels ? plot::column_width
                   : figure.columns <= page_panels
                       ? plot::page_width
                       : plot::page_width / page_panels * static_cast<double>(figure.columns);

    const auto frames = shared_frames(grid, scale);
    std::vector<double> wanted(grid.cells.size(), 0.0);
    double headroom = one_note;
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
            wanted[k] = wanted_height(panel, *grid.cells[k], curves, frames[k % figure.columns]);
            if (theories_coincide(*grid.cells[k])) headroom = two_notes;
        }
        figure.panels.push_back(std::move(panel));
    }
    const auto heights = row_heights(wanted, figure.columns);
    if (std::any_of(heights.begin(), heights.end(), [&](double height) { return height != heights.front(); }))
        figure.caption.push_back("the vertical scale differs between rows");
    for (std::size_t k = 0; k < grid.cells.size(); ++k) {
        plot::Panel& panel = figure.panels[k];
        if (panel.absent) continue;
        panel.y.max = headroom * heights[k / figure.columns];
        add_atoms_of_grid(panel, curves_of(*grid.cells[k]));
        panel.heading = panel_heading(*grid.cells[k]);
        if (theories_coincide(*grid.cells[k]))
            panel.annotations.push_back({panel.x.max, panel.y.max, "theories coincide", true});
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
