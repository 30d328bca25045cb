#include "validation/leading_triplets.hpp"

#include <algorithm>
#include <cmath>

namespace spectra::validation {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// x as p rows and one column per stream.
Eigen::Map<const MatrixXd> streams_of(const VectorXd& x, Eigen::Index n) {
    return {x.data(), x.size() / n, n};
}

VectorXd stacked(const MatrixXd& x) {
    return Eigen::Map<const VectorXd>(x.data(), x.size());
}

VectorXd times(const Triplets& t, const VectorXd& x) {
    return t.left * (t.values.cwiseProduct(t.right.transpose() * x));
}

Triplets transposed(const Triplets& t) {
    return {t.values, t.right, t.left};
}

/// Y_l x, or Y_lᵀx.
VectorXd through(const layouts::Connection& c, const layouts::MeasuredBranch& branch, const VectorXd& x, bool transpose) {
    const auto n = c.mixer.rows();
    const auto x_streams = streams_of(x, n);
    const Triplets core = transpose ? transposed(branch.core) : branch.core;
    MatrixXd y = transpose ? MatrixXd(x_streams * c.mixer) : MatrixXd(x_streams * c.mixer.transpose());
    if (c.pre.size() > 0) {
        const VectorXd &read = transpose ? c.post : c.pre, &write = transpose ? c.pre : c.post;
        y += times(core, x_streams * read) * write.transpose();
    } else {
        y += streams_of(times(core, x), n);
    }
    VectorXd out = stacked(y);
    if (branch.derivative.count() > 0)
        out += times(transpose ? transposed(branch.derivative) : branch.derivative, x);
    return out;
}

}  // namespace

std::vector<LeadingTriplet> leading_triplets(const layouts::Measurement& m, int count) {
    const std::size_t depth = m.branches.size();
    const auto size = static_cast<Eigen::Index>(m.singular_values.size());
    if (depth == 0 || size == 0) return {};
    // x_l before connection l and y_l behind it, by power iteration on JᵀJ from a fixed start.
    std::vector<VectorXd> x(depth + 1), y(depth + 1);
    x[0] = VectorXd::NullaryExpr(size, [](Eigen::Index i) { return std::sin(1.0 + 2.0 * static_cast<double>(i)); });
    double s = 0, defect = 1;
    constexpr int most_turns = 300;  // the next value may be 2 % below
    constexpr double converged = 1e-6;
    for (int turn = 0; turn < most_turns && defect > converged; ++turn) {
        x[0].normalize();
        for (std::size_t l = 0; l < depth; ++l) x[l + 1] = through(m.stack.connections[l], m.branches[l], x[l], false);
        s = x[depth].norm();
        if (!(s > 0)) return {};
        y[depth] = x[depth] / s;
        for (std::size_t l = depth; l > 0; --l) y[l - 1] = through(m.stack.connections[l - 1], m.branches[l - 1], y[l], true);
        defect = (y[0] - s * x[0]).norm() / s;
        if (defect > converged) x[0] = y[0];
    }
    constexpr double same = 0.01;
    if (defect > converged || std::abs(s - m.singular_values.front()) > same * s) return {};

    std::vector<LeadingTriplet> out;
    for (std::size_t l = 0; l < depth; ++l) {
        const auto& c = m.stack.connections[l];
        const Triplets& core = m.branches[l].core;
        const VectorXd reading = c.pre.size() > 0 ? VectorXd(streams_of(x[l], c.mixer.rows()) * c.pre) : x[l];
        const VectorXd writing = c.pre.size() > 0 ? VectorXd(streams_of(y[l + 1], c.mixer.rows()) * c.post) : y[l + 1];
        const VectorXd share =
            core.values.cwiseProduct(core.left.transpose() * writing).cwiseProduct(core.right.transpose() * reading) / s;
        for (Eigen::Index i = 0; i < share.size(); ++i)
            out.push_back({static_cast<int>(l), static_cast<int>(i), core.values(i), share(i)});
    }
    const auto kept = std::min(out.size(), static_cast<std::size_t>(std::max(0, count)));
    std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(kept), out.end(),
                      [](const auto& a, const auto& b) { return std::abs(a.elasticity) > std::abs(b.elasticity); });
    out.resize(kept);
    return out;
}

}  // namespace spectra::validation
