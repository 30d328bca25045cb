#include "montecarlo/sample/rounding.hpp"

#include "linalg/singular_values.hpp"
#include "montecarlo/sample/sampler.hpp"
#include "montecarlo/wide_values.hpp"
#include "support/branches.hpp"
#include "support/networks.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace spectra;
using namespace spectra::tests;
using montecarlo::expectation;
using montecarlo::log_floor;
using montecarlo::scaled_layers;

/// ln of the singular values of the same Jacobian, held exactly enough, ascending.
std::vector<double> exact_log_values(const Network& network, std::uint64_t seed, std::uint32_t sample) {
    return wide_log_values<50>(jacobian_reference<Wide<50>>(network, seed, sample));
}

struct Compared {
    std::vector<double> exact, computed;
    double floor = 0;
};

Compared compared(const Network& network, std::uint32_t sample) {
    Compared out;
    out.exact = exact_log_values(network, 1, sample);
    const auto layers = scaled_layers(network);
    montecarlo::Sampler sampler(network.streams, network.width);
    sampler.draw(layers, 1, sample);
    linalg::SingularValues solver(network.size());
    out.computed.resize(out.exact.size());
    EXPECT_TRUE(solver.compute(sampler.matrix(), sampler.exponent(), out.computed));
    out.floor =
        log_floor(std::log(sampler.matrix().norm()) + static_cast<double>(sampler.exponent()) * std::log(2.0),
                  expectation(layers).rounding);
    return out;
}

Network contracting(int depth, int width, double ratio) {
    // diag(1, ratio) turned differently in every layer, so that nothing is graded by rows.
    std::vector<Mixer> mixers;
    for (int l = 0; l < depth; ++l) {
        Mixer turn(2, 2);
        const double angle = 0.7 * l + 0.3;
        turn << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
        mixers.push_back(turn * Eigen::Vector2d(1, ratio).asDiagonal() * turn.transpose());
    }
    return make_network(mixers, width, std::vector<double>(static_cast<std::size_t>(depth), 1e-3));
}

/// What is above the floor is right, what is below is counted below.
void expect_floor(const Network& network, std::uint32_t samples, const std::string& name) {
    std::uint32_t above = 0;
    int wrong_below = 0;
    for (std::uint32_t sample = 0; sample < samples; ++sample) {
        const auto [exact, computed, floor] = compared(network, sample);
        for (std::size_t i = 0; i < exact.size(); ++i) {
            const double error = std::abs(exact[i] - computed[i]);
            if (exact[i] > floor) {
                ++above;
                EXPECT_LE(error, 0.1)
                    << name << ", value " << i << " at " << exact[i] - floor << " above the floor";
                // Twenty floors up, 1 %.
                if (exact[i] > floor + 3) {
                    EXPECT_LE(error, 0.01) << name << ", value " << i;
                }
            } else {
                // Counted below, even where they are lost.
                EXPECT_LE(computed[i], floor + 0.1) << name;
                wrong_below += error > 0.5 ? 1 : 0;
            }
        }
    }
    // The floor is neither above everything nor so low that nothing below it is lost.
    EXPECT_GT(above, 3 * samples) << name;
    EXPECT_GT(wrong_below, 0) << name;
}

TEST(Rounding, FloorSeparatesWhatTheProductHolds) {
    expect_floor(make_network(Mixer::Zero(1, 1), 30, 12, 1.0), 3, "no mixer");
    expect_floor(contracting(20, 6, 0.05), 3, "contracting");
    expect_floor(draw_network(mixers::Family::bistochastic, 4, 30, 3, 0.05), 3, "bistochastic");
    expect_floor(draw_network(mixers::Family::gaussian, 3, 40, 4, 0.05), 3, "gaussian");
}

TEST(Rounding, FloorHoldsForEveryBranch) {
    auto network = contracting(20, 6, 0.05);
    for (const auto& [name, branch] : every_branch(2, 20, 1e-3)) {
        network.branch = branch;
        expect_floor(network, 1, "contracting, " + name);
    }
    network = draw_network(mixers::Family::bistochastic, 3, 40, 4, 0);
    for (const auto& [name, branch] : every_branch(3, 40, 0.05)) {
        network.branch = branch;
        expect_floor(network, 1, "bistochastic, " + name);
    }
}

