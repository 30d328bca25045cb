#include "study/figures/panels.hpp"

#include <fmt/format.h>

#include <cmath>

namespace spectra::study {

Drawing draw_bands(const FigureRequest& request, Observer& observer) {
    const auto mixers = mixers_or(request, {"identity", "cayley-hybrid", "bistochastic"});
    const auto depths = depths_of_curve(request, 1000, 8);
    const std::vector<double> shares(std::begin(shown_shares), std::end(shown_shares));
    const auto x = log10_of(depths);

    Drawing drawing;
    for (const auto& mixer : mixers) {
        const auto networks = networks_at(request, mixer, depths);
        std::vector<dyson::Quantiles> columns(depths.size());
        for_all(request, observer, mixer, depths.size(),
                [&](std::size_t k) { columns[k] = dyson::quantiles(networks[k], shares, [&] { throw_if_stopped(observer); }); });
        auto panel = quantile_panel(x, columns, drawing);
        panel.heading = mixer;
        frame_x(panel, "depth L (layers)", plot::Scale::logarithmic);
        frame_y(panel, "singular value s", plot::Scale::logarithmic);
        drawing.figure.panels.push_back(std::move(panel));
    }
    drawing.figure.title = "Singular values of the Jacobian against depth";
    drawing.figure.columns = std::min<std::size_t>(3, mixers.size());
    drawing.figure.caption = {fmt::format("Operator-valued theory, p → ∞; {}; one mixer per layer",
                                          setting_words(request, default_noise)),
                              certificate_of(drawing)};
    return drawing;
}

}  // namespace spectra::study
