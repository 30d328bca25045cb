#include "report/validation_figure.hpp"

#include "mixers/defects.hpp"
#include "report/wording.hpp"
#include "spectrum/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

namespace spectra::validation {

namespace {

using plot::Figure;
using plot::Panel;
using plot::Series;

constexpr const char* blue = "#0072B2";
constexpr const char* orange = "#D55E00";
constexpr const char* green = "#009E73";

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

/// The height of a panel: that of the histogram and the last curve; spikes at edges are cut.
double height_of(const plot::Panel& panel) {
    double height = 0;
    for (const auto& s : panel.series) {
        auto y = s.y;
        y.erase(std::remove_if(y.begin(), y.end(), [](double value) { return !std::isfinite(value); }),
                y.end());
        if (y.empty()) continue;
        std::sort(y.begin(), y.end());
        const bool bars = s.mark == plot::Mark::filled_steps;
        height = std::max(height, bars ? y.back() : y[(y.size() - 1) * 98 / 100]);
    }
    return height > 0 ? 1.12 * height : 1;
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

/// ρ over s (linear) or the density per ln s over log10 s.
plot::Panel density_panel(const Validation& v, bool logarithmic) {
    auto [low, high] = log_range(v);
    if (!logarithmic) {
        const double far = std::exp(high) < 1.2 ? 1.2 : std::exp(high);
        low = std::exp(low) < 0.25 * far ? std::log(1e-3 * far) : low;
        high = std::log(far);
    }
    const double from = logarithmic ? low : (std::exp(low) < 0.25 * std::exp(high) ? 0 : std::exp(low));
    const double to = logarithmic ? high : std::exp(high);
    const auto drawn_x = [&](double x) { return logarithmic ? x / std::numbers::ln10 : x; };
    plot::Panel panel;
    panel.x = {"singular value s", logarithmic ? plot::Scale::logarithmic : plot::Scale::linear, drawn_x(from),
               drawn_x(to)};
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
    constexpr std::size_t points = 700;
    for (const auto& p : v.predictions) {
        if (p.part == Part::mixers || p.law.empty()) continue;
        std::vector<double> x, log_s;
        for (std::size_t k = 0; k < points; ++k) {
            const double place = from + (to - from) * (static_cast<double>(k) + 0.5) / points;
            x.push_back(drawn_x(place));
            log_s.push_back(logarithmic ? place : std::log(place));
        }
        auto y = density_over(p, log_s);
        if (!logarithmic)
            for (std::size_t k = 0; k < points; ++k) y[k] /= std::exp(log_s[k]);
        const auto& style = curve_of(p.part, v.measured.has_value());
        panel.series.push_back({style.label, plot::Mark::line, style.dash, style.width, style.colour,
                                std::move(x), std::move(y)});
    }
    panel.y = {logarithmic ? "density per ln s" : "density per s", plot::Scale::linear, 0,
               height_of(panel)};
    return panel;
}

std::vector<double> counting(std::size_t count) {
    std::vector<double> x;
    for (std::size_t k = 0; k < count; ++k) x.push_back(static_cast<double>(k + 1));
    return x;
}

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
    const double room = std::max(0.08 * (high - low), 0.05);
    panel.y.min = low - room;
    panel.y.max = high + room;
}

plot::Panel defects_panel(const Validation& v) {
    plot::Panel panel;
    const auto& layers = v.mixers->layers;
    const auto x = counting(layers.size());
    panel.x = {"connection", plot::Scale::linear, 0.5, static_cast<double>(layers.size()) + 0.5};
    panel.y = {"defect", plot::Scale::logarithmic, 0, 1};
    const auto add = [&](const char* label, const char* colour, plot::Dash dash, auto get) {
        std::vector<double> y;
        for (const auto& row : layers) y.push_back(log10_floored(get(row)));
        panel.series.push_back({label, plot::Mark::line, dash, 2, colour, x, y});
    };
    add("|AᵀA − 1|", blue, plot::Dash::solid, [](const auto& r) { return r.orthogonality_defect; });
    add("row sums − 1", orange, plot::Dash::dashed,
        [](const auto& r) { return (r.row_sums.array() - 1).abs().maxCoeff(); });
    add("|A − 1|", green, plot::Dash::dotted, [](const auto& r) { return r.identity_distance; });
    fit_y(panel);
    return panel;
}

plot::Panel composite_panel(const Validation& v) {
    plot::Panel panel;
    const auto products = layouts::composites(*v.stack);
    const auto n = static_cast<std::size_t>(v.stack->streams);
    panel.x = {"depth (connections)", plot::Scale::linear, 0.5, static_cast<double>(products.size()) + 0.5};
    panel.y = {"mixers' product", plot::Scale::logarithmic, 0, 1};
    std::vector<std::vector<double>> lines(n);
    for (const auto& product : products) {
        const auto values = mixers::singular_values(product);
        for (std::size_t k = 0; k < n; ++k)
            lines[k].push_back(log10_floored(values(static_cast<Eigen::Index>(k))));
    }
    for (std::size_t k = 0; k < n; ++k)
        panel.series.push_back({k == 0 ? "singular values of the mixers' product" : "", plot::Mark::line,
                                k == 0 ? plot::Dash::solid : plot::Dash::dash_dotted, 2, "#000000",
                                counting(products.size()), lines[k]});
    fit_y(panel);
    return panel;
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
    figure.columns = 2;
    if (v.measured)
        figure.caption.push_back("measured: " + v.measured->words +
                                 (v.measured->note.empty() ? "" : "; " + v.measured->note));
    if (const auto* m = v.judged())
        figure.caption.push_back(fmt::format("{}: {} in [0.75, 1.25], {} below 0.1, largest {:.4g}; {}",
                                             v.measured ? "measured" : "predicted",
                                             report::percent(m->window), report::percent(m->collapsed),
                                             m->largest, v.verdict.pass ? "PASS" : "FAIL"));
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
    figure.title = "isometry over checkpoints";
    const auto panel = [&](const char* label, double Metrics::*member) {
        plot::Panel p;
        p.x = {steps ? "step" : "checkpoint", plot::Scale::linear, *ends.first - room, *ends.second + room};
        p.y = {label, plot::Scale::linear, 0, 1};
        std::vector<double> measured, predicted;
        for (const auto& v : all) {
            measured.push_back(v.measured ? v.measured->metrics.*member : NAN);
            predicted.push_back(v.predicted() ? v.predicted()->metrics.*member : NAN);
        }
        const auto any = [](const auto& y) {
            return std::any_of(y.begin(), y.end(), [](double value) { return std::isfinite(value); });
        };
        if (any(predicted))
            p.series.push_back({"theory", plot::Mark::line, plot::Dash::dashed, 2, blue, x, predicted});
        if (any(measured))
            p.series.push_back(
                {"measured", plot::Mark::points, plot::Dash::solid, 5, "#000000", x, measured});
        fit_y(p);
        return p;
    };
    for (const auto member : {&Metrics::window, &Metrics::collapsed, &Metrics::largest, &Metrics::effective_rank})
        figure.panels.push_back(panel(metric(member).label, member));
    figure.columns = 2;
    return figure;
}

}  // namespace spectra::validation
