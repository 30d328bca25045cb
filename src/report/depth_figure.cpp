#include "report/depth_figure.hpp"

#include "base/special_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spectra::report {
namespace {

/// Deeper than that, depths are shown on a logarithmic axis.
constexpr int deepest_on_linear_axis = 40;

/// Depths as places on the axis.
class DepthAxis {
public:
    explicit DepthAxis(int deepest) : logarithmic_(deepest > deepest_on_linear_axis), deepest_(deepest) {}

    double place(double depth) const { return logarithmic_ ? std::log10(depth) : depth; }
    plot::Axis axis() const {
        const std::string label = "depth L (layers)";
        const double end = std::max(deepest_, 2);
        return logarithmic_ ? plot::Axis{label, plot::Scale::logarithmic, 0, std::log10(1.1 * end)}
                            : plot::Axis{label, plot::Scale::whole, 0.5, end + 0.5};
    }

private:
    bool logarithmic_;
    int deepest_;
};

/// A depth that is not certified interrupts the line.
plot::Series shares(const dyson::DepthLimit& limit, const DepthAxis& axis) {
    plot::Series series;
    for (const auto& point : limit.points) {
        series.x.push_back(axis.place(point.depth));
        series.y.push_back(point.certified ? point.share : nan);
    }
    return series;
}

plot::Series straight(const std::string& label, double x0, double y0, double x1, double y1) {
    plot::Series series;
    series.label = label;
    series.dash = plot::Dash::dashed;
    series.colour = "#d55e00";
    series.x = {x0, x1};
    series.y = {y0, y1};
    return series;
}

std::string limit_words(const DepthReport& report) {
    const auto& limit = report.limit;
    if (limit.stopped) return fmt::format("stopped at {}", limit.depth);
    return fmt::format("{}{} {}", limit.failed ? "limit: " : "at least ", limit.depth,
                       limit.depth == 1 ? "layer" : "layers");
}

void mark_limit(const DepthReport& report, const DepthAxis& axis, plot::Panel& panel) {
    if (report.limit.depth < 1) {
        panel.annotations.push_back({panel.x.min + 0.012 * (panel.x.max - panel.x.min), 0.06, "no depth keeps it"});
        return;
    }
    const double x = axis.place(report.limit.depth);
    auto mark = straight("", x, panel.y.min, x, panel.y.max);
    mark.dash = plot::Dash::dotted;
    mark.colour = "#000000";
    panel.series.push_back(std::move(mark));
    const double pad = 0.012 * (panel.x.max - panel.x.min);
    const bool left = x > 0.5 * (panel.x.min + panel.x.max);
    panel.annotations.push_back({left ? x - pad : x + pad, 0.06, limit_words(report), left});
}

}  // namespace

plot::Figure depth_figure(const DepthReport& report) {
    int deepest = 1;
    const auto reach = [&](const dyson::DepthLimit& limit) {
        for (const auto& point : limit.points) deepest = std::max(deepest, point.depth);
    };
    reach(report.limit);
    for (const auto& draw : report.draws) reach(draw);
    const DepthAxis axis(deepest);

    plot::Panel panel;
    panel.x = axis.axis();
    panel.y = {fmt::format("share of singular values ≥ {:.6g}", report.above), plot::Scale::linear, -0.02, 1.02};
    for (std::size_t k = 0; k < report.draws.size(); ++k) {
        auto draw = shares(report.draws[k], axis);
        draw.label = k == 0 ? "other draws of the mixers" : "";
        draw.colour = "#BBBBBB";
        draw.width = 1;
        panel.series.push_back(std::move(draw));
    }
    panel.series.push_back(straight(fmt::format("share to keep: {:.6g}", report.keep), panel.x.min, report.keep,
                                    panel.x.max, report.keep));
    auto line = shares(report.limit, axis);
    line.label = "operator-valued theory";
    auto dots = line;
    dots.label.clear();
    dots.mark = plot::Mark::points;
    dots.width = 14;
    panel.series.push_back(std::move(line));
    panel.series.push_back(std::move(dots));
    mark_limit(report, axis, panel);

    plot::Figure figure;
    figure.title = report.title;
    figure.panels.push_back(std::move(panel));
    figure.panel_height = 44;
    const auto uncertified = std::count_if(report.limit.points.begin(), report.limit.points.end(),
                                           [](const auto& point) { return !point.certified; });
    figure.caption = {uncertified == 0 ? fmt::format("every depth certified ({} depths)", report.limit.points.size())
                                       : fmt::format("{} of {} depths NOT certified, left out", uncertified,
                                                     report.limit.points.size())};
    return figure;
}

}  // namespace spectra::report
