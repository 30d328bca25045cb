#include "report/validation_figure.hpp"

#include "mixers/defects.hpp"
#include "report/density_notes.hpp"
#include "report/panel_height.hpp"
#include "report/wording.hpp"
#include "spectrum/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

namespace spectra::validation {

namespace {

using plot::Series;

constexpr const char* blue = "#0072B2";
constexpr const char* orange = "#D55E00";
constexpr const char* green = "#009E73";
constexpr const char* purple = "#CC79A7";
constexpr const char* yellow = "#E69F00";
constexpr const char* grey = "#666666";

/// The density with respect to ln s of an equal mixture of laws, on a grid.
std::vector<double> density_over(const Prediction& p, const std::vector<double>& log_s) {
    std::vector<double> density(log_s.size(), 0.0);
    for (const auto& theory : p.theories)
        for (std::size_t k = 0; k < log_s.size(); ++k)
            density[k] += theory.law.density_log(log_s[k]) / static_cast<double>(p.theories.size());
    return density;
}

/// The range in ln s that contains most of the laws.
std::pair<double, double> log_range(const Validation& v) {
    double low = INFINITY, high = -INFINITY;
    const auto include = [&](const Spectrum& law) {
        if (law.empty()) return;
        const double a = law.log_quantile(0.002), b = law.log_quantile(1);
        if (std::isfinite(a)) low = std::min(low, a);
        if (std::isfinite(b)) high = std::max(high, b);
    };
    if (v.measured) include(v.measured->law);
    if (const auto* p = v.predicted()) include(p->law);
    if (!(low < high)) return {std::log(0.5), std::log(2)};
    const double room = std::max(0.05 * (high - low), 0.02);
    return {low - room, high + room};
}

plot::Series histogram(const std::vector<double>& values, double low, double high, std::size_t bins) {
    plot::Series s;
    s.label = "measured";
    s.mark = plot::Mark::filled_steps;
    s.colour = "#BBBBBB";
    std::vector<double> counts(bins, 0.0);
    const double step = (high - low) / static_cast<double>(bins);
    for (const double x : values) {
        const double place = (x - low) / step;
        if (place >= 0 && place < static_cast<double>(bins)) counts[static_cast<std::size_t>(place)] += 1;
    }
    for (std::size_t k = 0; k <= bins; ++k) s.x.push_back(low + step * static_cast<double>(k));
    for (const double c : counts) s.y.push_back(c / (static_cast<double>(values.size()) * step));
    return s;
}

struct Curve {
    const char* label;
    const char* colour;
    plot::Dash dash;
    double width;
};

const Curve& curve_of(Part part, bool measured) {
    static const Curve full{"theory: branches as measured", blue, plot::Dash::solid, 2.5};
    static const Curve assumed{"theory: assumed branches", blue, plot::Dash::solid, 2.5};
    static const Curve isotropic{"theory: isotropic branches", orange, plot::Dash::dashed, 2};
    return part == Part::isotropic ? isotropic : measured ? full : assumed;
}

const Requirement* required(const Validation& v, const std::string& name) {
    for (const auto& requirement : v.requirements)
        if (requirement.name == name) return &requirement;
    return nullptr;
}

/// "window ≥ 0.9"
std::string bound(const Requirement& r) {
    return fmt::format("{} {} {:.4g}", r.name, r.relation == Requirement::Relation::at_least ? "≥" : "≤",
                       r.threshold);
}

/// What the verdict looks at: the window, the end of the collapsed values, and the largest value allowed; behind
/// the densities, as high as the panel.
void add_thresholds(plot::Panel& panel, const Validation& v) {
    const bool logarithmic = panel.x.scale == plot::Scale::logarithmic;
    const auto place = [&](double s) { return logarithmic ? std::log10(s) : s; };
    const auto in_frame = [&](double x) { return x > panel.x.min && x < panel.x.max; };
    std::vector<Series> behind;
    if (required(v, "window")) {
        const double from = std::max(place(window_lower), panel.x.min);
        const double to = std::min(place(window_upper), panel.x.max);
        if (from < to)
            behind.push_back({"window [0.75, 1.25]", plot::Mark::band, plot::Dash::solid, 0, "#E4EEDC",
                              {from, to}, {panel.y.max, panel.y.max}, {0, 0}});
    }
    const auto add_line = [&](const char* label, double s, const char* colour, plot::Dash dash) {
        if (in_frame(place(s)))
            behind.push_back({label, plot::Mark::line, dash, 2, colour, {place(s), place(s)}, {0, panel.y.max}});
    };
    if (required(v, "collapsed"))
        add_line("collapsed: below 0.1", collapsed_below, grey, plot::Dash::dotted);
    if (const auto* largest = required(v, "largest"))
        add_line("largest value allowed", largest->threshold, grey, plot::Dash::dash_dotted);
    panel.series.insert(panel.series.begin(), behind.begin(), behind.end());
}

/// Evenly over the frame (in s or ln s), and at the points of the theories themselves, so that narrow bands have
/// their height; in ln s.
std::vector<double> sampled_places(const Prediction& p, double from, double to, bool logarithmic) {
    constexpr int points = 700;
    std::vector<double> log_s;
    const auto add = [&](double x) {
        const double place = logarithmic ? x : std::exp(x);
        if (place >= from && place <= to && place > 0) log_s.push_back(x);
    };
    for (int k = 0; k < points; ++k) {
        const double place = from + (to - from) * (k + 0.5) / points;
        log_s.push_back(logarithmic ? place : std::log(place));
    }
    for (const auto& theory : p.theories) {
        for (const double x : theory.law.density().log_s) add(x);
        for (const auto& band : theory.law.density().support)
            for (const double x : {band.log_lower, band.log_upper})
                add(x), add(x - 1e-9), add(x + 1e-9);
    }
    std::sort(log_s.begin(), log_s.end());
    return log_s;
}

/// The law that notes are about.
const Spectrum* judged_law(const Validation& v) {
    if (v.measured) return &v.measured->law;
    return v.predicted() != nullptr ? &v.predicted()->law : nullptr;
}

/// Sets the height, and says which mass is too narrow or too close to zero to be seen.
void finish_densities(plot::Panel& panel, const Validation& v) {
    const auto height = report::height_of(panel, {}, 3, true);
    if (height.shown() > 0) panel.y.max = 1.12 * height.shown();
    const Spectrum* const law = judged_law(v);
    if (law != nullptr && !law->empty()) report::note_hidden(panel, *law, height.collapsed());
    if (v.predicted() != nullptr) report::note_peaks(panel, v.predicted()->law, height.peaks);
    if (law != nullptr && panel.x.scale == plot::Scale::logarithmic)
        report::note_bands(panel, *law, height.peaks);
}

/// ρ over s (linear) or the density per ln s over log10 s.
plot::Panel density_panel(const Validation& v, bool logarithmic) {
    auto [low, high] = log_range(v);
    if (!logarithmic) {
        double last = -INFINITY;  // without the room of the logarithmic frame, which may span many decades
        for (const Spectrum* law : {v.measured ? &v.measured->law : nullptr,
                                    v.predicted() != nullptr ? &v.predicted()->law : nullptr})
            if (law != nullptr && !law->empty()) last = std::max(last, law->log_quantile(1));
        const double far = std::max(1.3, 1.05 * std::exp(std::isfinite(last) ? last : high));
        low = std::exp(low) < 0.25 * far ? std::log(1e-3 * far) : low;
        high = std::log(far);
    }
    const double from = logarithmic ? low : (std::exp(low) < 0.25 * std::exp(high) ? 0 : std::exp(low));
    const double to = logarithmic ? high : std::exp(high);
    const auto drawn_x = [&](double x) { return logarithmic ? x / std::numbers::ln10 : x; };
    plot::Panel panel;
    panel.x = {logarithmic ? "singular value s (logarithmic)" : "singular value s",
               logarithmic ? plot::Scale::logarithmic : plot::Scale::linear, drawn_x(from), drawn_x(to)};
    panel.y = {logarithmic ? "density per unit ln s" : "density ρ(s)", plot::Scale::linear, 0, 1};
    if (v.measured) {
        std::vector<double> values;
        for (const auto& set : v.measured->values)
            for (const double x : set) values.push_back(logarithmic ? x : std::exp(x));
        const auto bins = std::clamp<std::size_t>(
            static_cast<std::size_t>(1.5 * std::sqrt(static_cast<double>(values.size()))), 20, 80);
        auto bars = histogram(values, from, to, bins);
        for (auto& x : bars.x) x = drawn_x(x);
        panel.series.push_back(std::move(bars));
    }
    for (const auto& p : v.predictions) {
        if (p.part == Part::mixers || p.law.empty()) continue;
        const auto log_s = sampled_places(p, from, to, logarithmic);
        std::vector<double> x;
        for (const double place : log_s) x.push_back(drawn_x(logarithmic ? place : std::exp(place)));
        auto y = density_over(p, log_s);
        if (!logarithmic)
            for (std::size_t k = 0; k < y.size(); ++k) y[k] /= std::exp(log_s[k]);
        const auto& style = curve_of(p.part, v.measured.has_value());
        panel.series.push_back({style.label, plot::Mark::line, style.dash, style.width, style.colour,
                                std::move(x), std::move(y)});
    }
    finish_densities(panel, v);
    add_thresholds(panel, v);
    return panel;
}

std::vector<double> counting(std::size_t count) {
    std::vector<double> x;
    for (std::size_t k = 0; k < count; ++k) x.push_back(static_cast<double>(k + 1));
    return x;
}

/// Most connections that are drawn with a dot each.
constexpr std::size_t marked = 30;

/// log10 with a floor: a defect of exactly 0 is drawn at the bottom.
double log10_floored(double value) {
    return std::log10(std::max(std::abs(value), 1e-16));
}

void fit_y(plot::Panel& panel) {
    double low = INFINITY, high = -INFINITY;
    for (const auto& s : panel.series)
        for (const double y : s.y)
            if (std::isfinite(y)) low = std::min(low, y), high = std::max(high, y);
    if (!(low <= high)) low = 0, high = 1;
    const double room = std::max((panel.annotations.empty() ? 0.08 : 0.14) * (high - low), 0.05);
    panel.y.min = low - room;
    panel.y.max = high + room;
}

plot::Panel defects_panel(const Validation& v) {
    plot::Panel panel;
    const auto& layers = v.mixers->layers;
    const auto x = counting(layers.size());
    panel.x = {"connection", plot::Scale::whole, 0.5, static_cast<double>(layers.size()) + 0.5};
    panel.y = {"largest entry, absolute", plot::Scale::logarithmic, 0, 1};
    const auto add = [&](const char* label, const char* colour, plot::Dash dash, auto get) {
        std::vector<double> y;
        for (const auto& row : layers) y.push_back(log10_floored(get(row)));
        panel.series.push_back({label, plot::Mark::line, dash, 2.5, colour, x, y});
        if (layers.size() <= marked) panel.series.push_back({"", plot::Mark::points, dash, 9, colour, x, y});
    };
    add("‖AᵀA − I‖", green, plot::Dash::solid, [](const auto& r) { return r.orthogonality_defect; });
    add("row sums − 1", purple, plot::Dash::dashed,
        [](const auto& r) { return (r.row_sums.array() - 1).abs().maxCoeff(); });
    add("‖A − I‖", yellow, plot::Dash::dotted, [](const auto& r) { return r.identity_distance; });
    fit_y(panel);
    return panel;
}

plot::Panel composite_panel(const Validation& v) {
    plot::Panel panel;
    const auto products = layouts::composites(*v.stack);
    const auto n = static_cast<std::size_t>(v.stack->streams);
    panel.x = {"depth (connections)", plot::Scale::whole, 0.5, static_cast<double>(products.size()) + 0.5};
    panel.y = {"singular value, gain", plot::Scale::logarithmic, 0, 1};
    std::vector<std::vector<double>> lines(n);
    for (const auto& product : products) {
        const auto values = mixers::singular_values(product);
        for (std::size_t k = 0; k < n; ++k)
            lines[k].push_back(log10_floored(values(static_cast<Eigen::Index>(k))));
    }
    for (std::size_t k = 0; k < n; ++k) {
        const auto x = counting(products.size());
        panel.series.push_back({k == 0 ? "singular values of the mixers' product" : "", plot::Mark::line,
                                plot::Dash::solid, 1.5, "#000000", x, lines[k]});
        if (products.size() <= marked)
            panel.series.push_back({"", plot::Mark::points, plot::Dash::solid, 7, "#000000", x, lines[k]});
    }
    const auto add_gain = [&](const char* label, const char* colour, plot::Dash dash, auto gain) {
        std::vector<double> y;
        for (const auto& row : v.mixers->composites) y.push_back(log10_floored(row.*gain));
        panel.series.push_back({label, plot::Mark::line, dash, 2, colour, counting(y.size()), y});
    };
    add_gain("forward gain", blue, plot::Dash::dashed, &layouts::CompositeRow::forward_gain);
    add_gain("backward gain", orange, plot::Dash::dotted, &layouts::CompositeRow::backward_gain);
    fit_y(panel);
    return panel;
}

/// The distance by triplets kept; none at all is drawn where one half would be.
plot::Panel alignment_panel(const Alignment& a) {
    plot::Panel panel;
    std::vector<double> x, y;
    for (const auto& p : a.by_rank) {
        x.push_back(std::log10(std::max(0.5, static_cast<double>(p.rank))));
        y.push_back(log10_floored(p.distance));
    }
    panel.x = {"triplets kept of every branch", plot::Scale::logarithmic, x.front() - 0.1, x.back() + 0.15};
    panel.y = {"W1 to measured / rms", plot::Scale::logarithmic, 0, 1};
    const double threshold = std::log10(a.explain);
    panel.series = {{"explained", plot::Mark::line, plot::Dash::dash_dotted, 2, orange,
                     {panel.x.min, panel.x.max}, {threshold, threshold}},
                    {"rest drawn at random", plot::Mark::line, plot::Dash::solid, 2.5, blue, x, y},
                    {"", plot::Mark::points, plot::Dash::solid, 9, blue, x, y}};
    if (a.theory && a.theory->certificate.certified)
        panel.series.push_back({"theory, first input", plot::Mark::points, plot::Dash::solid, 14, green,
                                {std::log10(a.theory->rank)}, {log10_floored(a.theory->distance)}});
    fit_y(panel);
    if (a.by_rank.front().rank == 0) panel.annotations.push_back({x.front(), panel.y.min, "none"});
    return panel;
}

/// Which branches read what earlier ones write, along the kept vectors.
plot::Panel overlap_panel(const Alignment& a) {
    plot::Panel panel;
    const auto depth = static_cast<std::size_t>(a.overlaps.rows());
    const double chance = static_cast<double>(std::max(1, a.best().rank)) / a.width;
    std::vector<double> x, most;
    for (std::size_t l = 1; l < depth; ++l) {
        x.push_back(static_cast<double>(l + 1));
        most.push_back(a.overlaps.row(static_cast<Eigen::Index>(l)).maxCoeff());
    }
    panel.x = {"connection", plot::Scale::whole, 0.5, static_cast<double>(depth) + 0.5};
    panel.y = {"share read", plot::Scale::linear, 0, 1};
    panel.series = {{"by chance", plot::Mark::line, plot::Dash::dotted, 2, grey, {panel.x.min, panel.x.max},
                     {chance, chance}},
                    {"of the earlier branch most aligned", plot::Mark::line, plot::Dash::solid, 2.5, purple, x, most}};
    if (depth <= marked) panel.series.push_back({"", plot::Mark::points, plot::Dash::solid, 9, purple, x, most});
    return panel;
}

/// "predicted, not measured: window 0.149 (required: ≥ 0.776), …: FAIL"
std::string verdict_words(const Validation& v) {
    std::string words;
    for (const auto& requirement : v.requirements) {
        const auto value = quantity(v, requirement.name);
        words += fmt::format("{}{} (required: {})", words.empty() ? "" : ", ",
                             value ? fmt::format("{} {:.4g}", requirement.name, value->value) : requirement.name,
                             bound(requirement).substr(requirement.name.size() + 1));
    }
    return fmt::format("{}: {}{}{}", v.measured ? "measured" : "predicted, not measured", words,
                       words.empty() ? "" : ": ", v.verdict.pass ? "PASS" : "FAIL");
}

bool any_finite(const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// The threshold of each checkpoint: they differ where the identity is the yardstick.
void add_required(plot::Panel& panel, const std::vector<Validation>& all, const std::string& name,
                  const std::vector<double>& x) {
    std::vector<double> thresholds;
    const Requirement* last = nullptr;
    for (const auto& v : all) {
        const Requirement* const r = required(v, name);
        thresholds.push_back(r != nullptr ? r->threshold : NAN);
        if (r != nullptr) last = r;
    }
    if (last == nullptr) return;
    const bool least = last->relation == Requirement::Relation::at_least;
    const double room = panel.x.max - x.back();
    std::vector<double> places = x;  // as wide as the panel, so that one checkpoint has a line too
    places.insert(places.begin(), panel.x.min), places.push_back(x.back() + room);
    thresholds.insert(thresholds.begin(), thresholds.front()), thresholds.push_back(thresholds.back());
    panel.series.push_back({"required", plot::Mark::line, plot::Dash::dash_dotted, 2, orange, places, thresholds});
    panel.annotations.push_back({panel.x.min, thresholds.front(), least ? "at least" : "at most"});
}

/// Moves the names of lines to above or below them: to the side that is required.
void clear_lines(plot::Panel& panel) {
    const double line = 0.08 * (panel.y.max - panel.y.min);
    for (auto& note : panel.annotations) note.y += note.text == "at least" ? line : -line;
}

/// Which file is where: "1: a.pt, 2: b.pt", or the first and the last of many.
std::string file_names(const std::vector<Validation>& all, const std::vector<double>& x, bool steps) {
    constexpr std::size_t most = 8;
    const auto name = [&](std::size_t k) {
        return fmt::format("{}{:.0f}: {}", steps ? "step " : "", x[k],
                           std::filesystem::path(all[k].file).filename().string());
    };
    if (all.size() > most)
        return fmt::format("{} … {} ({} files)", name(0), name(all.size() - 1), all.size());
    std::string words;
    for (std::size_t k = 0; k < all.size(); ++k) words += (k > 0 ? ",  " : "") + name(k);
    return words;
}

}  // namespace

plot::Figure validation_figure(const Validation& v) {
    plot::Figure figure;
    figure.title =
        std::filesystem::path(v.file).filename().string() + (v.model.empty() ? "" : ": " + v.model);
    figure.panels = {density_panel(v, false), density_panel(v, true)};
    if (v.stack) {
        figure.panels.push_back(defects_panel(v));
        figure.panels.push_back(composite_panel(v));
    }
    if (v.alignment && v.alignment->by_rank.size() > 1) {
        figure.panels.push_back(alignment_panel(*v.alignment));
        figure.panels.push_back(overlap_panel(*v.alignment));
    }
    figure.columns = 2;
    if (v.measured)
        figure.caption.push_back("measured: " + v.measured->words +
                                 (v.measured->note.empty() ? "" : "; " + v.measured->note));
    if (v.judged() != nullptr) figure.caption.push_back(verdict_words(v));
    if (v.stack) figure.caption.push_back("‖·‖: largest absolute entry; A: mixer of a connection, I: identity");
    return figure;
}

plot::Figure evolution_figure(const std::vector<Validation>& all) {
    const bool steps = std::all_of(all.begin(), all.end(), [](const auto& v) { return v.step.has_value(); });
    std::vector<double> x;
    for (std::size_t k = 0; k < all.size(); ++k)
        x.push_back(steps ? static_cast<double>(*all[k].step) : static_cast<double>(k + 1));
    const auto ends = std::minmax_element(x.begin(), x.end());
    const double room = std::max(0.03 * (*ends.second - *ends.first), 0.5);
    plot::Figure figure;
    const auto passed = std::count_if(all.begin(), all.end(), [](const auto& v) { return v.verdict.pass; });
    figure.title = fmt::format("Isometry of {} checkpoints: {} of them pass", all.size(),
                               passed == 0 ? "none" : fmt::format("{}", passed));
    const auto panel = [&](const MetricName& name) {
        plot::Panel p;
        p.x = {steps ? "step" : "checkpoint", plot::Scale::whole, *ends.first - room, *ends.second + room};
        p.y = {name.label, plot::Scale::linear, 0, 1};
        std::vector<double> measured, predicted;
        for (const auto& v : all) {
            measured.push_back(v.measured ? v.measured->metrics.*name.member : NAN);
            predicted.push_back(v.predicted() ? v.predicted()->metrics.*name.member : NAN);
        }
        add_required(p, all, name.name, x);
        if (any_finite(predicted)) {
            p.series.push_back({"theory", plot::Mark::line, plot::Dash::dashed, 2, blue, x, predicted});
            p.series.push_back({"", plot::Mark::points, plot::Dash::solid, 9, blue, x, predicted});
        }
        if (any_finite(measured))
            p.series.push_back(
                {"measured", plot::Mark::points, plot::Dash::solid, 12, "#000000", x, measured});
        fit_y(p);
        clear_lines(p);
        return p;
    };
    for (const auto member : {&Metrics::window, &Metrics::collapsed, &Metrics::largest, &Metrics::effective_rank})
        figure.panels.push_back(panel(metric(member)));
    figure.columns = 2;
    figure.caption.push_back(file_names(all, x, steps));
    return figure;
}

}  // namespace spectra::validation
