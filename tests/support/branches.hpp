#pragma once

#include "montecarlo/sample/layer.hpp"
#include "network/network.hpp"
#include "random/stream.hpp"
#include "support/networks.hpp"

#include <Eigen/QR>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spectra::tests {

template <class Scalar>
using MatrixOf = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

template <class Scalar>
MatrixOf<Scalar> gaussian_reference(int size, random::Stream& stream) {
    MatrixOf<Scalar> out(size, size);
    for (Eigen::Index j = 0; j < size; ++j)
        for (Eigen::Index i = 0; i < size; ++i) out(i, j) = stream.normal();
    return out;
}

/// The orthogonal factor of a Gaussian, the diagonal of the triangular one made positive.
template <class Scalar>
MatrixOf<Scalar> haar_reference(int size, random::Stream& stream) {
    const Eigen::HouseholderQR<MatrixOf<Scalar>> qr(gaussian_reference<Scalar>(size, stream));
    MatrixOf<Scalar> q = qr.householderQ();
    for (Eigen::Index k = 0; k < size; ++k)
        if (qr.matrixQR()(k, k) < 0) q.col(k) *= Scalar(-1);
    return q;
}

/// m×m: Gaussian of entries N(0, σ²/m), or of the given singular values.
template <class Scalar>
MatrixOf<Scalar> factor_reference(int size, double sigma2, const BranchLaw& law, std::size_t layer,
                                  random::Stream stream) {
    using std::sqrt;
    if (law.empty()) return gaussian_reference<Scalar>(size, stream) * sqrt(Scalar(sigma2) / size);
    const MatrixOf<Scalar> u = haar_reference<Scalar>(size, stream);
    const MatrixOf<Scalar> v = haar_reference<Scalar>(size, stream);
    MatrixOf<Scalar> middle = MatrixOf<Scalar>::Zero(size, size);
    const auto values = montecarlo::spread(law.size() == 1 ? law[0] : law[layer], size);
    for (int k = 0; k < size; ++k) middle(k, k) = values[static_cast<std::size_t>(k)];
    return u * middle * v.transpose();
}

/// (post preᵀ) ⊗ F
template <class Scalar>
MatrixOf<Scalar> hyper_reference(const Eigen::VectorXd& pre, const Eigen::VectorXd& post,
                                 const MatrixOf<Scalar>& factor) {
    const auto n = pre.size();
    const auto p = factor.rows();
    MatrixOf<Scalar> out(n * p, n * p);
    for (Eigen::Index j = 0; j < n; ++j)
        for (Eigen::Index i = 0; i < n; ++i)
            out.block(i * p, j * p, p, p) = factor * (Scalar(post[i]) * Scalar(pre[j]));
    return out;
}

/// X_l of a sample, plainly and for any branch: the definition of the sampler's streams.
template <class Scalar = double>
struct BranchReference {
    const Network& network;
    std::size_t layer;
    std::uint64_t seed;
    std::uint32_t sample;

    random::Stream stream(std::size_t l) const {
        return {seed, random::Purpose::branch, static_cast<std::uint32_t>(l), sample};
    }
    MatrixOf<Scalar> operator()(const IsotropicBranch& branch) const {
        return factor_reference<Scalar>(network.size(), branch.law.empty() ? branch.sigma2[layer] : 0,
                                        branch.law, layer, stream(layer));
    }
    MatrixOf<Scalar> operator()(const ActivationBranch& branch) const {
        auto out = factor_reference<Scalar>(network.size(), branch.sigma_w2[layer], {}, layer, stream(layer));
        random::Stream slopes(seed, random::Purpose::slope, static_cast<std::uint32_t>(layer), sample);
        const double q = branch.preactivation_variance.empty() ? 1 : branch.preactivation_variance[layer];
        for (Eigen::Index i = 0; i < out.rows(); ++i) {
            out.row(i) *= branch.activation.kind == ActivationKind::bernoulli
                              ? Scalar(slopes.uniform() < branch.activation.probability ? 1 : 0)
                              : Scalar(derivative(branch.activation, std::sqrt(q) * slopes.normal()));
        }
        return out;
    }
    MatrixOf<Scalar> operator()(const HyperConnectionBranch& branch) const {
        return hyper_reference<Scalar>(
            branch.pre[layer], branch.post[layer],
            factor_reference<Scalar>(network.width, branch.law.empty() ? branch.sigma2[layer] : 0, branch.law,
                                     layer, stream(layer)));
    }
    MatrixOf<Scalar> operator()(const TiedBranch& branch) const {
        std::size_t first = 0;
        while (!branch.weights.empty() && branch.weights[first] != branch.weights[layer]) ++first;
        if (!branch.hyper_connection())
            return factor_reference<Scalar>(network.size(), branch.sigma2[layer], {}, 0, stream(first));
        return hyper_reference<Scalar>(
            branch.pre[layer], branch.post[layer],
            factor_reference<Scalar>(network.width, branch.sigma2[layer], {}, 0, stream(first)));
    }
    MatrixOf<Scalar> operator()(const AlignedBranch& branch) const;
};

