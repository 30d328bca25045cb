#include "plot/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace spectra::plot {

void fit_column(Figure& figure) {
    figure.width = column_width;
    figure.font_size = 6.5;
    figure.panel_height = std::min(figure.panel_height, 38.0);
    if (!figure.shared_axes) figure.columns = figure.matrices ? std::min<std::size_t>(figure.columns, 2) : 1;
}

namespace {

/// Red, green and blue of "#rrggbb", from 0 to 1.
std::array<double, 3> parts(const std::string& colour) {
    std::array<double, 3> out{};
    for (std::size_t k = 0; k < 3; ++k) out[k] = std::stoi(colour.substr(1 + 2 * k, 2), nullptr, 16) / 255.0;
    return out;
}

std::string joined(const std::array<double, 3>& parts) {
    std::string out = "#";
    for (const double part : parts)
        out += fmt::format("{:02x}", static_cast<int>(std::lround(255 * std::clamp(part, 0.0, 1.0))));
    return out;
}

/// From 0 to 1, as print shows it.
double greyness(const std::string& colour) {
    const auto [red, green, blue] = parts(colour);
    return 0.299 * red + 0.587 * green + 0.114 * blue;
}

}  // namespace

bool is_dark(const std::string& colour) {
    return greyness(colour) < 0.48;
}

std::string colour_of(const ColourScale& scale, double value) {
    const auto from = parts(scale.zero), to = parts(value < 0 ? scale.below : scale.above);
    const double share = std::min(std::abs(value) / scale.limit, 1.0);
    std::array<double, 3> mixed{};
    for (std::size_t k = 0; k < 3; ++k) mixed[k] = std::lerp(from[k], to[k], share);
    return joined(mixed);
}

void turn_grey(Figure& figure) {
    for (auto& panel : figure.panels) {
        for (auto& series : panel.series) {
            const int grey = static_cast<int>(255 * greyness(series.colour));
            series.colour = fmt::format("#{0:02x}{0:02x}{0:02x}", grey);
            // From light to dark: two hues would be one grey.
            series.scale = {series.scale.limit, "#ffffff", "#b4b4b4", "#202020"};
        }
    }
}

std::string on_dark(const std::string& colour) {
    constexpr double lightest = 0.95, page = 0.09;  // lightness of black, and of white
    constexpr double strong = 0.3, readable = 0.6;  // from this chroma on, at least this light
    const std::array<double, 3> rgb = parts(colour);
    const double least = std::min({rgb[0], rgb[1], rgb[2]}), most = std::max({rgb[0], rgb[1], rgb[2]});
    const double chroma = most - least, light = (most + least) / 2;
    double turned = lightest + (page - lightest) * light;
    if (chroma > strong) turned = std::max({light, turned, readable});
    // The same hue and saturation: chroma is the saturation times 1 − |2 lightness − 1|.
    const double room = 1 - std::abs(2 * light - 1);
    const double scale = room > 0 ? (1 - std::abs(2 * turned - 1)) / room : 0;
    std::array<double, 3> out{};
    for (std::size_t k = 0; k < 3; ++k) out[k] = turned + scale * (rgb[k] - light);
    return joined(out);
}

}  // namespace spectra::plot
