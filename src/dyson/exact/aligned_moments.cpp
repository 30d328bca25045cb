#include "dyson/exact/aligned_moments.hpp"

#include "base/special_values.hpp"

#include <algorithm>
#include <cmath>

namespace spectra::dyson {
namespace {

using Matrix = Eigen::MatrixXd;
using Eigen::Index;

double log_or_lost(double value) {
    return value > 0 ? std::log(value) : -infinity;
}

/// (x xᵀ ⊗ Π) with Π = 1 − vectors·vectorsᵀ, or Π alone if there is no x.
class Reach {
public:
    Reach(const Network& network, const Eigen::VectorXd* x, const Matrix& vectors)
        : n_(network.streams), p_(network.width), x_(x), vectors_(vectors) {}

    Index free() const { return vectors_.rows() - vectors_.cols(); }

    /// tr[(x xᵀ ⊗ Π) t].
    double trace(const Matrix& t) const {
        const Matrix seen = x_ ? read(t) : t;
        return seen.trace() - vectors_.cwiseProduct(seen * vectors_).sum();
    }

    /// t += factor (x xᵀ ⊗ Π).
    void add_to(Matrix& t, double factor) const {
        Matrix projection = Matrix::Identity(vectors_.rows(), vectors_.rows());
        projection.noalias() -= vectors_ * vectors_.transpose();
        if (!x_) {
            t += factor * projection;
            return;
        }
        for (Index j = 0; j < n_; ++j)
            for (Index i = 0; i < n_; ++i) t.block(i * p_, j * p_, p_, p_) += factor * (*x_)(i) * (*x_)(j)*projection;
    }

private:
    /// (xᵀ ⊗ 1) t (x ⊗ 1).
    Matrix read(const Matrix& t) const {
        Matrix sum = Matrix::Zero(p_, p_);
        for (Index j = 0; j < n_; ++j)
            for (Index i = 0; i < n_; ++i) sum += (*x_)(i) * (*x_)(j)*t.block(i * p_, j * p_, p_, p_);
        return sum;
    }

    Index n_, p_;
    const Eigen::VectorXd* x_;
    const Matrix& vectors_;
};

double mean_of_squares(const std::vector<double>& values) {
    double sum = 0;
    for (const double t : values) sum += t * t;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// D_l (kept_layer), or its transpose, times x: A ⊗ 1 and what is kept are never multiplied out.
Matrix apply_layer(const Network& network, std::size_t l, bool transposed, const Matrix& x) {
    const auto& branch = std::get<AlignedBranch>(network.branch);
    const Index n = network.streams, p = network.width;
    const auto times = [&](const Triplets& triplets, const Matrix& y) -> Matrix {
        const Matrix& to = transposed ? triplets.right : triplets.left;
        const Matrix& from = transposed ? triplets.left : triplets.right;
        return to * (triplets.values.asDiagonal() * (from.transpose() * y));
    };
    Matrix out = Matrix::Zero(x.rows(), x.cols());
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j)
            out.middleRows(i * p, p) +=
                network.mixers[l](transposed ? j : i, transposed ? i : j) * x.middleRows(j * p, p);
    if (!branch.derivative.empty() && branch.derivative[l].count() > 0) out += times(branch.derivative[l], x);
    if (branch.kept[l].count() == 0) return out;
    if (!branch.hyper_connection()) return out + times(branch.kept[l], x);
    const Eigen::VectorXd& from = transposed ? branch.post[l] : branch.pre[l];
    const Eigen::VectorXd& to = transposed ? branch.pre[l] : branch.post[l];
    Matrix read = Matrix::Zero(p, x.cols());
    for (Index j = 0; j < n; ++j) read += from(j) * x.middleRows(j * p, p);
    const Matrix written = times(branch.kept[l], read);
    for (Index i = 0; i < n; ++i) out.middleRows(i * p, p) += to(i) * written;
    return out;
}

/// One pass through the layers, from the input or from the output: fills `arriving`, returns ln of tr(last)/N.
double carry(const Network& network, bool backwards, std::vector<double>& arriving) {
    const auto& branch = std::get<AlignedBranch>(network.branch);
    const Index size = network.size();
    const std::size_t layers = network.mixers.size();
    arriving.assign(layers, -infinity);
    Matrix t = Matrix::Identity(size, size);
    double log_scale = 0;
    for (std::size_t k = 0; k < layers; ++k) {
        const std::size_t l = backwards ? layers - 1 - k : k;
        const bool hyper = branch.hyper_connection();
        const Reach reads(network, hyper ? &branch.pre[l] : nullptr, branch.kept[l].right);
        const Reach writes(network, hyper ? &branch.post[l] : nullptr, branch.kept[l].left);
        const Reach& from = backwards ? writes : reads;
        const Reach& to = backwards ? reads : writes;
        const double share = from.free() > 0 ? from.trace(t) / static_cast<double>(from.free()) : 0;
        arriving[l] = log_or_lost(share) + log_scale;
        // t is symmetric: D t Dᵀ = D (D t)ᵀ.
        t = apply_layer(network, l, backwards, apply_layer(network, l, backwards, t).transpose());
        to.add_to(t, mean_of_squares(branch.rest[l]) * std::max(0.0, share));
        const double scale = t.trace() / static_cast<double>(size);
        if (!(scale > 0)) return -infinity;
        t /= scale;
        log_scale += std::log(scale);
    }
    return log_scale;
}

}  // namespace

Matrix kept_layer(const Network& network, std::size_t layer) {
    const auto& branch = std::get<AlignedBranch>(network.branch);
    const Index n = network.streams, p = network.width;
    const Matrix kept = branch.kept[layer].matrix();
    Matrix d = branch.hyper_connection() ? Matrix::Zero(n * p, n * p) : kept;
    if (!branch.derivative.empty()) d += branch.derivative[layer].matrix();
    for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
            auto block = d.block(i * p, j * p, p, p);
            block.diagonal().array() += network.mixers[layer](i, j);
            if (branch.hyper_connection()) block += branch.post[layer](i) * branch.pre[layer](j) * kept;
        }
    }
    return d;
}

AlignedMoments aligned_moments(const Network& network) {
    AlignedMoments result;
    result.log_mean_square = carry(network, false, result.log_a);
    carry(network, true, result.log_b);
    return result;
}

}  // namespace spectra::dyson