/// What the columns leave, as the sampler chooses its basis.
template <class Scalar>
MatrixOf<Scalar> complement_reference(const Eigen::MatrixXd& columns) {
    const auto rows = columns.rows();
    Eigen::MatrixXd q = Eigen::MatrixXd::Identity(rows, rows);
    if (columns.cols() > 0) q = Eigen::HouseholderQR<Eigen::MatrixXd>(columns).householderQ();
    return q.rightCols(rows - columns.cols()).template cast<Scalar>();
}

template <class Scalar = double>
MatrixOf<Scalar> branch_reference(const Network& network, int layer, std::uint64_t seed,
                                  std::uint32_t sample) {
    const auto l = static_cast<std::size_t>(layer);
    return std::visit(BranchReference<Scalar>{network, l, seed, sample}, network.branch);
}

template <class Scalar>
MatrixOf<Scalar> BranchReference<Scalar>::operator()(const AlignedBranch& branch) const {
    const Triplets& kept = branch.kept[layer];
    const int free = static_cast<int>(branch.rest[layer].size());
    std::size_t first = layer;
    if (!branch.weights.empty())
        for (first = 0; branch.weights[first] != branch.weights[layer];) ++first;
    MatrixOf<Scalar> factor = kept.matrix().template cast<Scalar>();
    if (free > 0)
        factor += complement_reference<Scalar>(kept.left) *
                  factor_reference<Scalar>(free, 0, branch.rest, layer, stream(first)) *
                  complement_reference<Scalar>(kept.right).transpose();
    MatrixOf<Scalar> out = branch.hyper_connection()
                               ? hyper_reference<Scalar>(branch.pre[layer], branch.post[layer], factor)
                               : factor;
    if (!branch.derivative.empty()) out += branch.derivative[layer].matrix().template cast<Scalar>();
    return out;
}

template <class Scalar = double>
MatrixOf<Scalar> jacobian_reference(const Network& network, std::uint64_t seed, std::uint32_t sample) {
    MatrixOf<Scalar> product = MatrixOf<Scalar>::Identity(network.size(), network.size());
    for (int l = 0; l < network.depth(); ++l) {
        const MatrixOf<Scalar> layer =
            branch_reference<Scalar>(network, l, seed, sample) +
            kronecker(network.mixers[static_cast<std::size_t>(l)], network.width).template cast<Scalar>();
        product = (layer * product).eval();
    }
    return product;
}

// Those of doubles are compiled once, in branches.cpp.
extern template MatrixOf<double> gaussian_reference<double>(int, random::Stream&);
extern template MatrixOf<double> haar_reference<double>(int, random::Stream&);
extern template MatrixOf<double> factor_reference<double>(int, double, const BranchLaw&, std::size_t,
                                                          random::Stream);
extern template MatrixOf<double> branch_reference<double>(const Network&, int, std::uint64_t, std::uint32_t);
extern template MatrixOf<double> jacobian_reference<double>(const Network&, std::uint64_t, std::uint32_t);

/// Vectors pre and post of a layer, neither of them parallel to anything else.
Eigen::VectorXd reading(int streams, std::size_t layer);

Eigen::VectorXd writing(int streams, std::size_t layer);

HyperConnectionBranch hyper_connection(int streams, int depth, double sigma2, BranchLaw law = {});

/// Two sets of weights that take turns, with sizes, pre and post of every layer's own.
TiedBranch taking_turns(int streams, int depth, double sigma2, bool hyper);

/// Every branch model, for a network of that many streams and layers, of variances about σ².
std::vector<std::pair<std::string, Branch>> every_branch(int streams, int depth, double sigma2);

/// E s² of independent layers, exact at every width: T ← A T Aᵀ + E tr_p X T Xᵀ.
double exact_mean_square(const Network& network);

/// E s² of two layers with the same X at width p, by Wick's theorem: J = A₂A₁ + A₂X + XA₁ + XX, with X = B ⊗
/// F, F of size m and B = post preᵀ; isotropic: n = 1, B = 1 and m = N, but for the mixers' traces.
///
/// E tr FSFᵀ = σ² tr S, E F S F = σ² Sᵀ/m, E tr FFFᵀFᵀ/m = σ⁴(1 + 2/m²). Infinite width: m = ∞.
double exact_tied_mean_square(const Network& network, double m);

}  // namespace spectra::tests