TEST(Rounding, ZerosOfALawAreBelowTheFloor) {
    // Rounded reflections: exact zeros come out at 1 to 2 u‖X‖_F, worst where most values are zero.
    for (const double zeros : {0.5, 0.9}) {
        std::vector<double> values(10, 1.0);
        std::fill_n(values.begin(), static_cast<int>(10 * zeros), 0.0);
        auto network = make_network(Mixer::Zero(2, 2), 1, 50, 0);
        for (const bool hyper : {false, true}) {
            network.branch = IsotropicBranch{{}, {values}};
            if (hyper) network.branch = hyper_connection(2, 1, 1, {values});
            const auto layers = scaled_layers(network);
            montecarlo::Sampler sampler(2, 50);
            sampler.draw(layers, 1, 0);
            std::vector<double> log_values(100);
            ASSERT_TRUE(linalg::SingularValues(100).compute(sampler.matrix(), 0, log_values));
            const double floor = log_floor(std::log(sampler.matrix().norm()), expectation(layers).rounding);
            const auto expected = static_cast<std::size_t>(std::lround((1 - zeros) * (hyper ? 50 : 100)));
            EXPECT_LT(log_values[99 - expected], floor - 0.5);
            EXPECT_GT(log_values[100 - expected], floor + 20);
        }
    }
}

TEST(Rounding, IsometriesAccumulateOneProductAtATime) {
    for (const int depth : {1, 2, 10, 100}) {
        const auto network = make_network(Mixer::Identity(3, 3), depth, 4, 0.05 / depth);
        const auto expected = expectation(scaled_layers(network));
        EXPECT_NEAR(expected.rounding, std::sqrt(depth), 1e-10 * depth);
        EXPECT_NEAR(expected.log_mean_square, depth * std::log1p(0.05 / depth), 1e-12 * depth);
    }
}

