#include "dyson/law/potential.hpp"
#include "study/figures/panels.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace spectra::study {

Drawing draw_collapse(const FigureRequest& request, Observer& observer) {
    constexpr double threshold = 0.1;
    const auto mixers = mixers_or(
        request, {"bistochastic", "permutation", "spectral-sphere", "grassmann", "cayley-hybrid", "cayley"});
    const auto depths = depths_of_curve(request, 1000, 10);
    const auto x = log10_of(depths);

    Drawing drawing;
    plot::Panel panel;
    for (const auto& mixer : mixers) {
        const auto networks = networks_at(request, mixer, depths);
        std::vector<double> share(depths.size(), std::numeric_limits<double>::quiet_NaN());
        std::vector<char> certified(depths.size());
        for_all(request, observer, mixer, depths.size(), [&](std::size_t k) {
            const auto point = dyson::mass_below(networks[k], {std::log(threshold)}).front();
            certified[k] = point.certified ? 1 : 0;
            if (point.certified) share[k] = point.mass;
        });
        drawing.points += static_cast<int>(depths.size());
        for (const char c : certified) drawing.uncertified += c == 0 ? 1 : 0;
        panel.series.push_back(line(mixer, panel.series.size(), x, share));
    }
    frame_x(panel, "depth L (layers)", plot::Scale::logarithmic);
    panel.y = {"share below 0.1", plot::Scale::linear, -0.02, 1.02};
    drawing.figure.panels.push_back(std::move(panel));
    drawing.figure.title = "Collapse with depth";
    drawing.figure.panel_height = 44;
    drawing.figure.caption = {fmt::format("Operator-valued theory, p → ∞; {}; one mixer per layer",
                                          setting_words(request, default_noise)),
                              certificate_of(drawing)};
    return drawing;
}

}  // namespace spectra::study
