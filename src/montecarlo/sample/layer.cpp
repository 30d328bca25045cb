#include "montecarlo/sample/layer.hpp"

#include "linalg/eigen_instances.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace spectra::montecarlo {
namespace {

/// e with x in [2^{e−1}, 2^e); none if x is 0 or not finite.
std::optional<int> exponent_of(double x) {
    if (!(x > 0) || !std::isfinite(x)) return {};
    int exponent = 0;
    std::frexp(x, &exponent);
    return exponent;
}

/// x·2^exponent, exact if the result is in range.
template <typename Matrix>
void shift(Matrix& matrix, int exponent) {
    matrix = matrix.unaryExpr([exponent](double x) { return std::ldexp(x, exponent); }).eval();
}

/// Moves the power of two of `values` into that of the layer; 0 removes the branch.
void normalise(Eigen::VectorXd& values, Layer& layer) {
    if (const auto exponent = exponent_of(values.cwiseAbs().maxCoeff())) {
        shift(values, -*exponent);
        layer.exponent += *exponent;
    } else {
        layer.sigma = 0;
    }
}

/// F of a layer: its σ, and its law in units of σ if it is not Gaussian.
struct Factor {
    double sigma = 0;
    std::shared_ptr<const std::vector<double>> law = {};
};

Factor factor_of_law(const std::vector<double>& singular_values, int size) {
    auto values = spread(singular_values, size);
    const double largest = values.back();
    if (!(largest > 0)) return {};
    double square = 0;
    for (double& t : values) {
        t /= largest;
        square += t * t;
    }
    const double unit = std::sqrt(square / size);
    for (double& t : values) t /= unit;
    return {largest * unit, std::make_shared<const std::vector<double>>(std::move(values))};
}

std::vector<Factor> factors(const std::vector<double>& sigma2, const BranchLaw& law, std::size_t depth,
                            int size) {
    if (law.size() == 1) return std::vector<Factor>(depth, factor_of_law(law.front(), size));
    std::vector<Factor> out;
    for (std::size_t l = 0; l < depth; ++l)
        out.push_back(law.empty() ? Factor{std::sqrt(sigma2.at(l))} : factor_of_law(law.at(l), size));
    return out;
}

Layer hyper_connection(const Factor& factor, const Eigen::VectorXd& pre, const Eigen::VectorXd& post) {
    Layer layer;
    layer.exponent = exponent_of(factor.sigma).value_or(0);
    layer.sigma = std::ldexp(factor.sigma, -layer.exponent);
    layer.law = factor.law;
    layer.pre = pre;
    layer.post = post;
    normalise(layer.pre, layer);
    normalise(layer.post, layer);
    return layer;
}

/// An orthonormal basis of what the columns leave.
Eigen::MatrixXd complement(const Eigen::MatrixXd& columns) {
    const Eigen::Index rows = columns.rows();
    if (columns.cols() == 0) return Eigen::MatrixXd::Identity(rows, rows);
    const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(columns).householderQ();
    return q.rightCols(rows - columns.cols());
}

/// The branch of every layer, without its mixer.
struct Branches {
    const Network& network;
    Slopes slopes;
    const std::size_t depth = network.mixers.size();

    std::vector<Layer> operator()(const IsotropicBranch& branch) const {
        std::vector<Layer> layers;
        for (const auto& [sigma, law] : factors(branch.sigma2, branch.law, depth, network.size())) {
            layers.emplace_back().sigma = sigma;
            layers.back().law = law;
        }
        return layers;
    }

    std::vector<Layer> operator()(const ActivationBranch& branch) const {
        if (slopes == Slopes::propagated && branch.activation.kind == ActivationKind::bernoulli)
            throw std::invalid_argument(
                "slopes are propagated, but bernoulli has no values to propagate; use drawn");
        std::vector<Layer> layers;
        for (std::size_t l = 0; l < depth; ++l) {
            Neurons neurons{branch.activation, 1, std::sqrt(branch.sigma_w2.at(l)), slopes};
            const auto& variances = branch.preactivation_variance;
            if (!variances.empty()) neurons.preactivation_variance = variances.at(l);
            const double slope2 = mean_derivative2(neurons.activation, neurons.preactivation_variance);
            layers.emplace_back().sigma = neurons.sigma_w * std::sqrt(slope2);
            layers.back().neurons = neurons;
        }
        return layers;
    }

