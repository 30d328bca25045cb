#include "study/figures/panels.hpp"

#include "base/parallel.hpp"
#include "base/special_values.hpp"
#include "study/observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <stdexcept>

namespace spectra::study {

namespace {

/// The ends of what is drawn along one axis.
plot::Axis axis_around(const std::vector<const std::vector<double>*>& places, const std::string& label,
                         plot::Scale scale, double room) {
    plot::Axis axis{label, scale, infinity, -infinity};
    for (const auto* values : places)
        for (const double value : *values)
            if (std::isfinite(value)) {
                axis.min = std::min(axis.min, value);
                axis.max = std::max(axis.max, value);
            }
    if (axis.min > axis.max) axis.min = 0, axis.max = 1;
    const double least = scale == plot::Scale::logarithmic ? 0.02 : 1e-3;
    const double pad = std::max(room * (axis.max - axis.min), room > 0 || axis.min == axis.max ? least : 0);
    axis.min -= pad;
    axis.max += pad;
    return axis;
}

}  // namespace

void set_style(plot::Series& series, std::size_t index) {
    struct Style {
        const char* colour;
        plot::Dash dash;
        double width;
    };
    using plot::Dash;
    constexpr Style styles[] = {{"#000000", Dash::solid, 2.2},       {"#d55e00", Dash::dashed, 2.6},
                                {"#0072b2", Dash::dash_dotted, 2.6}, {"#009e73", Dash::dotted, 3.2},
                                {"#cc79a7", Dash::solid, 3.6},       {"#e69f00", Dash::dashed, 3.8},
                                {"#56b4e9", Dash::dotted, 4.2}};
    const auto& style = styles[index % std::size(styles)];
    series.colour = style.colour;
    series.dash = style.dash;
    series.width = style.width;
}

plot::Series line(const std::string& label, std::size_t index, std::vector<double> x,
                    std::vector<double> y) {
    plot::Series series;
    series.label = label;
    set_style(series, index);
    series.x = std::move(x);
    series.y = std::move(y);
    return series;
}

std::string tint(const std::string& colour) {
    return plot::colour_of({1, "#ffffff", "#ffffff", colour}, 0.25);
}

void add_dotted(plot::Panel& panel, plot::Series curve) {
    auto dots = curve;
    dots.label.clear();
    dots.mark = plot::Mark::points;
    dots.width = 14;
    panel.series.push_back(std::move(curve));
    panel.series.push_back(std::move(dots));
}

double log10_of(double value) {
    return value > 0 ? std::log10(value) : nan;
}

std::vector<double> log10_of(std::vector<double> values) {
    for (auto& value : values) value = log10_of(value);
    return values;
}

void frame_x(plot::Panel& panel, const std::string& label, plot::Scale scale) {
    std::vector<const std::vector<double>*> places;
    for (const auto& series : panel.series) places.push_back(&series.x);
    panel.x = axis_around(places, label, scale, 0);
}

void frame_y(plot::Panel& panel, const std::string& label, plot::Scale scale) {
    std::vector<const std::vector<double>*> places;
    for (const auto& series : panel.series) {
        places.push_back(&series.y);
        places.push_back(&series.lower);
    }
    panel.y = axis_around(places, label, scale, 0.05);
}

Request network_request(const FigureRequest& request, const std::string& mixer, double noise) {
    Request network;
    network.mixer = mixer;
    network.streams = request.streams;
    network.noise = request.noise.value_or(noise);
    network.seed = request.seed;
    network.threads = request.threads;
    network.recipe.sinkhorn_iterations = request.sinkhorn_iterations;
    network.recipe.logit_scale = request.logit_scale.value_or(network.recipe.logit_scale);
    return network;
}

std::vector<std::string> mixers_or(const FigureRequest& request, const std::vector<std::string>& names) {
    return request.mixers.empty() ? names : request.mixers;
}

std::vector<int> depths_of_curve(const FigureRequest& request, int max_depth, int per_decade) {
    if (!request.depths.empty()) return request.depths;
    const int last = request.max_depth.value_or(max_depth);
    std::vector<int> depths;
    for (int k = 0;; ++k) {
        const double depth = std::round(std::pow(10.0, static_cast<double>(k) / per_decade));
        if (depth >= last) break;
        if (depths.empty() || depth > depths.back()) depths.push_back(static_cast<int>(depth));
    }
    depths.push_back(last);
    return depths;
}

std::vector<Network> networks_at(const FigureRequest& request, const std::string& mixer,
                                 const std::vector<int>& depths) {
    const Request described = network_request(request, mixer, default_noise);
    GrowingNetwork growing(described);
    std::vector<Network> networks;
    for (const int depth : depths) networks.push_back(growing.at(depth));
    return networks;
}

std::vector<double> log10_of(const std::vector<int>& depths) {
    return log10_of(std::vector<double>(depths.begin(), depths.end()));
}

std::vector<int> depths_or(const FigureRequest& request, const std::vector<int>& depths) {
    return request.depths.empty() ? depths : request.depths;
}

int depth_or(const FigureRequest& request, int depth) {
    if (request.depths.size() > 1 && request.name != "all")
        throw std::invalid_argument(
            fmt::format("`depths`: {} given; must be one for the figure {}", request.depths.size(), request.name));
    return request.depths.empty() ? depth : request.depths.back();
}

void for_all(const FigureRequest& request, Observer& observer, const std::string& stage, std::size_t count,
             const std::function<void(std::size_t)>& work) {
    observer.stage(stage);
    const int total = static_cast<int>(count);
    int finished = 0;
    std::mutex mutex;
    // The last are the deepest: first.
    parallel_for(count, request.threads, [&](std::size_t k) {
        if (observer.stopped()) return;
        work(count - 1 - k);
        const std::scoped_lock lock(mutex);
        observer.update(++finished, total);
    });
    throw_if_stopped(observer);
}

plot::Panel quantile_panel(const std::vector<double>& x, const std::vector<dyson::Quantiles>& columns,
                             Drawing& drawing) {
    constexpr std::size_t shares = std::size(shown_shares);
    std::vector<std::vector<double>> curves(shares);
    for (const auto& column : columns) {
        drawing.points += column.points;
        drawing.uncertified += column.uncertified;
        for (std::size_t k = 0; k < shares; ++k)
            curves[k].push_back(column.uncertified > 0 ? nan : column.log_s[k] / std::numbers::ln10);
    }
    plot::Panel panel;
    constexpr const char* labels[] = {"0.1–99.9 %", "12–88 %", "38–62 % of the singular values"};
    constexpr const char* colours[] = {"#d3e0ec", "#8db4d6", "#2f6ea5"};
    for (std::size_t k = 0; k < shares / 2; ++k) {
        plot::Series band;
        band.label = labels[k];
        band.mark = plot::Mark::band;
        band.colour = colours[k];
        band.x = x;
        band.lower = curves[k];
        band.y = curves[shares - 1 - k];
        panel.series.push_back(std::move(band));
    }
    return panel;
}

void add_quantile_panels(Drawing& drawing, const FigureRequest& request, Observer& observer,
                         const std::vector<double>& x, const std::string& x_label,
                         const std::function<Network(int, double)>& network) {
    const std::vector<double> shares(std::begin(shown_shares), std::end(shown_shares));
    const auto stop_check = [&observer] { throw_if_stopped(observer); };
    for (const int depth : depths_or(request, {2, 10})) {
        std::vector<Network> networks;
        for (const double value : x) networks.push_back(network(depth, value));
        std::vector<dyson::Quantiles> columns(x.size());
        for_all(request, observer, fmt::format("L = {}", depth), x.size(),
                [&](std::size_t k) { columns[k] = dyson::quantiles(networks[k], shares, stop_check); });
        auto panel = quantile_panel(x, columns, drawing);
        panel.heading = fmt::format("L = {}", depth);
        frame_x(panel, x_label, plot::Scale::linear);
        frame_y(panel, "singular value s", plot::Scale::logarithmic);
        drawing.figure.panels.push_back(std::move(panel));
    }
    drawing.figure.columns = std::min<std::size_t>(3, drawing.figure.panels.size());
}

std::string certificate_of(const Drawing& drawing) {
    return drawing.uncertified == 0
               ? fmt::format("every point certified ({} points)", drawing.points)
               : fmt::format("{} of {} points NOT certified, left out", drawing.uncertified, drawing.points);
}

std::string setting_words(const FigureRequest& request, double noise) {
    return fmt::format("n = {}, Lσ² = {:.6g}, seed {}", request.streams.value_or(default_streams),
                       request.noise.value_or(noise), request.seed);
}

}  // namespace spectra::study
