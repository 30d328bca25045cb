#include "dyson/exact/layer_branch.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spectra::dyson {
namespace {

double mean_square(const std::vector<double>& values) {
    double sum = 0;
    for (const double t : values) sum += t * t;
    return sum / static_cast<double>(values.size());
}

const std::vector<double>* law_of_layer(const BranchLaw& law, std::size_t layer) {
    if (law.empty()) return nullptr;
    return law.size() == 1 ? &law.front() : &law[layer];
}

double largest_slope(const Activation& activation) {
    switch (activation.kind) {
        case ActivationKind::erf:
            return 2 * std::numbers::inv_sqrtpi;
        case ActivationKind::gelu:  // at h = √2
            return derivative(activation, std::numbers::sqrt2);
        case ActivationKind::silu:  // at h tanh(h/2) = 2
            return derivative(activation, 2.399357280520468);
        default:
            return 1;
    }
}

struct Fill {
    const Network& network;
    std::vector<LayerBranch>& layers;

    void operator()(const IsotropicBranch& branch) const {
        for (std::size_t l = 0; l < layers.size(); ++l) gaussian_or_law(l, branch.sigma2, branch.law);
    }

    void operator()(const HyperConnectionBranch& branch) const {
        for (std::size_t l = 0; l < layers.size(); ++l) {
            gaussian_or_law(l, branch.sigma2, branch.law);
            layers[l].pre = &branch.pre[l];
            layers[l].post = &branch.post[l];
        }
    }

    void operator()(const ActivationBranch& branch) const {
        const auto& q = branch.preactivation_variance;
        for (std::size_t l = 0; l < layers.size(); ++l) {
            LayerBranch& layer = layers[l];
            const double variance = q.empty() ? 0 : q[l];
            layer.sigma_w2 = branch.sigma_w2[l];
            layer.sigma2 = layer.sigma_w2 * mean_derivative2(branch.activation, variance);
            layer.largest_slope = largest_slope(branch.activation);
            const bool repeated = l > 0 && (q.empty() || q[l] == q[l - 1]);
            layer.slopes = repeated ? layers[l - 1].slopes : slope_law(branch.activation, variance);
        }
    }

    void operator()(const TiedBranch& branch) const {
        for (std::size_t l = 0; l < layers.size(); ++l) {
            layers[l].sigma2 = layers[l].sigma_w2 = branch.sigma2[l];
            if (!branch.hyper_connection()) continue;
            layers[l].pre = &branch.pre[l];
            layers[l].post = &branch.post[l];
        }
    }

    /// The rest, with the variance of the whole branch; what is kept is in aligned_moments.hpp.
    void operator()(const AlignedBranch& branch) const {
        const auto whole = spectra::sigma2(network);
        for (std::size_t l = 0; l < layers.size(); ++l) {
            layers[l].sigma2 = layers[l].sigma_w2 = whole[l];
            layers[l].values = &branch.rest[l];
            if (!branch.hyper_connection()) continue;
            layers[l].pre = &branch.pre[l];
            layers[l].post = &branch.post[l];
        }
    }

    void gaussian_or_law(std::size_t l, const std::vector<double>& sigma2, const BranchLaw& law) const {
        LayerBranch& layer = layers[l];
        layer.values = law_of_layer(law, l);
        layer.sigma2 = layer.sigma_w2 = layer.values ? mean_square(*layer.values) : sigma2[l];
    }
};

}  // namespace

double LayerBranch::norm() const {
    if (values) return values->empty() ? 0 : *std::max_element(values->begin(), values->end());
    return 2 * std::sqrt(sigma_w2) * largest_slope;
}

std::vector<LayerBranch> layer_branches(const Network& network) {
    std::vector<LayerBranch> layers(network.mixers.size());
    std::visit(Fill{network, layers}, network.branch);
    const auto weights = first_with_weights(network);
    for (std::size_t l = 0; l < layers.size(); ++l) layers[l].weights = weights[l];
    return layers;
}

Eigen::MatrixXd mixed_covariance(const LayerBranch& x, const LayerBranch& y, const Eigen::MatrixXd& t) {
    const auto n = t.rows();
    if (x.weights != y.weights) return Eigen::MatrixXd::Zero(n, n);
    const double variance = std::sqrt(x.sigma2) * std::sqrt(y.sigma2);
    if (x.hyper_connection()) return variance * x.pre->dot(t * *y.pre) * *x.post * y.post->transpose();
    return variance * t.trace() / static_cast<double>(n) * Eigen::MatrixXd::Identity(n, n);
}

}  // namespace spectra::dyson
