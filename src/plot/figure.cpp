#include "plot/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spectra::plot {

void fit_column(Figure& figure) {
    figure.width = column_width;
    figure.font_size = 6.5;
    figure.panel_height = std::min(figure.panel_height, 38.0);
    if (!figure.shared_axes) figure.columns = 1;
}

void turn_grey(Figure& figure) {
    for (auto& panel : figure.panels) {
        for (auto& series : panel.series) {
            const auto part = [&](std::size_t at) {
                return std::stoi(series.colour.substr(at, 2), nullptr, 16);
            };
            const int grey = static_cast<int>(0.299 * part(1) + 0.587 * part(3) + 0.114 * part(5));
            series.colour = fmt::format("#{0:02x}{0:02x}{0:02x}", grey);
        }
    }
}

}  // namespace spectra::plot
