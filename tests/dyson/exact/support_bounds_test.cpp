#include "dyson/exact/support_bounds.hpp"

#include "base/special_values.hpp"
#include "dyson/equations/one_layer.hpp"
#include "dyson/law/theory.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <optional>
#include <random>

namespace spectra::dyson {
namespace {

using tests::draw_network;
using tests::kronecker;
using tests::make_network;

TEST(SupportBounds, OfOneLayerIsItsSupport) {
    // A = 0: [0, 2σ].
    const SupportBounds zero = support_bounds(make_network(Mixer::Zero(1, 1), 1, 1, 0.25));
    EXPECT_NEAR(zero.log_upper, std::log(2 * 0.5), 1e-9);
    EXPECT_EQ(zero.log_lower, -infinity);
    for (const auto family :
         {mixers::Family::cayley_hybrid, mixers::Family::identity, mixers::Family::bistochastic}) {
        const Network network = draw_network(family, 4, 1, 1, 0.05);
        const SupportBounds bounds = support_bounds(network);
        const Theory theory = solve(network, Method::operator_valued);
        const auto& support = theory.law.density().support;
        EXPECT_NEAR(support.back().log_upper, bounds.log_upper, 1e-8) << mixers::name(family);
        if (bounds.log_lower > -100) {
            EXPECT_NEAR(support.front().log_lower, bounds.log_lower, 1e-8) << mixers::name(family);
        }
    }
}

TEST(SupportBounds, OfOneLayerHasTheDensityInside) {
    for (const auto family : mixers::all_families()) {
        const Network network = draw_network(family, 4, 1, 1, 0.05);
        const SupportBounds bounds = support_bounds(network);
        const auto density = [&](double log_s) {
            return -one_layer_green(network, std::exp(log_s)).g.imag();
        };
        EXPECT_EQ(density(bounds.log_upper + 1e-6), 0) << mixers::name(family);
        EXPECT_GT(density(bounds.log_upper - 1e-6), 0) << mixers::name(family);
        if (bounds.log_lower == -infinity) continue;
        EXPECT_EQ(density(bounds.log_lower - 1e-6), 0) << mixers::name(family);
        EXPECT_GT(density(bounds.log_lower + 1e-6), 0) << mixers::name(family);
    }
}

/// Gaussian and bi-invariant draws of every branch, plainly, with the noise shrunk by what a finite width
/// adds to norms (a share of about p^{−2/3}).
class Draws {
public:
    Draws(const Network& network, int width) : network_(network), width_(width) {}

    Eigen::VectorXd singular_values() {
        const Eigen::Index size = network_.streams * width_;
        Eigen::MatrixXd j = Eigen::MatrixXd::Identity(size, size);
        for (std::size_t l = 0; l < network_.mixers.size(); ++l)
            j = (kronecker(network_.mixers[l], width_) + 0.9 * branch(l)) * j;
        return j.jacobiSvd().singularValues();
    }

private:
    Eigen::MatrixXd gaussian(Eigen::Index n, std::optional<unsigned> set = {}) {
        if (set) engine_.seed(2 + *set);
        normal_.reset();
        Eigen::MatrixXd x(n, n);
        for (auto& value : x.reshaped()) value = normal_(engine_) / std::sqrt(static_cast<double>(n));
        return x;
    }
    Eigen::MatrixXd law(const std::vector<double>& t, Eigen::Index n) {
        Eigen::VectorXd values(n);
        for (Eigen::Index i = 0; i < n; ++i) values(i) = t[static_cast<std::size_t>(i) % t.size()];
        const Eigen::MatrixXd left = gaussian(n).householderQr().householderQ();
        const Eigen::MatrixXd right = gaussian(n).householderQr().householderQ();
        return left * values.asDiagonal() * right;
    }
    Eigen::MatrixXd outer(const Eigen::VectorXd& post, const Eigen::VectorXd& pre, const Eigen::MatrixXd& f) {
        const Eigen::Index n = pre.size(), p = f.rows();
        Eigen::MatrixXd x(n * p, n * p);
        for (Eigen::Index i = 0; i < n; ++i)
            for (Eigen::Index k = 0; k < n; ++k) x.block(i * p, k * p, p, p) = post(i) * pre(k) * f;
        return x;
    }
    Eigen::MatrixXd branch(std::size_t l) {
        const Eigen::Index size = network_.streams * width_;
        if (const auto* b = std::get_if<IsotropicBranch>(&network_.branch))
            return b->law.empty() ? Eigen::MatrixXd(std::sqrt(b->sigma2[l]) * gaussian(size))
                                  : law(b->law.front(), size);
        if (const auto* b = std::get_if<HyperConnectionBranch>(&network_.branch))
            return outer(b->post[l], b->pre[l],
                         b->law.empty() ? Eigen::MatrixXd(std::sqrt(b->sigma2[l]) * gaussian(width_))
                                        : law(b->law.front(), width_));
        if (const auto* b = std::get_if<ActivationBranch>(&network_.branch)) {
            Eigen::VectorXd d(size);
            const double q = b->preactivation_variance[l];
            for (auto& value : d) value = derivative(b->activation, std::sqrt(q) * normal_(engine_));
            return std::sqrt(b->sigma_w2[l]) * (d.asDiagonal() * gaussian(size));
        }
        const auto& b = std::get<TiedBranch>(network_.branch);
        const auto set = b.weights.empty() ? 0U : static_cast<unsigned>(b.weights[l]);
        const double sigma = std::sqrt(b.sigma2[l]);
        if (!b.hyper_connection()) return sigma * gaussian(size, set);
        return outer(b.post[l], b.pre[l], sigma * gaussian(width_, set));
    }

