#include "study/build_network.hpp"
#include "study/figures/panels.hpp"

#include <fmt/format.h>

#include <cmath>

namespace spectra::study {

Drawing draw_gate(const FigureRequest& request, Observer& observer) {
    constexpr int steps = 32;
    std::vector<double> gates;
    for (int k = 0; k <= steps; ++k) {
        const double t = 2.0 * k / steps - 1;  // closer about ½, where mixers may be singular
        gates.push_back(0.5 * (1 + t * std::abs(t)));
    }

    Drawing drawing;
    add_quantile_panels(drawing, request, observer, gates, "gate γ of γQ + (1 − γ)H₂",
                        [&](int depth, double gate) {
                            // Draws use the same random numbers for every gate: each layer has one u, v
                            // and k along the curves.
                            Request described = network_request(request, "cayley-hybrid", default_noise);
                            described.depth = depth;
                            described.recipe.gate = gate;
                            return describe_network(described).network;
                        });
    drawing.figure.title = "Cayley-hybrid mixers: singular values against the gate";
    drawing.figure.caption = {
        fmt::format("Operator-valued theory, p → ∞; {}; β = 1; one draw of u, v, k per layer "
                    "for all gates",
                    setting_words(request, default_noise)),
        certificate_of(drawing)};
    return drawing;
}

}  // namespace spectra::study
