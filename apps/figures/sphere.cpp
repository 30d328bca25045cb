#include "described_network.hpp"
#include "figures/pieces.hpp"

#include <fmt/format.h>

namespace spectra::cli {

namespace {

/// A = J + U_Z U diag(σ) Vᵀ U_Zᵀ with σ multiplied by the bound: J + bound·(A − J), J = 11ᵀ/n.
Mixer bounded(const Mixer& a, double bound) {
    const Mixer mean = Mixer::Constant(a.rows(), a.cols(), 1.0 / static_cast<double>(a.rows()));
    return mean + bound * (a - mean);
}

}  // namespace

Drawing draw_sphere(const FigureRequest& request, Progress& progress) {
    constexpr int steps = 30;
    constexpr double largest = 1.5;
    const std::vector<double> shares(std::begin(shown_shares), std::end(shown_shares));
    std::vector<double> bounds;
    for (int k = 0; k <= steps; ++k) bounds.push_back(largest * k / steps);

    Drawing drawing;
    for (const int depth : depths_or(request, {2, 10})) {
        Request described = network_request(request, "spectral-sphere", default_noise);
        described.depth = depth;
        const Network drawn = describe_network(described).network;
        std::vector<Network> networks(bounds.size(), drawn);
        for (std::size_t k = 0; k < bounds.size(); ++k)
            for (auto& mixer : networks[k].mixers) mixer = bounded(mixer, bounds[k]);
        std::vector<Quantiles> columns(bounds.size());
        for_all(request, progress, fmt::format("L = {}", depth), bounds.size(),
                [&](std::size_t k) { columns[k] = quantiles(networks[k], shares); });
        auto panel = quantile_panel(bounds, columns, drawing);
        panel.heading = fmt::format("L = {}", depth);
        frame_x(panel, "bound r of the singular values r·tanh N(0, 1)", report::Scale::linear);
        frame_y(panel, "singular value s", report::Scale::logarithmic);
        drawing.figure.panels.push_back(std::move(panel));
    }
    drawing.figure.title = "Spectral-sphere mixers: singular values of the Jacobian against the bound";
    drawing.figure.columns = std::min<std::size_t>(3, drawing.figure.panels.size());
    drawing.figure.caption = {fmt::format("Operator-valued theory, p → ∞; {}; one draw of the mixers; "
                                          "r = 1: spectral-sphere",
                                          setting_words(request, default_noise)),
                              certificate_of(drawing)};
    return drawing;
}

}  // namespace spectra::cli
