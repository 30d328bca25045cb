#include "study/build_network.hpp"
#include "study/figures/panels.hpp"

#include <fmt/format.h>

namespace spectra::study {

namespace {

/// A = J + U_Z U diag(σ) Vᵀ U_Zᵀ with σ multiplied by the bound: J + bound·(A − J), J = 11ᵀ/n.
Mixer bounded(const Mixer& a, double bound) {
    const Mixer mean = Mixer::Constant(a.rows(), a.cols(), 1.0 / static_cast<double>(a.rows()));
    return mean + bound * (a - mean);
}

}  // namespace

Drawing draw_sphere(const FigureRequest& request, Observer& observer) {
    constexpr int steps = 30;
    constexpr double largest = 1.5;
    std::vector<double> bounds;
    for (int k = 0; k <= steps; ++k) bounds.push_back(largest * k / steps);

    Drawing drawing;
    add_quantile_panels(drawing, request, observer, bounds, "bound r",
                        [&](int depth, double bound) {
                            Request described = network_request(request, "spectral-sphere", default_noise);
                            described.depth = depth;
                            auto network = describe_network(described).network;
                            for (auto& mixer : network.mixers) mixer = bounded(mixer, bound);
                            return network;
                        });
    drawing.figure.title = "Spectral-sphere mixers: singular values against the bound";
    drawing.figure.caption = {fmt::format("Operator-valued theory, p → ∞; {}; one draw of the mixers, "
                                          "with singular values r·tanh N(0, 1); r = 1: spectral-sphere",
                                          setting_words(request, default_noise)),
                              certificate_of(drawing)};
    return drawing;
}

}  // namespace spectra::study