TEST(Rounding, MeanSquareAtAnyScale) {
    // diag(1, ½) at depth 2 by hand: T_1 = diag(1, ¼) + σ², tr = t_1; T_2 = diag(T_1,11, T_1,22/4) + σ² t_1.
    Mixer mixer = Eigen::Vector2d(1, 0.5).asDiagonal();
    const double v = 0.1;
    const double t1 = 0.5 * (1.25 + 2 * v);
    const double t2 = 0.5 * ((1 + v) + 0.25 * (0.25 + v) + 2 * v * t1);
    for (const double scale : {1.0, 1e-100, 1e100}) {
        const auto out = expectation(scaled_layers(
            make_network({scale * mixer, mixer / scale}, 5, {v * scale * scale, v / scale / scale})));
        EXPECT_NEAR(out.log_mean_square, std::log(t2), 1e-12);
    }
    const auto deep = expectation(scaled_layers(make_network(Mixer(1e-3 * mixer), 1000, 5, 0)));
    EXPECT_NEAR(deep.log_mean_square, 2000 * std::log(1e-3) + std::log(0.5), 1e-9);
    const auto nothing = expectation(scaled_layers(make_network(Mixer::Zero(2, 2), 1, 5, 0)));
    EXPECT_EQ(nothing.log_mean_square, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(nothing.rounding, 1);
}

TEST(Rounding, MeanSquareOfEveryBranch) {
    for (const auto family : {mixers::Family::gaussian, mixers::Family::bistochastic}) {
        for (const int depth : {1, 2, 7}) {
            auto network = draw_network(family, 3, depth, 5, 0);
            for (const auto& [name, branch] : every_branch(3, depth, 0.4)) {
                network.branch = branch;
                const double out = expectation(scaled_layers(network)).log_mean_square;
                if (!std::holds_alternative<TiedBranch>(branch)) {
                    EXPECT_NEAR(out, std::log(exact_mean_square(network)), 1e-13) << name;
                } else if (depth == 2 && std::get<TiedBranch>(branch).weights.empty()) {
                    EXPECT_NEAR(
                        out,
                        std::log(exact_tied_mean_square(network, std::numeric_limits<double>::infinity())),
                        1e-13)
                        << name;
                }
            }
        }
    }
}

TEST(Rounding, AWeightSetForEveryLayerIsIndependentLayers) {
    auto network = draw_network(mixers::Family::gaussian, 3, 6, 5, 0);
    for (const bool hyper : {false, true}) {
        auto branch = taking_turns(3, 6, 0.4, hyper);
        branch.weights = {0, 1, 2, 3, 4, 5};
        network.branch = branch;
        const double own = expectation(scaled_layers(network)).log_mean_square;
        network.branch = IsotropicBranch{branch.sigma2};
        if (hyper) network.branch = HyperConnectionBranch{branch.sigma2, branch.pre, branch.post};
        EXPECT_NEAR(own, expectation(scaled_layers(network)).log_mean_square, 1e-12);
    }
}

TEST(Rounding, PowersOfTwoSetsThatTakeTurns) {
    // n = 1: a_1 and a_2 with X and X', J = ((a_2 + X')(a_1 + X))². Words are orthogonal: of their letters
    // X'·X X'·X a word keeps those of any subset, and two subsets that spell the same word add up.
    const double a1 = 0.7, a2 = -0.4, s1 = 0.6, s2 = 0.9;
    std::map<std::string, double> words;
    for (unsigned code = 0; code < 16; ++code) {
        double factor = 1;
        std::string word;
        for (unsigned k = 0; k < 4; ++k) {
            const bool noise = (code >> k & 1U) != 0, second = k % 2 == 1;
            factor *= noise ? (second ? s2 : s1) : (second ? a2 : a1);
            if (noise) word += second ? 'y' : 'x';
        }
        words[word] += factor;
    }
    double expected = 0;
    for (const auto& [word, factor] : words) expected += factor * factor;
    auto network = make_network({Mixer{{a1}}, Mixer{{a2}}, Mixer{{a1}}, Mixer{{a2}}}, 5, {0, 0, 0, 0});
    network.branch = TiedBranch{{s1 * s1, s2 * s2, s1 * s1, s2 * s2}, {}, {}, {0, 1, 0, 1}};
    EXPECT_NEAR(expectation(scaled_layers(network)).log_mean_square, std::log(expected), 1e-13);
}

/// ln Σ_k (m over k)² r^k: E s² of (1 + X)^m, σ² = r, at infinite width.
double log_mean_square_of_power(int m, double ratio) {
    const double largest = 2 * m * std::log1p(std::sqrt(ratio));
    double sum = 0;
    for (int k = 0; k <= m; ++k) {
        const double log_choose = std::lgamma(m + 1) - std::lgamma(k + 1) - std::lgamma(m - k + 1);
        sum += std::exp(2 * log_choose + k * std::log(ratio) - largest);
    }
    return std::log(sum) + largest;
}

TEST(Rounding, TiedPowersAtAnyDepthAndScale) {
    // n = 1, A = a: J = (a + X)^L.
    for (const double a : {1.0, 0.5, -0.3, 2e100}) {
        for (const double ratio : {1e-4, 0.1, 3.0}) {
            for (const int depth : {1, 2, 10, 200}) {
                auto network = make_network(a * Mixer::Identity(1, 1), depth, 4, 0);
                network.branch = tied_branch(network.mixers.size(), ratio * a * a);
                std::vector<double> log_power;  // of a^{−2m} E tr (a + X)^m (a + X)^mᵀ
                for (int m = 0; m <= depth; ++m) log_power.push_back(log_mean_square_of_power(m, ratio));
                const auto out = expectation(scaled_layers(network));
                const double expected = log_power.back() + 2 * depth * std::log(std::abs(a));
                EXPECT_NEAR(out.log_mean_square, expected, 1e-12 * depth * (1 + std::abs(expected)));
                // Products 2 … L are rounded, each carried on by the power that follows it.
                double error = 0;
                for (std::size_t l = 2; l < log_power.size(); ++l) {
                    const double made = std::max(log_power[l], log_power[l - 1] + std::log1p(ratio));
                    error += std::exp(log_power[log_power.size() - 1 - l] + made - log_power.back());
                }
                EXPECT_NEAR(out.rounding, std::sqrt(1 + error), 1e-9 * out.rounding);
            }
        }
    }
    auto network = make_network(Mixer::Zero(2, 2), 3, 4, 0);
    network.branch = tied_branch(3, 0);
    EXPECT_EQ(expectation(scaled_layers(network)).log_mean_square, -std::numeric_limits<double>::infinity());
}

}  // namespace
