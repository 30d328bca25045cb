#include "dyson/equations/tied.hpp"

#include "dyson/equations/chain.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/solve/newton.hpp"
#include "dyson/solve/tracker.hpp"
#include "mixers/mixer.hpp"
#include "support/expect_refused.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <vector>

namespace spectra::dyson {
namespace {

constexpr double log_far = 2;

Network tied_network(std::vector<Mixer> mixers, double sigma2, const Eigen::VectorXd& pre = {},
                     const Eigen::VectorXd& post = {}) {
    Network network;
    network.streams = static_cast<int>(mixers.front().rows());
    network.width = 1;
    network.mixers = std::move(mixers);
    network.branch = tied_branch(network.mixers.size(), sigma2, pre, post);
    return network;
}

Network draw_tied(mixers::Family family, int streams, int depth, double sigma2, bool shared = false) {
    mixers::Recipe recipe;
    recipe.family = family;
    return tied_network(mixers::draw_layers(recipe, streams, depth, shared, 1), sigma2);
}

/// A hyper-connection over the same mixers, with no symmetry between streams.
Network with_hyper_connection(Network network) {
    const int n = network.streams;
    auto& branch = std::get<TiedBranch>(network.branch);
    Eigen::VectorXd pre(n), post(n);
    for (int i = 0; i < n; ++i) {
        pre(i) = (1 + 0.4 * i) / n;
        post(i) = 1.3 - 0.2 * i;
    }
    branch.pre.assign(network.mixers.size(), pre);
    branch.post.assign(network.mixers.size(), post);
    return network;
}

/// Sets of weights that take turns, with a size, pre and post of every layer's own.
Network by_turns(Network network, int sets) {
    auto& branch = std::get<TiedBranch>(network.branch);
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        const double x = static_cast<double>(l);
        branch.weights.push_back(static_cast<int>(l) % sets);
        branch.sigma2[l] *= 1 + 0.4 * std::cos(2 * x);
        if (!branch.hyper_connection()) continue;
        for (Eigen::Index i = 0; i < network.streams; ++i) {
            branch.pre[l](i) += 0.2 * std::sin(x + 2 * static_cast<double>(i));
            branch.post[l](i) -= 0.3 * std::cos(x + static_cast<double>(i));
        }
    }
    return network;
}

Complex green_of(Tracker& tracker, const Solution& solution) {
    return tracker.equation().scaled_green(solution.omega, solution.m) * std::exp(-solution.omega.log_scale);
}

Complex green_at(const Network& network, Complex omega) {
    Tracker tracker(make_tied(network), log_far, {-4.0});
    const Solution solution = tracker.solve(omega);
    EXPECT_EQ(solution.state, State::certified) << omega;
    return green_of(tracker, solution);
}

/// The definition, plainly: the whole 2Ln × 2Ln matrix inverted in the averaged fixed point.
Complex plain_tied_green(const Network& network, Complex omega) {
    const auto& branch = std::get<TiedBranch>(network.branch);
    const Eigen::Index n = network.streams, depth = network.depth(), size = 2 * depth * n;
    const auto w = [&](Eigen::Index l) { return 2 * l * n; };
    const auto v = [&](Eigen::Index l) { return (2 * l + 1) * n; };
    const Eigen::MatrixXcd one = Eigen::MatrixXcd::Identity(n, n);
    Eigen::MatrixXcd pencil = Eigen::MatrixXcd::Zero(size, size);
    pencil.block(w(0), w(0), n, n) = omega * one;
    pencil.block(v(depth - 1), v(depth - 1), n, n) = omega * one;
    for (Eigen::Index l = 0; l < depth; ++l) {
        const Eigen::MatrixXcd a = network.mixers[static_cast<std::size_t>(l)].cast<Complex>();
        pencil.block(v(l), w(l), n, n) -= a;
        pencil.block(w(l), v(l), n, n) -= a.transpose();
        if (l + 1 == depth) continue;
        pencil.block(w(l + 1), v(l), n, n) = one;
        pencil.block(v(l), w(l + 1), n, n) = one;
    }
    using Vectors = std::vector<Eigen::VectorXd>;
    const auto covariance = [&](const Eigen::MatrixXcd& block, Eigen::Index i, Eigen::Index j,
                                const Vectors& read, const Vectors& write) -> Eigen::MatrixXcd {
        const auto k = static_cast<std::size_t>(i), l = static_cast<std::size_t>(j);
        if (!branch.weights.empty() && branch.weights[k] != branch.weights[l]) return 0 * one;
        const double variance = std::sqrt(branch.sigma2[k] * branch.sigma2[l]);
        if (!branch.hyper_connection()) return variance * block.trace() / static_cast<double>(n) * one;
        return variance * read[k].cast<Complex>().dot(block * read[l]) * write[k] * write[l].transpose();
    };
    Eigen::MatrixXcd m = Complex(0, -1) * Eigen::MatrixXcd::Identity(size, size);
    for (int k = 0; k < 5000; ++k) {
        Eigen::MatrixXcd matrix = pencil;
        for (Eigen::Index i = 0; i < depth; ++i) {
            for (Eigen::Index j = 0; j < depth; ++j) {
                matrix.block(v(i), v(j), n, n) -=
                    covariance(m.block(w(i), w(j), n, n), i, j, branch.pre, branch.post);
                matrix.block(w(i), w(j), n, n) -=
                    covariance(m.block(v(i), v(j), n, n), i, j, branch.post, branch.pre);
            }
        }
        const Eigen::MatrixXcd next = matrix.inverse();
        const double change = (next - m).norm();
        m = 0.5 * (m + next);
        if (change < 1e-14 * m.norm()) break;
    }
    return m.block(v(depth - 1), v(depth - 1), n, n).trace() / static_cast<double>(n);
}

/// Fuss–Catalan law of order L, H = zG(z): H = 1 + (σ^{2L}/z) H^{L+1}, continued down from large Im ω.
Complex fuss_catalan_green(int depth, double sigma2, Complex omega) {
    Complex h = 1;
    for (double lift = 1e4; lift > 1e-8; lift *= 0.9) {
        const Complex at = omega + Complex(0, lift * std::abs(omega));
        for (int k = 0; k < 10; ++k) {
            const Complex power = std::pow(sigma2, depth) / (at * at) * std::pow(h, depth);
            h -= (1.0 + power * h - h) / (power * (depth + 1.0) - 1.0);
        }
    }
    for (int k = 0; k < 10; ++k) {
        const Complex power = std::pow(sigma2, depth) / (omega * omega) * std::pow(h, depth);
        h -= (1.0 + power * h - h) / (power * (depth + 1.0) - 1.0);
    }
    return h / omega;
}

TEST(Tied, ReproducesEveryGoldenValue) {
    std::ifstream file(SPECTRA_DATA_DIR "/golden/chain.json");
    const auto golden = nlohmann::json::parse(file);
    int cases = 0;
    for (const auto& entry : golden["cases"]) {
        if (entry["noise"]["kind"] != "tied") continue;
        ++cases;
        const std::string name = entry["name"];
        const Eigen::Index n = entry["streams"];
        const auto vector = [&](const nlohmann::json& values) {
            Eigen::VectorXd out(n);
            for (Eigen::Index i = 0; i < n; ++i) out(i) = values[static_cast<std::size_t>(i)];
            return out;
        };
        std::vector<Mixer> mixers;
        for (const auto& rows : entry["mixers"]) {
            Mixer mixer(n, n);
            for (Eigen::Index i = 0; i < n; ++i) mixer.row(i) = vector(rows[static_cast<std::size_t>(i)]);
            mixers.push_back(mixer);
        }
        Network network = tied_network(mixers, entry["noise"]["sigma2"]);
        if (entry["noise"].contains("pre"))
            network.branch = tied_branch(mixers.size(), entry["noise"]["sigma2"],
                                         vector(entry["noise"]["pre"]), vector(entry["noise"]["post"]));
        Tracker tracker(make_tied(network), log_far, {-4.0});
        for (std::size_t k = 0; k < entry["omega"].size(); ++k) {
            const Complex omega(entry["omega"][k][0], entry["omega"][k][1]);
            const Complex expected(entry["g"][k][0], entry["g"][k][1]);
            const Solution solution = tracker.solve(omega);
            EXPECT_EQ(solution.state, State::certified) << name << " at " << omega;
            EXPECT_LT(std::abs(green_of(tracker, solution) - expected), 1e-9 * std::abs(expected))
                << name << " at " << omega;
        }
    }
    EXPECT_EQ(cases, 9);
}

TEST(Tied, EqualsThePlainFixedPointOnTheWholeMatrix) {
    for (const int n : {1, 2, 3}) {
        for (const int depth : {1, 2, 3, 5}) {
            const Network isotropic = draw_tied(mixers::Family::gaussian, n, depth, 0.5 / depth);
            const Network hyper = with_hyper_connection(isotropic);
            for (const Network& network : {isotropic, hyper, by_turns(isotropic, 1), by_turns(hyper, 1),
                                           by_turns(isotropic, 2), by_turns(hyper, 2)}) {
                for (const Complex omega : {Complex(0.7, 0.5), Complex(1.4, 0.4), Complex(0.0, 0.6)}) {
                    const Complex expected = plain_tied_green(network, omega);
                    EXPECT_LT(std::abs(green_at(network, omega) - expected), 1e-11 * std::abs(expected))
                        << "n = " << n << ", L = " << depth << ", omega = " << omega;
                }
            }
        }
    }
}

TEST(Tied, IsTheChainWhereEveryLayerHasItsOwnWeights) {
    for (const bool hyper : {false, true})
        for (const int depth : {1, 2, 5}) {
            Network tied = draw_tied(mixers::Family::bistochastic, 4, depth, 0.3);
            if (hyper) tied = with_hyper_connection(tied);
            tied = by_turns(tied, depth);
            const auto& branch = std::get<TiedBranch>(tied.branch);
            Network independent = tied;
            if (hyper)
                independent.branch = HyperConnectionBranch{branch.sigma2, branch.pre, branch.post, {}};
            else
                independent.branch = IsotropicBranch{branch.sigma2, {}};
            Tracker chain(make_chain(independent), log_far, {-4.0});
            for (const Complex omega : {Complex(0.9, 0.01), Complex(0.2, 0.05), Complex(1.3, 0.2)}) {
                const Solution solution = chain.solve(omega);
                ASSERT_TRUE(solution.ok());
                const Complex expected = green_of(chain, solution);
                EXPECT_LT(std::abs(green_at(tied, omega) - expected), 1e-10 * std::abs(expected))
                    << omega << ", L = " << depth;
            }
        }
}

TEST(Tied, PowersOfOneGinibreMatrixFollowTheFussCatalanLaw) {
    const double sigma2 = 0.8;
    for (const int depth : {1, 2, 3, 5, 8}) {
        for (const int n : {1, 3}) {
            const Network network =
                tied_network(std::vector<Mixer>(static_cast<std::size_t>(depth), Mixer::Zero(n, n)), sigma2);
            for (const Complex omega : {Complex(0.9, 0.01), Complex(0.1, 1e-3), Complex(2.5, 0.05)}) {
                const Complex expected = fuss_catalan_green(depth, sigma2, omega);
                EXPECT_LT(std::abs(green_at(network, omega) - expected), 1e-9 * std::abs(expected))
                    << "L = " << depth << ", n = " << n << ", omega = " << omega;
            }
        }
    }
}

TEST(Tied, FindsTheEdgeOfAGinibrePowerOnTheRealAxis) {
    for (const int depth : {1, 2, 4}) {
        const Network network =
            tied_network(std::vector<Mixer>(static_cast<std::size_t>(depth), Mixer::Zero(2, 2)), 1);
        const double log_edge = 0.5 * ((depth + 1) * std::log(depth + 1.0) - depth * std::log(depth));
        Tracker tracker(make_tied(network), log_edge, {-4.0});
        EXPECT_EQ(tracker.solve(log_edge + 1e-3, 0).state, State::gap) << depth;
        EXPECT_EQ(tracker.solve(log_edge - 1e-3, 0).state, State::certified) << depth;
    }
}

TEST(Tied, KeepsItsAccuracyAtSmallSingularValues) {
    // Powers of a product of free Ginibre matrices follow the same law.
    for (const auto& [depth, sets] : {std::pair(2, 1), {3, 1}, {4, 2}, {4, 4}, {6, 3}}) {
        Network network =
            tied_network(std::vector<Mixer>(static_cast<std::size_t>(depth), Mixer::Zero(2, 2)), 1);
        for (int l = 0; l < depth; ++l) std::get<TiedBranch>(network.branch).weights.push_back(l % sets);
        Tracker tracker(make_tied(network), log_far, {-30.0});
        for (const double log_s : {-5.0, -15.0, -30.0}) {
            const Solution solution = tracker.solve(log_s, 0);
            ASSERT_EQ(solution.state, State::certified) << log_s;
            const double s = std::exp(log_s);
            const Complex expected = s * fuss_catalan_green(depth, 1, s);
            EXPECT_LT(std::abs(tracker.equation().scaled_green(solution.omega, solution.m) - expected),
                      1e-9 * std::abs(expected))
                << "L = " << depth << ", sets = " << sets << ", ln s = " << log_s;
        }
    }
}

TEST(Tied, RefusesTheFalseRootThatDiagonalsAloneAdmit) {
    const Network network = tied_network({Mixer{{0.2}}, Mixer{{0.2}}}, 1);
    const Frequency omega{0, {0.3, 0.02}};
    const auto equation = make_tied(network);
    Unknowns root(6);  // W_00, W_01, W_11, V_00, V_01, V_11
    root << Complex(1.5208, -0.9924), Complex(-0.0991, -0.5981), Complex(0.1193, -0.0747),
        Complex(0.1193, -0.0747), Complex(-0.0991, -0.5981), Complex(1.5208, -0.9924);
    Unknowns delta;
    for (int k = 0; k < 10; ++k) {
        ASSERT_TRUE(equation->newton_step(omega, root, delta));
        root = equation->moved(root, delta, 1);
    }
    EXPECT_LT(delta.cwiseAbs().maxCoeff(), 1e-12) << "not a root";
    EXPECT_LT(std::abs(equation->scaled_green(omega, root) - Complex(1.521, -0.992)), 1e-3);
    for (const int diagonal : {0, 2, 3, 5}) EXPECT_LT(root(diagonal).imag(), 0);
    EXPECT_FALSE(equation->admissible(omega, root, -1e-3));
    EXPECT_FALSE(newton(*equation, omega, root).ok());

    const Complex right = green_at(network, {0.3, 0.02});
    EXPECT_LT(std::abs(right - Complex(0.814, -1.091)), 1e-3);
    EXPECT_LT(std::abs(right - plain_tied_green(network, {0.3, 0.02})), 1e-9);
}

TEST(Tied, RefusesAnUnstableRealRootInAGap) {
    // One layer without a skip: g = (ω ∓ √(ω² − 4))/2 above the edge at 2; only the small one is right.
    const Network network = tied_network({Mixer{{0.0}}}, 1);
    const auto equation = make_tied(network);
    const Frequency omega{0, 2.5};
    EXPECT_TRUE(equation->stable_in_gap(omega, Unknowns::Constant(2, 0.5)));
    EXPECT_FALSE(equation->stable_in_gap(omega, Unknowns::Constant(2, 2.0)));
    EXPECT_EQ(newton(*equation, omega, Unknowns::Constant(2, 0.5)).state, State::gap);
    EXPECT_FALSE(newton(*equation, omega, Unknowns::Constant(2, 2.0)).ok());
}

TEST(Tied, DenseAndMatrixFreeNewtonAgree) {
    const Network isotropic = draw_tied(mixers::Family::bistochastic, 3, 6, 0.05);
    const Network recurrent = draw_tied(mixers::Family::cayley, 2, 5, 0.05, true);
    const Network hyper = with_hyper_connection(isotropic);
    for (const Network& network : {isotropic, recurrent, hyper, by_turns(isotropic, 2), by_turns(hyper, 2)}) {
        Tracker dense(make_tied(network, 1000), log_far, {-4.0}),
            free(make_tied(network, 0), log_far, {-4.0});
        for (const double log_s : {0.5, 0.0, -1.5, -5.0}) {
            const Solution a = dense.solve(log_s, 0), b = free.solve(log_s, 0);
            ASSERT_TRUE(a.ok() && b.ok()) << log_s;
            ASSERT_EQ(a.state, b.state);
            const Unknowns scale = dense.equation().scale(a.m);
            EXPECT_LT((a.m - b.m).cwiseQuotient(scale).cwiseAbs().maxCoeff(), 1e-8) << log_s;
        }
    }
}

TEST(Tied, FarSolutionIsRightToSecondOrder) {
    const Network isotropic = draw_tied(mixers::Family::gaussian, 3, 4, 0.2);
    const Network hyper = with_hyper_connection(isotropic);
    for (const Network& network : {isotropic, hyper, by_turns(isotropic, 2), by_turns(hyper, 3)}) {
        const auto equation = make_tied(network);
        double previous = 0;
        for (const double log_scale : {5.0, 6.0}) {
            const Frequency omega{log_scale, {0.6, 0.8}};
            Unknowns delta;
            ASSERT_TRUE(equation->newton_step(omega, equation->far(omega), delta));
            const double error = delta.cwiseAbs().maxCoeff();
            if (log_scale > 5) {
                EXPECT_NEAR(error / previous, std::exp(-2.0), 0.02);
            }
            previous = error;
        }
    }
}

TEST(Tied, MeanSquareIsTheSecondCoefficientOfTheGreensFunction) {
    const Network isotropic = draw_tied(mixers::Family::gaussian, 2, 4, 0.2);
    const Network recurrent = draw_tied(mixers::Family::bistochastic, 3, 3, 0.3, true);
    for (const Network& network : {isotropic, recurrent, with_hyper_connection(isotropic)}) {
        // ω²(ωg − 1) = E s² + E s⁴/ω² + …: extrapolate from two points of the imaginary axis.
        const auto coefficient = [&](double height) {
            const Complex omega(0, height);
            return (omega * omega * (omega * green_at(network, omega) - 1.0)).real();
        };
        const double scale = 60 * std::sqrt(mean_square(network));
        const double extrapolated = (4 * coefficient(2 * scale) - coefficient(scale)) / 3;
        EXPECT_NEAR(mean_square(network), extrapolated, 1e-5 * extrapolated);
    }
}

TEST(Tied, MeanSquareOfSmallCases) {
    const double a = 0.7, s2 = 0.3;
    // (a + X)²: the terms a², 2aX and X² are orthogonal.
    EXPECT_NEAR(mean_square(tied_network({Mixer{{a}}, Mixer{{a}}}, s2)),
                std::pow(a, 4) + 4 * a * a * s2 + s2 * s2, 1e-14);
    EXPECT_NEAR(mean_square(tied_network(std::vector<Mixer>(5, Mixer::Zero(2, 2)), s2)), std::pow(s2, 5),
                1e-14);
    // One layer of a hyper-connection: |A|²/n + σ² |pre|² |post|²/n.
    const Network hyper = with_hyper_connection(draw_tied(mixers::Family::orthogonal, 3, 1, s2));
    const auto& branch = std::get<TiedBranch>(hyper.branch);
    EXPECT_NEAR(mean_square(hyper), 1 + s2 * branch.pre[0].squaredNorm() * branch.post[0].squaredNorm() / 3,
                1e-14);
}

TEST(Tied, MixingKeepsASolutionAndItsScales) {
    const Network network = draw_tied(mixers::Family::gaussian, 2, 3, 0.2);
    const auto equation = make_tied(network);
    const Frequency omega{0.5, {1.0, 0.5}};
    const Solution solution = newton(*equation, omega, equation->far(omega));
    ASSERT_TRUE(solution.ok());
    const Unknowns other = 4.0 * solution.m;
    const double weights[] = {1.5, -0.5};
    const Unknowns mixed = equation->mix({&solution.m, &other}, weights);
    EXPECT_LT((mixed - 0.5 * solution.m).norm(), 1e-14 * mixed.norm());
}

TEST(Tied, RefusesWhatItCannotSolve) {
    const Network large = tied_network(std::vector<Mixer>(33, Mixer::Identity(4, 4)), 0.1);
    testing::expect_refused([&] { make_tied(large); }, {"132", "128"});
    Network wrong = tied_network({Mixer::Identity(2, 2)}, 0.1);
    wrong.branch = IsotropicBranch{{0.1}, {}};
    testing::expect_refused([&] { make_tied(wrong); }, {"tied"});
}

}  // namespace
}  // namespace spectra::dyson
