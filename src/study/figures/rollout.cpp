#include "study/build_network.hpp"
#include "dyson/exact/moments.hpp"
#include "study/figures/panels.hpp"
#include "montecarlo/sample/layer.hpp"
#include "montecarlo/sample/sampler.hpp"
#include "network/slice.hpp"
#include "random/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spectra::study {

namespace {

/// ln ‖J_l x‖/‖x‖ for l = 0 … L of one sample, x uniform on the sphere.
std::vector<double> log_growth(const Network& network, std::uint64_t seed, std::uint32_t sample) {
    const auto layers = montecarlo::scaled_layers(network);
    montecarlo::Sampler sampler(network.streams, network.width);
    Eigen::VectorXd x(network.size());
    random::Stream(seed, random::Purpose::probe, 0, sample)
        .fill_normal({x.data(), static_cast<std::size_t>(x.size())});
    x.normalize();
    Eigen::MatrixXd y(network.size(), network.size());
    std::vector<double> growth{0};
    double logarithm = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        sampler.draw_layer(layers[l], static_cast<std::uint32_t>(l), seed, sample, y.data());
        x = y * x;
        const double norm = x.norm();
        logarithm += std::log(norm) + layers[l].exponent * std::log(2.0);
        growth.push_back(logarithm);
        if (norm > 0) x /= norm;
    }
    return growth;
}

/// Statistics of ‖J_l x‖/‖x‖ over the samples at one layer.
struct Growth {
    double low, high, root_mean_square, error;  ///< 5 and 95 %; error: of the mean square, relative
};

Growth summary(std::vector<double> logs) {
    std::sort(logs.begin(), logs.end());
    const auto count = static_cast<double>(logs.size());
    double mean = 0, square = 0;
    for (const double v : logs) mean += std::exp(2 * v) / count;
    for (const double v : logs) square += std::pow(std::exp(2 * v) - mean, 2);
    const auto quantile = [&](double u) {
        return std::exp(logs[static_cast<std::size_t>(std::lround(u * (count - 1)))]);
    };
    return {quantile(0.05), quantile(0.95), std::sqrt(mean), std::sqrt(square / (count - 1) / count) / mean};
}

}  // namespace

Drawing draw_rollout(const FigureRequest& request, Observer& observer) {
    constexpr double noise = 1;
    const auto mixers = mixers_or(request, {"orthogonal", "spectral-sphere", "bistochastic"});
    const int depth = depth_or(request, 100), samples = request.samples.value_or(100);
    const auto layers = static_cast<std::size_t>(depth);

    Drawing drawing;
    int width = 0;
    for (const auto& mixer : mixers) {
        Request described = network_request(request, mixer, noise);
        described.depth = depth;
        described.width = request.width.value_or(default_width);
        const Network network = describe_network(described).network;
        width = network.width;
        std::vector<std::vector<double>> logs(static_cast<std::size_t>(samples));
        for_all(request, observer, mixer, logs.size(), [&](std::size_t k) {
            logs[k] = log_growth(network, request.seed, static_cast<std::uint32_t>(k));
        });
        std::vector<double> x, low, high, measured, expected;
        double worst = 0;
        for (std::size_t l = 0; l <= layers; ++l) {
            std::vector<double> here;
            for (const auto& growth : logs) here.push_back(growth[l]);
            const auto growth = summary(std::move(here));
            const double exact = l == 0 ? 1.0 : dyson::mean_square(part_of(network, 0, l));
            x.push_back(static_cast<double>(l));
            low.push_back(log10_of(growth.low));
            high.push_back(log10_of(growth.high));
            measured.push_back(log10_of(growth.root_mean_square));
            expected.push_back(0.5 * std::log10(exact));
            if (l > 0)
                worst = std::max(worst,
                                 std::abs(std::pow(growth.root_mean_square, 2) / exact - 1) / growth.error);
        }
        plot::Panel panel;
        plot::Series band;
        band.label = "5–95 % of the samples";
        band.mark = plot::Mark::band;
        band.colour = "#c9d9e8";
        band.x = x;
        band.lower = low;
        band.y = high;
        panel.series.push_back(std::move(band));
        auto simulated = line("root mean square, simulation", 1, x, measured);
        simulated.dash = plot::Dash::solid;
        simulated.width = 4.5;
        panel.series.push_back(std::move(simulated));
        panel.series.push_back(line("root mean square, theory", 0, x, expected));
        panel.series.back().dash = plot::Dash::dashed;
        panel.heading = mixer;
        frame_x(panel, "layer l", plot::Scale::linear);
        frame_y(panel, "‖x(l)‖ / ‖x(0)‖", plot::Scale::logarithmic);
        drawing.figure.panels.push_back(std::move(panel));
        drawing.numbers.emplace_back(mixer + "_largest_deviation_in_standard_errors", worst);
    }
    drawing.figure.title = "Growth of random vectors from layer to layer";
    drawing.figure.columns = std::min<std::size_t>(3, mixers.size());
    drawing.figure.caption = {fmt::format(
        "L = {}, {}, p = {}, {} samples; theory: the recursion of the mean square, exact at every width",
        depth, setting_words(request, noise), width, samples)};
    return drawing;
}

}  // namespace spectra::study
