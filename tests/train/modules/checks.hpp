#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <vector>

#include "jacobian/torch.hpp"

namespace spectra::train::testing {

using torch::Tensor;
using Map = std::function<Tensor(const Tensor&)>;

inline Tensor normal(torch::IntArrayRef shape) {
    return torch::randn(shape, torch::kDouble);
}

inline double largest(const Tensor& x) {
    return x.numel() == 0 ? 0.0 : x.detach().abs().max().item<double>();
}

inline Eigen::MatrixXd to_eigen(const Tensor& matrix) {
    const Tensor dense = matrix.detach().to(torch::kDouble).contiguous();
    return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        dense.data_ptr<double>(), dense.size(0), dense.dim() > 1 ? dense.size(1) : 1);
}

inline double distance(const Tensor& a, const Eigen::MatrixXd& b) {
    return (to_eigen(a) - b).cwiseAbs().maxCoeff();
}

/// ∂⟨G, map(raw)⟩/∂raw by autograd.
inline Tensor gradient_of(const Map& map, const Tensor& raw, const Tensor& upstream) {
    const Tensor x = raw.detach().clone().requires_grad_(true);
    (map(x) * upstream).sum().backward();
    return x.grad();
}

/// The same by central differences of fourth order, steps relative to max(1, |raw|). All shifted points are
/// one batch, which `map` must take as its first dimension.
inline Tensor difference_of(const Map& map, const Tensor& raw, const Tensor& upstream, double step) {
    const torch::NoGradGuard no_graph;
    const int64_t size = raw.size(0);
    const Tensor h = step * raw.abs().clamp_min(1);
    const Tensor shifts = torch::diag(h);
    const Tensor points = raw + torch::cat({shifts, -shifts, 2 * shifts, -2 * shifts});
    const Tensor value = (map(points) * upstream).flatten(1).sum(1).reshape({4, size});
    return (8 * (value[0] - value[1]) - (value[2] - value[3])) / (12 * h);
}

/// The largest error of the gradient relative to the largest entry, over three upstream gradients and the
/// worst of the blocks (first, size) of raw numbers; numbers below `floor` count as that.
inline double gradient_error(const Map& map, const Tensor& raw, double step = 1e-3,
                             std::vector<std::pair<int64_t, int64_t>> blocks = {}, double floor = 1e-6) {
    if (blocks.empty()) blocks.emplace_back(0, raw.size(0));
    double worst = 0;
    for (int trial = 0; trial < 3; ++trial) {
        const Tensor upstream = torch::randn_like(map(raw)).detach();
        const Tensor exact = gradient_of(map, raw, upstream);
        const Tensor measured = difference_of(map, raw, upstream, step);
        for (const auto& [first, size] : blocks) {
            const Tensor wanted = measured.narrow(0, first, size);
            const double error = largest(exact.narrow(0, first, size) - wanted);
            worst = std::max(worst, error / std::max(largest(wanted), floor));
        }
    }
    return worst;
}

/// Autograd nodes behind a result.
inline std::size_t graph_size(const Tensor& result) {
    std::unordered_set<torch::autograd::Node*> seen;
    std::vector<torch::autograd::Node*> open{result.grad_fn().get()};
    while (!open.empty()) {
        torch::autograd::Node* node = open.back();
        open.pop_back();
        if (node == nullptr || !seen.insert(node).second) continue;
        for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
    }
    return seen.size();
}

}  // namespace spectra::train::testing
