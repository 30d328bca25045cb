#include "dyson/exact/moments.hpp"

#include "base/special_values.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/law/theory.hpp"
#include "support/dense_dyson.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace spectra::dyson {
namespace {

using tests::DenseDyson;
using tests::draw_network;
using tests::make_network;

const std::vector<double> some_law{0.1, 0.3, 0.35, 0.6, 0.9};

Network with(Network network, Branch branch) {
    network.branch = std::move(branch);
    return network;
}

/// pre, post and σ² of every layer, in general position.
HyperConnectionBranch hyper(int streams, int depth, double sigma2) {
    std::mt19937_64 engine(17);
    std::normal_distribution<double> normal;
    HyperConnectionBranch branch;
    for (int l = 0; l < depth; ++l) {
        branch.sigma2.push_back(sigma2 * (1 + 0.2 * l));
        branch.pre.emplace_back(streams);
        branch.post.emplace_back(streams);
        for (auto* part : {&branch.pre.back(), &branch.post.back()})
            for (double& x : *part) x = normal(engine);
    }
    return branch;
}

HyperConnectionBranch hyper_law(int streams, int depth) {
    HyperConnectionBranch branch = hyper(streams, depth, 1);
    branch.law = {some_law};
    branch.sigma2.clear();
    return branch;
}

struct Case {
    const char* name;
    Network network;
};

/// One network of every branch, with mixers that do not commute. Up to six sites for activations.
std::vector<Case> cases(int depth, int n = 3) {
    const auto layers = static_cast<std::size_t>(depth);
    const Network skeleton = draw_network(mixers::Family::gaussian, n, depth, 1, 0);
    const HyperConnectionBranch connection = hyper(n, 1, 1);
    std::vector<double> noise;
    std::vector<int> turns;
    for (int l = 0; l < depth; ++l) noise.push_back(0.3 + 0.1 * l);
    for (int l = 0; l < depth; ++l) turns.push_back(l % 2);
    const HyperConnectionBranch several = hyper(n, depth, 0.2);
    const auto activation = [&](Activation kind, std::vector<double> q) {
        return with(skeleton, ActivationBranch{noise, kind, std::move(q)});
    };
    return {
        {"isotropic", with(skeleton, IsotropicBranch{noise})},
        {"isotropic, singular values", with(skeleton, IsotropicBranch{{}, {some_law}})},
        {"hyper-connection", with(skeleton, hyper(n, depth, 0.2))},
        {"hyper-connection, singular values", with(skeleton, hyper_law(n, depth))},
        {"relu", activation({ActivationKind::relu}, {})},
        {"bernoulli", activation({ActivationKind::bernoulli, 0.3}, {})},
        {"hard-tanh", activation({ActivationKind::hard_tanh}, std::vector<double>(layers, 0.8))},
        {"tied", with(skeleton, tied_branch(layers, 0.25))},
        {"tied hyper-connection",
         with(skeleton, tied_branch(layers, 0.25, connection.pre[0], connection.post[0]))},
        {"tied by turns", with(skeleton, TiedBranch{noise, {}, {}, turns})},
        {"tied hyper-connection by turns",
         with(skeleton, TiedBranch{several.sigma2, several.pre, several.post, turns})},
    };
}

double radius(const Network& network) {
    return 3 * std::exp(support_bounds(network).log_upper);
}

TEST(Moments, MeanSquareIsThatOfTheGreensFunction) {
    for (const int depth : {1, 2})
        for (const auto& [name, network] : cases(depth))
            EXPECT_NEAR(mean_square(network) / DenseDyson(network).moment(2, radius(network)), 1, 1e-11)
                << name << ", L = " << depth;
    // Three layers, but for activations (512 combinations a step).
    for (const auto& [name, network] : cases(3)) {
        if (std::holds_alternative<ActivationBranch>(network.branch)) continue;
        EXPECT_NEAR(mean_square(network) / DenseDyson(network).moment(2, radius(network)), 1, 1e-11) << name;
    }
}

TEST(Moments, MeanFourthIsThatOfTheGreensFunction) {
    for (const int depth : {1, 2, 3}) {
        for (const auto& [name, network] : cases(depth)) {
            const auto fourth = mean_fourth(network);
            EXPECT_EQ(fourth.has_value(), !std::holds_alternative<TiedBranch>(network.branch)) << name;
            if (!fourth || (depth == 3 && std::holds_alternative<ActivationBranch>(network.branch))) continue;
            EXPECT_NEAR(*fourth / DenseDyson(network).moment(4, radius(network)), 1, 1e-9)
                << name << ", L = " << depth;
        }
    }
}

TEST(Moments, MeanFourthOfOneOrthogonalBranch) {
    // (a + tO)(a + tO)ᵀ = a² + t² + at(O + Oᵀ): E s⁴ = (a² + t²)² + 2a²t².
    const double a = 0.8, t = 0.5;
    const Network network = with(make_network(Mixer{{a}}, 1, 1, 0), IsotropicBranch{{}, {{t}}});
    EXPECT_NEAR(mean_square(network), a * a + t * t, 1e-15);
    EXPECT_NEAR(*mean_fourth(network), std::pow(a * a + t * t, 2) + 2 * a * a * t * t, 1e-15);
}

TEST(Moments, MeanFourthOfASmoothActivation) {
    // One layer of one stream, A = 0: s² is the law of D W Wᵀ D. E s⁴ = σ_w⁴ (E d⁴ + (E d²)²).
    const double q = 0.7;
    Network network = make_network(Mixer::Zero(1, 1), 1, 1, 0);
    for (const auto kind :
         {ActivationKind::tanh, ActivationKind::gelu, ActivationKind::silu, ActivationKind::erf}) {
        network.branch = ActivationBranch{{0.6}, {kind}, {q}};
        double second = 0, fourth = 0;
        for (int k = -4000; k <= 4000; ++k) {  // trapezoid to 40 standard deviations
            const double h = 0.01 * k * std::sqrt(q);
            const double d2 = std::pow(derivative({kind}, h), 2);
            const double weight = 0.01 * std::exp(-0.5 * h * h / q) / std::sqrt(2 * std::numbers::pi);
            second += weight * d2;
            fourth += weight * d2 * d2;
        }
        EXPECT_NEAR(mean_square(network), 0.6 * second, 1e-12) << name(Activation{kind});
        EXPECT_NEAR(*mean_fourth(network), 0.36 * (fourth + second * second), 1e-12)
            << name(Activation{kind});
    }
}

TEST(Moments, OfDeepNetworksStayFinite) {
    // aᴸ at depths where it leaves the range of double.
    const Network deep = make_network(Mixer::Identity(2, 2) * 1e-3, 400, 1, 1e-6);
    EXPECT_NEAR(log_mean_square(deep), 400 * std::log(2e-6), 1e-9);
    Network tied = with(deep, tied_branch(400, 1e-30));
    EXPECT_NEAR(log_mean_square(tied), 800 * std::log(1e-3), 1e-6);
    // Identity and equal variances: E s² = (1 + σ²)ᴸ without ties; with them more, by the paths they share.
    const Network flat = make_network(Mixer::Identity(2, 2), 300, 1, 1e-3);
    EXPECT_NEAR(log_mean_square(flat), 300 * std::log1p(1e-3), 1e-12);
    tied = with(flat, tied_branch(300, 1e-3));
    // E |(1 + X)ᴸ|² = Σ_k C(L, k)² σ^{2k}
    double sum = 0, term = 1;
    for (int k = 0; k <= 300; ++k) {
        sum += term;
        term *= std::pow((300.0 - k) / (k + 1), 2) * 1e-3;
    }
    EXPECT_NEAR(log_mean_square(tied) / std::log(sum), 1, 1e-12);
}

TEST(Moments, MeanFourthIsThatOfTheSolvedLaw) {
    for (const auto family :
         {mixers::Family::bistochastic, mixers::Family::gaussian, mixers::Family::grassmann}) {
        for (const int depth : {1, 2, 5}) {
            const Network network = draw_network(family, 3, depth, 1, 0.4);
            const Theory theory = solve(network, Method::operator_valued);
            const double fourth = theory.law.expectation([](double x) { return std::exp(4 * x); });
            EXPECT_NEAR(fourth / *mean_fourth(network), 1, 1e-8) << mixers::name(family) << " L = " << depth;
        }
    }
}

TEST(Moments, LogMeanOfPureNoise) {
    // A = 0: the quarter circle of variance σ² has E ln s = ½ ln σ² − ½.
    const Network network = make_network(Mixer::Zero(2, 2), 3, 1, 0.7);
    EXPECT_NEAR(*log_mean(network), 3 * (0.5 * std::log(0.7) - 0.5), 1e-13);
    // Given singular values without a mixer: their own mean.
    const Network values = with(make_network(Mixer::Zero(2, 2), 1, 1, 0), IsotropicBranch{{}, {{0.5, 2, 3}}});
    EXPECT_NEAR(*log_mean(values), std::log(3.0) / 3, 1e-14);
}

TEST(Moments, LogMeanIsThatOfTheGreensFunction) {
    for (const int depth : {1, 2}) {
        for (const auto& [name, network] : cases(depth, 2)) {
            // The reference has no law of given singular values inside the support.
            if (!branch_law(network, 0).empty()) continue;
            ASSERT_TRUE(log_mean(network).has_value()) << name;
            EXPECT_NEAR(*log_mean(network), DenseDyson(network).log_mean(radius(network)), 3e-3)
                << name << ", L = " << depth;
        }
    }
}

TEST(Moments, LogMeanOfManySingularValuesIsGaussian) {
    // The quarter circle's quantiles as given singular values: the Gaussian branch, to the spacing of the
    // values.
    std::vector<double> t;
    const int count = 4000;
    for (int k = 0; k < count; ++k) {
        // F(x) = (x√(4 − x²) + 4 asin(x/2))/(2π)
        double x = 1;
        for (int step = 0; step < 60; ++step) {
            const double f = (x * std::sqrt(4 - x * x) + 4 * std::asin(x / 2)) / (2 * std::numbers::pi);
            const double slope = std::sqrt(4 - x * x) / std::numbers::pi;
            x = std::clamp(x - (f - (k + 0.5) / count) / slope, 1e-9, 2 - 1e-9);
        }
        t.push_back(0.8 * x);
    }
    for (const auto family :
         {mixers::Family::gaussian, mixers::Family::bistochastic, mixers::Family::grassmann}) {
        const Network gaussian = draw_network(family, 3, 1, 1, 0.64);
        const Network values = with(gaussian, IsotropicBranch{{}, {t}});
        EXPECT_NEAR(*log_mean(values), *log_mean(gaussian), 2e-4) << mixers::name(family);
        EXPECT_EQ(*kappa(values), *kappa(gaussian)) << mixers::name(family);
    }
    // Hyper-connection: the same through 1/n of it.
    const Network skeleton = draw_network(mixers::Family::gaussian, 3, 2, 1, 0);
    HyperConnectionBranch gaussian = hyper(3, 2, 1), values = gaussian;
    gaussian.sigma2 = {0.64, 0.64};
    values.law = {t};
    EXPECT_NEAR(*log_mean(with(skeleton, values)), *log_mean(with(skeleton, gaussian)), 2e-4);
}

TEST(Moments, LogMeanOfGivenSingularValuesIsThatOfDraws) {
    // (1/N) ln|det(A ⊗ 1 + O_1 T O_2)| fluctuates by O(1/N).
    const int n = 3, width = 60, size = n * width;
    std::mt19937_64 engine(5);
    std::normal_distribution<double> normal;
    const auto haar = [&](Eigen::Index m) {
        Eigen::MatrixXd x(m, m);
        for (auto& value : x.reshaped()) value = normal(engine);
        return Eigen::MatrixXd(x.householderQr().householderQ());
    };
    const auto log_det = [](const Eigen::MatrixXd& y) {
        return y.partialPivLu().matrixLU().diagonal().cwiseAbs().array().log().mean();
    };
    for (const auto& law : {some_law, std::vector<double>{2, 2.5}, std::vector<double>{0.01, 0.3}}) {
        Eigen::VectorXd t(size);
        for (Eigen::Index i = 0; i < size; ++i) t(i) = law[static_cast<std::size_t>(i) % law.size()];
        const Network network =
            with(draw_network(mixers::Family::spectral_sphere, n, 1, 1, 0), IsotropicBranch{{}, {law}});
        double sum = 0;
        for (int k = 0; k < 8; ++k)
            sum += log_det(tests::kronecker(network.mixers[0], width) +
                           haar(size) * t.asDiagonal() * haar(size));
        EXPECT_NEAR(*log_mean(network), sum / 8, 1e-2);
    }
}

TEST(Moments, LogMeanWithAnAtomAtZero) {
    Network network = draw_network(mixers::Family::grassmann, 4, 3, 1, 0.3);
    EXPECT_GT(*log_mean(network), -infinity);
    std::get<IsotropicBranch>(network.branch).sigma2[1] = 0;
    EXPECT_EQ(*log_mean(network), -infinity);
    // Half of the ranks and one branch that fills a fourth.
    network = with(draw_network(mixers::Family::grassmann, 4, 1, 1, 0), hyper(4, 1, 0.3));
    EXPECT_EQ(*log_mean(network), -infinity);
    // Rank n − 1: the branch fills what is missing, and the mean is finite.
    network.mixers[0] = Eigen::Vector4d(1, 0.5, 2, 0).asDiagonal();
    const auto& branch = std::get<HyperConnectionBranch>(network.branch);
    const double filled = std::abs(branch.pre[0](3) * branch.post[0](3));
    EXPECT_NEAR(*log_mean(network), (std::log(filled) + 0.5 * std::log(0.3) - 0.5) / 4, 1e-12);
}

TEST(Moments, LogMeanIsEmptyWhereSlopesTakeManyValues) {
    const Network skeleton = draw_network(mixers::Family::gaussian, 3, 1, 1, 0);
    EXPECT_FALSE(
        log_mean(with(skeleton, ActivationBranch{{0.6}, {ActivationKind::gelu}, {1.0}})).has_value());
    EXPECT_TRUE(log_mean(with(skeleton, ActivationBranch{{0.6}, {ActivationKind::linear}})).has_value());
}

TEST(Moments, KappaCountsLayersDominatedByNoise) {
    EXPECT_EQ(*kappa(make_network(Mixer::Identity(2, 2), 3, 1, 0.5)), 0);
    EXPECT_EQ(*kappa(make_network(Mixer::Identity(2, 2), 3, 1, 1.0)), 1.5);
    EXPECT_EQ(*kappa(make_network(Mixer::Identity(2, 2), 3, 1, 2.0)), 3);
    EXPECT_EQ(*kappa(make_network(Mixer::Zero(2, 2), 3, 1, 1e-9)), 3);
}

TEST(Moments, KappaOfOtherBranchesIsKnownInAGapAndForOneLayer) {
    const Network one = make_network(Mixer::Identity(2, 2), 1, 1, 0),
                  two = make_network(Mixer::Identity(2, 2), 2, 1, 0);
    EXPECT_EQ(*kappa(with(two, tied_branch(2, 0.9))), 0);
    EXPECT_EQ(*kappa(with(one, tied_branch(1, 1.1))), 1);
    EXPECT_FALSE(kappa(with(two, tied_branch(2, 1.1))).has_value());
    // t = 2 beside a = 1, and t = ½: gaps from either side; t = 1 and ½: none.
    EXPECT_EQ(*kappa(with(one, IsotropicBranch{{}, {{2}}})), 0);
    EXPECT_EQ(*kappa(with(one, IsotropicBranch{{}, {{0.5}}})), 0);
    EXPECT_EQ(*kappa(with(one, IsotropicBranch{{}, {{1.2, 0.5, 0.9}}})), 0);  // ⟨t²⟩ = 0.83
    EXPECT_EQ(*kappa(with(one, IsotropicBranch{{}, {{1.5, 0.5, 0.9}}})), 1);  // ⟨t²⟩ = 1.1, ⟨t⁻²⟩ = 1.9
    // c = preᵀ A⁻¹ post = 2: σ² above and below ¼.
    HyperConnectionBranch branch;
    branch.pre = {Eigen::Vector2d(1, 1)};
    branch.post = {Eigen::Vector2d(0.5, 1.5)};
    branch.sigma2 = {0.26};
    EXPECT_EQ(*kappa(with(one, branch)), 1);
    branch.sigma2 = {0.25};
    EXPECT_EQ(*kappa(with(one, branch)), 0.5);
    branch.sigma2 = {0.24};
    EXPECT_EQ(*kappa(with(one, branch)), 0);
}

}  // namespace
}  // namespace spectra::dyson
