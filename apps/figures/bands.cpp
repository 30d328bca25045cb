#include "figures/pieces.hpp"

#include <fmt/format.h>

#include <cmath>

namespace spectra::cli {

Drawing draw_bands(const FigureRequest& request, Progress& progress) {
    const auto mixers = mixers_or(request, {"identity", "cayley-hybrid", "bistochastic"});
    const auto depths = depths_of_curve(request, 1000, 8);
    const std::vector<double> shares(std::begin(shown_shares), std::end(shown_shares));
    const auto x = log10_of(depths);

    Drawing drawing;
    for (const auto& mixer : mixers) {
        const auto networks = networks_at(request, mixer, depths);
        std::vector<Quantiles> columns(depths.size());
        for_all(request, progress, mixer, depths.size(),
                [&](std::size_t k) { columns[k] = quantiles(networks[k], shares); });
        auto panel = quantile_panel(x, columns, drawing);
        panel.heading = mixer;
        frame_x(panel, "depth L (layers)", plot::Scale::logarithmic);
        frame_y(panel, "singular value s", plot::Scale::logarithmic);
        drawing.figure.panels.push_back(std::move(panel));
    }
    drawing.figure.title = "Singular values of the Jacobian against depth";
    drawing.figure.columns = std::min<std::size_t>(3, mixers.size());
    drawing.figure.caption = {fmt::format("Operator-valued theory, p → ∞; {}; a mixer for every layer",
                                          setting_words(request, default_noise)),
                              certificate_of(drawing)};
    return drawing;
}

}  // namespace spectra::cli
