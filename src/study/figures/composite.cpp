#include "study/figures/panels.hpp"
#include "montecarlo/run/simulate.hpp"
#include "layouts/mixer_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace spectra::study {

namespace {

/// ln of the smallest singular value of A_L ··· A_1, whatever its size: a Jacobian of width 1 without noise.
double log_smallest(const std::vector<Mixer>& mixers, int depth) {
    Network network;
    network.streams = static_cast<int>(mixers.front().rows());
    network.width = 1;
    network.mixers.assign(mixers.begin(), mixers.begin() + depth);
    network.branch = IsotropicBranch{std::vector<double>(static_cast<std::size_t>(depth), 0.0)};
    montecarlo::Options options;
    options.samples = 1;
    options.threads = 1;
    options.keep = montecarlo::Keep::values;
    return montecarlo::simulate(network, options).log_values.front();
}

/// Largest |row sum − 1| and |column sum − 1|.
double off_bistochastic(const Mixer& a) {
    return std::max((a.rowwise().sum().array() - 1).abs().maxCoeff(),
                    (a.colwise().sum().array() - 1).abs().maxCoeff());
}

}  // namespace

Drawing draw_composite(const FigureRequest& request, Observer& observer) {
    constexpr double rounding = std::numeric_limits<double>::epsilon();  // sums are no better
    const auto mixers =
        mixers_or(request, {"bistochastic", "cayley-hybrid", "spectral-sphere", "cayley", "orthogonal"});
    const auto depths = depths_of_curve(request, 1000, 20);
    const auto x = log10_of(depths);

    plot::Panel sums, norms, smallest;
    for (std::size_t m = 0; m < mixers.size(); ++m) {
        observer.stage(mixers[m]);
        throw_if_stopped(observer);
        const Request described = network_request(request, mixers[m], 0);
        GrowingNetwork growing(described);
        const auto layers = growing.at(depths.back()).mixers;
        const auto composites = layouts::tabulate(layers).composites;
        std::vector<double> deviation, norm, last;
        Mixer product = Mixer::Identity(layers.front().rows(), layers.front().cols());
        std::size_t done = 0;
        for (const int depth : depths) {
            const auto l = static_cast<std::size_t>(depth - 1);
            while (done <= l) product = layers[done++] * product;
            deviation.push_back(log10_of(std::max(off_bistochastic(product), rounding)));
            norm.push_back(std::log10(composites[l].spectral_norm));
            last.push_back(log_smallest(layers, depth) / std::numbers::ln10);
        }
        sums.series.push_back(line(mixers[m], m, x, deviation));
        norms.series.push_back(line(mixers[m], m, x, norm));
        smallest.series.push_back(line(mixers[m], m, x, last));
    }
    for (auto* panel : {&sums, &norms, &smallest})
        frame_x(*panel, "depth L (layers)", plot::Scale::logarithmic);
    frame_y(sums, "largest |sum − 1|", plot::Scale::logarithmic);
    frame_y(norms, "spectral norm", plot::Scale::logarithmic);
    frame_y(smallest, "smallest singular value", plot::Scale::logarithmic);

    Drawing drawing;
    drawing.figure.title = "The product of the mixers alone, A(L) ⋯ A(1)";
    drawing.figure.panels = {std::move(sums), std::move(norms), std::move(smallest)};
    std::string drawn;
    if (request.logit_scale) drawn += fmt::format(", logits N(0, {:g}²)", *request.logit_scale);
    if (request.sinkhorn_iterations)
        drawn += fmt::format(", {} sweeps of Sinkhorn", *request.sinkhorn_iterations);
    drawing.figure.caption = {fmt::format(
        "One draw, n = {}, seed {}{}; no branch; one mixer per layer; sums of rows and of columns; singular values below 10⁻¹⁶ "
        "of the largest from a graded product",
        request.streams.value_or(default_streams), request.seed, drawn)};
    return drawing;
}

}  // namespace spectra::study