    std::vector<Layer> operator()(const HyperConnectionBranch& branch) const {
        const auto of_layer = factors(branch.sigma2, branch.law, depth, network.width);
        std::vector<Layer> layers;
        for (std::size_t l = 0; l < depth; ++l)
            layers.push_back(hyper_connection(of_layer[l], branch.pre.at(l), branch.post.at(l)));
        return layers;
    }

    std::vector<Layer> operator()(const AlignedBranch& branch) const {
        const auto weights = first_with_weights(network);
        std::vector<Layer> layers;
        for (std::size_t l = 0; l < depth; ++l) {
            const int free = static_cast<int>(branch.rest[l].size());
            const Factor factor = free > 0 ? factor_of_law(branch.rest[l], free) : Factor{};
            Kept kept{branch.kept[l].matrix(), complement(branch.kept[l].left), complement(branch.kept[l].right), {}, {}};
            if (!branch.derivative.empty()) {
                kept.add_left = branch.derivative[l].left * branch.derivative[l].values.asDiagonal();
                kept.add_right = branch.derivative[l].right;
            }
            Layer layer;
            layer.sigma = factor.sigma;
            layer.law = factor.law;
            if (branch.hyper_connection()) {
                layer.pre = branch.pre[l];
                layer.post = branch.post[l];
            }
            layer.kept = std::make_shared<const Kept>(std::move(kept));
            layer.weights = static_cast<std::uint32_t>(weights[l]);
            layers.push_back(std::move(layer));
        }
        return layers;
    }

    std::vector<Layer> operator()(const TiedBranch& branch) const {
        const auto weights = first_with_weights(network);
        std::vector<Layer> layers(depth);
        for (std::size_t l = 0; l < depth; ++l) {
            const Factor factor{std::sqrt(branch.sigma2.at(l))};
            layers[l].sigma = factor.sigma;
            if (branch.hyper_connection())
                layers[l] = hyper_connection(factor, branch.pre.at(l), branch.post.at(l));
            layers[l].weights = static_cast<std::uint32_t>(weights[l]);
        }
        return layers;
    }
};

}  // namespace

std::vector<Layer> scaled_layers(const Network& network, Slopes slopes) {
    return with_mixers(std::visit(Branches{network, slopes}, network.branch), network.mixers);
}

std::vector<Layer> with_mixers(std::vector<Layer> layers, const std::vector<Mixer>& mixers) {
    constexpr int none = std::numeric_limits<int>::min();
    for (std::size_t l = 0; l < layers.size(); ++l) {
        auto& layer = layers[l];
        layer.mixer = mixers[l];
        if (layer.kept) continue;  // measured: neither deep nor far from one
        int exponent = exponent_of(layer.mixer.cwiseAbs().maxCoeff()).value_or(none);
        if (const auto own = exponent_of(layer.sigma)) exponent = std::max(exponent, *own + layer.exponent);
        if (exponent == none) exponent = 0;
        shift(layer.mixer, -exponent);
        layer.sigma = std::ldexp(layer.sigma, layer.exponent - exponent);
        if (layer.neurons)
            layer.neurons->sigma_w = std::ldexp(layer.neurons->sigma_w, layer.exponent - exponent);
        layer.exponent = exponent;
    }
    return layers;
}

std::vector<double> spread(std::vector<double> values, int count) {
    std::sort(values.begin(), values.end());
    std::vector<double> out;
    const auto size = static_cast<std::size_t>(count);
    for (std::size_t k = 0; k < size; ++k) out.push_back(values[(2 * k + 1) * values.size() / (2 * size)]);
    return out;
}

}  // namespace spectra::montecarlo