    Network network_;
    int width_;
    std::mt19937_64 engine_{1};
    std::normal_distribution<double> normal_;
};

TEST(SupportBounds, BoundsDrawsOfEveryBranch) {
    for (const int depth : {1, 2}) {
        const auto layers = static_cast<std::size_t>(depth);
        Network network = draw_network(mixers::Family::orthogonal, 3, depth, 1, 0);
        for (Mixer& a : network.mixers) a = (a * Eigen::Vector3d(1, 0.7, 1.3).asDiagonal()).eval();
        HyperConnectionBranch hyper;
        hyper.sigma2.assign(layers, 0.1);
        hyper.pre.assign(layers, Eigen::Vector3d(0.2, 0.5, 0.3));
        hyper.post.assign(layers, Eigen::Vector3d(1.1, 0.4, 0.8));
        HyperConnectionBranch hyper_law = hyper;
        hyper_law.law = {{0.1, 0.3, 0.35}};
        const std::vector<double> variance(layers, 0.02), q(layers, 1.0);
        const Branch branches[] = {IsotropicBranch{variance},
                                   IsotropicBranch{{}, {{0.1, 0.2, 0.25}}},
                                   IsotropicBranch{{}, {{3, 4}}},
                                   hyper,
                                   hyper_law,
                                   ActivationBranch{variance, {ActivationKind::gelu}, q},
                                   ActivationBranch{variance, {ActivationKind::silu}, q},
                                   ActivationBranch{variance, {ActivationKind::relu}, q},
                                   ActivationBranch{variance, {ActivationKind::erf}, q},
                                   tied_branch(layers, 0.02),
                                   tied_branch(layers, 0.1, hyper.pre[0], hyper.post[0])};
        for (const Branch& branch : branches) {
            network.branch = branch;
            const SupportBounds bounds = support_bounds(network);
            const Eigen::VectorXd s = Draws(network, 30).singular_values();
            EXPECT_LT(std::log(s(0)), bounds.log_upper) << branch.index() << ", L = " << depth;
            EXPECT_GT(bounds.log_lower, -infinity) << branch.index();
            EXPECT_GT(std::log(s(s.size() - 1)), bounds.log_lower) << branch.index() << ", L = " << depth;
        }
    }
}

TEST(SupportBounds, OfAHyperConnectionReachesZeroWhereItMust) {
    // A = 1, pre = post = e_1: the stream that is read is 1 + F, with a gap at zero for σ < 1, however close.
    Network network = make_network(Mixer::Identity(3, 3), 1, 1, 0);
    for (const double sigma2 : {0.5, 0.98, 1.0, 1.5}) {
        network.branch =
            HyperConnectionBranch{{sigma2}, {Eigen::Vector3d(1, 0, 0)}, {Eigen::Vector3d(1, 0, 0)}};
        EXPECT_EQ(support_bounds(network).log_lower > -infinity, sigma2 < 1) << sigma2;
        EXPECT_EQ(support_bounds(network).kappa, sigma2 < 1 ? 0 : sigma2 == 1 ? 0.5 : 1) << sigma2;
    }
}

TEST(SupportBounds, StaysInLogarithms) {
    const Network deep = make_network(Mixer::Identity(2, 2) * 1e-5, 1000, 1, 1e-14);
    const SupportBounds bounds = support_bounds(deep);
    // One layer a(1 ± …): 1000 times its ends.
    const SupportBounds layer = support_bounds(make_network(Mixer::Identity(2, 2) * 1e-5, 1, 1, 1e-14));
    EXPECT_NEAR(bounds.log_upper, 1000 * layer.log_upper, 1e-8 * std::abs(bounds.log_upper));
    EXPECT_NEAR(bounds.log_lower, 1000 * layer.log_lower, 1e-8 * std::abs(bounds.log_lower));
    ASSERT_EQ(bounds.log_seeds.size(), 2u);
    EXPECT_NEAR(bounds.log_seeds[0], 1000 * std::log(1e-5), 1e-8);
}

TEST(SupportBounds, LogFarIsWhereProductsOfNoiseEnd) {
    // L square Gaussian factors of variance one end at s² = (L + 1)^{L+1}/L^L, their norms multiply to 4^L.
    for (const int depth : {1, 3, 30, 1000}) {
        const SupportBounds bounds = support_bounds(make_network(Mixer::Zero(1, 1), depth, 1, 1.0));
        const double edge = 0.5 * ((depth + 1) * std::log1p(depth) - depth * std::log(depth));
        EXPECT_GE(bounds.log_far, edge - 1e-9) << depth;
        EXPECT_LE(bounds.log_far, edge + 0.16) << depth;
        EXPECT_LE(bounds.log_far, bounds.log_upper) << depth;
    }
}

TEST(SupportBounds, SeedsAreNotAtoms) {
    Network network = draw_network(mixers::Family::orthogonal, 4, 1, 1, 0);
    network.branch =
        HyperConnectionBranch{{0.3}, {Eigen::Vector4d(1, 2, 0, 1)}, {Eigen::Vector4d(0, 1, 1, 1)}};
    for (const double seed : support_bounds(network).log_seeds) EXPECT_GT(std::abs(seed), 1e-8);
}

}  // namespace
}  // namespace spectra::dyson
