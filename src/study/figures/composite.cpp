#include "layouts/mixer_table.hpp"
#include "linalg/eigen_instances.hpp"
#include "montecarlo/run/simulate.hpp"
#include "study/figures/mixer_stacks.hpp"
#include "study/figures/panels.hpp"

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

/// Mean over inputs and standard deviation, over the connections.
struct OverInputs {
    std::vector<double> mean, deviation;
};

/// Of number(k, l) at input k after connection l, from 0.
template <class Number>
OverInputs over_inputs(const MixerStack& stack, Number number) {
    OverInputs out;
    const auto count = static_cast<double>(stack.inputs.size());
    for (std::size_t l = 0; l < stack.depth(); ++l) {
        double sum = 0, squares = 0;
        for (std::size_t k = 0; k < stack.inputs.size(); ++k) sum += number(k, l);
        for (std::size_t k = 0; k < stack.inputs.size(); ++k)
            squares += std::pow(number(k, l) - sum / count, 2);
        out.mean.push_back(sum / count);
        out.deviation.push_back(count > 1 ? std::sqrt(squares / (count - 1)) : 0);
    }
    return out;
}

/// The smallest and the largest sum of rows and columns over all inputs, as two lines of one kind.
void add_sums(plot::Panel& panel, const std::string& label, std::size_t style, const std::vector<double>& x,
              const std::vector<std::vector<Mixer>>& inputs) {
    std::vector<double> least(x.size(), INFINITY), most(x.size(), -INFINITY);
    for (const auto& mixers : inputs)
        for (std::size_t l = 0; l < mixers.size(); ++l) {
            const Eigen::VectorXd rows = mixers[l].rowwise().sum(), columns = mixers[l].colwise().sum();
            least[l] = std::min({least[l], rows.minCoeff(), columns.minCoeff()});
            most[l] = std::max({most[l], rows.maxCoeff(), columns.maxCoeff()});
        }
    panel.series.push_back(line(label, style, x, least));
    panel.series.push_back(line("", style, x, most));
}

/// Trained models: their mixers, and the products of these over depth, at the inputs of the file.
Drawing composites_of_files(const FigureRequest& request) {
    const auto stacks = mixer_stacks(request, {});
    Drawing drawing;
    plot::Panel layers, products_sums, norms;
    for (std::size_t s = 0; s < stacks.size(); ++s) {
        const auto& stack = stacks[s];
        std::vector<double> x;
        for (std::size_t l = 0; l < stack.depth(); ++l) x.push_back(static_cast<double>(l + 1));
        std::vector<std::vector<Mixer>> composites;
        std::vector<std::vector<double>> norm;
        for (const auto& mixers : stack.inputs) {
            composites.push_back(products(mixers));
            norm.emplace_back();
            for (const auto& product : composites.back())
                norm.back().push_back(Eigen::JacobiSVD<Mixer>(product).singularValues()(0));
        }
        add_sums(layers, stack.label, s, x, stack.inputs);
        add_sums(products_sums, stack.label, s, x, composites);
        const auto [mean, deviation] =
            over_inputs(stack, [&](std::size_t k, std::size_t l) { return norm[k][l]; });
        plot::Series band = line("", s, x, mean);
        band.mark = plot::Mark::band;
        band.lower = mean;
        for (std::size_t l = 0; l < x.size(); ++l) band.y[l] += deviation[l], band.lower[l] -= deviation[l];
        band.colour = tint(band.colour);
        norms.series.insert(norms.series.begin(), std::move(band));
        norms.series.push_back(line(stack.label, s, x, mean));
        drawing.numbers.emplace_back(stack.label + ": spectral norm of the product", mean.back());
        drawing.numbers.emplace_back(stack.label + ": its standard deviation", deviation.back());
    }
    const auto add = [&](plot::Panel& panel, const char* label) {
        frame_x(panel, "connection", plot::Scale::whole);
        frame_y(panel, label, plot::Scale::linear);
        drawing.figure.panels.push_back(std::move(panel));
    };
    add(layers, "sums of a mixer");
    add(products_sums, "sums of the product");
    add(norms, "norm of the product");
    drawing.figure.title = "Mixers of trained models and their products, A(l) ⋯ A(1)";
    drawing.figure.caption = {fmt::format(
        "{}; sums: smallest and largest of all rows, columns and inputs; spectral norm: mean and standard deviation over inputs",
        origin(request, stacks))};
    return drawing;
}

/// Largest |row sum − 1| and |column sum − 1|.
double off_bistochastic(const Mixer& a) {
    return std::max((a.rowwise().sum().array() - 1).abs().maxCoeff(),
                    (a.colwise().sum().array() - 1).abs().maxCoeff());
}

}  // namespace

Drawing draw_composite(const FigureRequest& request, Observer& observer) {
    if (!request.files.empty()) return composites_of_files(request);
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
    drawing.figure.caption = {fmt::format(
        "One draw, {}; no branch; one mixer per layer; sums of rows and of columns; singular values below 10⁻¹⁶ "
        "of the largest from a graded product",
        drawn_words(request))};
    return drawing;
}

}  // namespace spectra::study
