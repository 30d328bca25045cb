#include "described_network.hpp"
#include "figures/pieces.hpp"

#include <fmt/format.h>

namespace spectra::cli {

Drawing draw_gate(const FigureRequest& request, Progress& progress) {
    constexpr int steps = 32;
    const std::vector<double> shares(std::begin(shown_shares), std::end(shown_shares));
    std::vector<double> gates;
    for (int k = 0; k <= steps; ++k) gates.push_back(static_cast<double>(k) / steps);

    Drawing drawing;
    for (const int depth : depths_or(request, {2, 10})) {
        std::vector<Network> networks;
        for (const double gate : gates) {
            // Draws read the same numbers whatever the gate: the curves are those of one u, v and k a layer.
            Request described = network_request(request, "cayley-hybrid", default_noise);
            described.depth = depth;
            described.recipe.gate = gate;
            networks.push_back(describe_network(described).network);
        }
        std::vector<Quantiles> columns(gates.size());
        for_all(request, progress, fmt::format("L = {}", depth), gates.size(),
                [&](std::size_t k) { columns[k] = quantiles(networks[k], shares); });
        auto panel = quantile_panel(gates, columns, drawing);
        panel.heading = fmt::format("L = {}", depth);
        frame_x(panel, "gate γ of γQ + (1 − γ)H₂", report::Scale::linear);
        frame_y(panel, "singular value s", report::Scale::logarithmic);
        drawing.figure.panels.push_back(std::move(panel));
    }
    drawing.figure.title = "Cayley-hybrid mixers: singular values of the Jacobian against the gate";
    drawing.figure.columns = std::min<std::size_t>(3, drawing.figure.panels.size());
    drawing.figure.caption = {fmt::format("Operator-valued theory, p → ∞; {}; β = 1; one draw of u, v, k a layer "
                                          "for all gates",
                                          setting_words(request, default_noise)),
                              certificate_of(drawing)};
    return drawing;
}

}  // namespace spectra::cli
