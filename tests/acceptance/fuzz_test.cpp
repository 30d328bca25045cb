// Random networks through the theory: certified or named, and never a wrong branch. The same over many more
// models: bench/dyson_fuzz.

#include "support/dense_dyson.hpp"
#include "support/fuzz_checks.hpp"
#include "support/fuzz_models.hpp"

#include "dyson/law/theory.hpp"
#include "montecarlo/run/simulate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <set>

namespace spectra {
namespace {

using tests::Complex;
using tests::Sampled;

// What the suite can afford, by tests::fuzz_cost and never by time.
constexpr int models = 60;
constexpr double green_cost = 3000;
constexpr double law_cost = 400;

TEST(FuzzModels, AreTheSameFromTheSameIndex) {
    const tests::FuzzModels draw;
    for (const std::uint32_t index : {0u, 3u, 200u}) {
        const auto first = draw(index), second = draw(index);
        EXPECT_EQ(first.name, second.name);
        EXPECT_EQ(first.network.mixers.front(), second.network.mixers.front());
    }
    EXPECT_NE(draw(0).name, tests::FuzzModels(2)(0).name);
}

TEST(FuzzModels, CoverBranchesMixersAndSizes) {
    const tests::FuzzModels draw;
    std::set<std::string> kinds;
    std::set<int> streams;
    int deepest = 0;
    double weakest = 1, strongest = 0;
    for (std::uint32_t index = 0; index < 1000; ++index) {
        const auto model = draw(index);
        EXPECT_NO_THROW(check(model.network)) << model.name;
        kinds.insert(model.name.substr(0, model.name.find(',')));
        const auto mixers = model.name.find(", ") + 2;
        kinds.insert(model.name.substr(mixers, model.name.find(',', mixers) - mixers));
        streams.insert(model.network.streams);
        deepest = std::max(deepest, model.network.depth());
        if (std::holds_alternative<TiedBranch>(model.network.branch)) {
            EXPECT_LE(model.network.depth(), 8);
        }
        for (const double v : sigma2(model.network)) {
            if (v > 0) weakest = std::min(weakest, v);
            strongest = std::max(strongest, v);
        }
    }
    // 6 branches and 9 activations; 14 mixers, shared or not, and mixed ones.
    EXPECT_EQ(kinds.size(), 6u + 9u + 14u * 2u + 1u);
    EXPECT_EQ(streams.size(), 8u);
    EXPECT_GE(deepest, 39);
    EXPECT_LT(weakest, 1e-12);
    EXPECT_GT(strongest, 3);
}

// ---- the check can fail ------------------------------------------------------------------------------

/// Two-point law: half of its mass at ±1, half at ±2.
Complex two_points(Complex omega) {
    return omega * (0.5 / (omega * omega - 1.0) + 0.5 / (omega * omega - 4.0));
}

Sampled sample(const std::vector<Complex>& omega) {
    Sampled f;
    for (const Complex w : omega) {
        f.omega.push_back(w);
        f.value.push_back(two_points(w));
        f.error.push_back(1e-12 * std::abs(f.value.back()));
    }
    return f;
}

TEST(WrongBranch, AcceptsALawAndItsContinuedFraction) {
    const Sampled g = sample({{1.1, 0.5}, {-1.1, 0.05}, {0.3, 1e-3}, {1.5, 1e-6}, {0, 2}, {30, 30}});
    EXPECT_LE(tests::pick_violation(g), 1);
    const double m2 = 2.5, m4 = 8.5;
    const Sampled first = tests::continued(g, m2);
    EXPECT_LE(tests::pick_violation(first), 1);
    EXPECT_LE(tests::pick_violation(tests::continued(first, m4 / m2 - m2)), 1);
}

TEST(WrongBranch, RefusesAWrongSignAWrongValueAndWrongMoments) {
    const std::vector<Complex> omega{{1.1, 0.5}, {1.1, 0.25}, {0.3, 0.1}, {0.3, 0.05}};
    Sampled wrong = sample(omega);
    wrong.value[2] = std::conj(wrong.value[2]);
    EXPECT_GT(tests::pick_violation(wrong), 1);
    wrong = sample(omega);
    wrong.value[1] *= 2;
    EXPECT_GT(tests::pick_violation(wrong), 1);
    const Sampled g = sample({{4, 1}, {5, 1}, {1.1, 0.5}});
    // Too small a moment gives the next function more than mass one, which the one after it shows.
    const auto wrong_after = [](const Sampled& f, double b) {
        return tests::pick_violation(tests::continued(tests::continued(f, b), 0.5));
    };
    EXPECT_LE(wrong_after(g, 2.5), 1);
    EXPECT_GT(wrong_after(g, 2.0), 1) << "mean square 2 for 2.5";
    const Sampled first = tests::continued(g, 2.5);
    EXPECT_LE(wrong_after(first, 0.9), 1);
    EXPECT_GT(wrong_after(first, 0.5), 1) << "fourth moment 7.5 for 8.5";
}

TEST(WrongBranch, RefusesTheFalseRootOfTiedWeights) {
    // Both have diagonals of the right sign (docs/theory.md).
    Network network;
    network.streams = 1;
    network.mixers.assign(2, Mixer::Constant(1, 1, 0.2));
    network.branch = tied_branch(2, 1.0);
    auto green = dyson::green(network, {{0.3, 0.3}, {0.3, 0.1}, {0.3, 0.02}, {0.3, 0.005}});
    EXPECT_EQ(tests::wrong_branch(network, green, false), "");
    green.g[2] = {1.521, -0.992};
    EXPECT_NE(tests::wrong_branch(network, green, false), "");
}

// ---- the models --------------------------------------------------------------------------------------

/// The dense reference where it converges: it must not move when it is given twice the iterations.
void expect_dense(const tests::FuzzModel& model, const dyson::Green& green) {
    const Network& network = model.network;
    const bool activation = std::holds_alternative<ActivationBranch>(network.branch);
    if (activation || !branch_law(network, 0).empty() || network.streams * network.depth() > 8) return;
    const tests::DenseDyson dense(network);
    for (std::size_t k = 0; k < green.omega.size(); ++k) {
        const Complex omega = green.omega[k];
        if (green.certified[k] == 0 || omega.imag() < 0.9 * std::abs(omega.real())) continue;
        const Complex once = dense.green(omega, 100), twice = dense.green(omega, 200);
        if (!(std::abs(once - twice) < 1e-6 * std::abs(twice))) continue;
        EXPECT_LT(std::abs(green.g[k] - twice), 1e-4 * std::abs(twice))
            << model.index << ": " << model.name << " at " << omega;
    }
}

/// Two equal rotations and a hyper-connection: five bands about s = 1, where all noiseless singular values coincide. The
/// one of mass 1/9 below it is found by counts alone.
TEST(Fuzz, FindsBandsThatNoSingularValueMarks) {
    const auto model = tests::FuzzModels()(116);
    dyson::Options options;
    options.points = 60;
    const auto theory = dyson::solve(model.network, dyson::Method::operator_valued, options);
    EXPECT_TRUE(theory.summary.certified) << model.name << ": " << theory.summary.message;
    EXPECT_EQ(theory.law.density().support.size(), 5u);
    EXPECT_NEAR(theory.summary.mass, 1, 1e-9);
    EXPECT_NEAR(theory.summary.mean_square / theory.summary.mean_square_exact, 1, 1e-9);
}

TEST(Fuzz, EveryModelEndsCertifiedOrNamedOnTheRightBranch) {
    const tests::FuzzModels draw;
    int points = 0, certified = 0, laws = 0, certified_laws = 0;
    std::uint32_t index = 0;
    for (int count = 0; count < models; ++index) {
        const auto model = draw(index);
        const Network& network = model.network;
        const double cost = tests::fuzz_cost(network);
        if (cost > green_cost) continue;
        ++count;
        SCOPED_TRACE(std::to_string(index) + ": " + model.name);
        const bool sampled =
            std::holds_alternative<ActivationBranch>(network.branch) && !dyson::site_draws(network).exact;
        const auto green = dyson::green(network, tests::fuzz_points(network, index, 16));
        for (const auto flag : green.certified) certified += flag;
        points += static_cast<int>(green.omega.size());
        EXPECT_EQ(tests::wrong_branch(network, green, sampled), "");
        expect_dense(model, green);
        if (cost > law_cost) continue;
        dyson::Options options;
        options.points = 60;
        const auto theory = dyson::solve(network, dyson::Method::operator_valued, options);
        const auto& summary = theory.summary;
        ++laws;
        certified_laws += summary.certified ? 1 : 0;
        EXPECT_FALSE(summary.message.empty());
        EXPECT_EQ(summary.certified, summary.message == "certified");
        if (!summary.certified) continue;
        EXPECT_NEAR(summary.mass, 1, 1e-5);
        EXPECT_NEAR(summary.mean_square / summary.mean_square_exact, 1, 1e-5);
        if (!sampled) {
            EXPECT_EQ(tests::differs_from_law(green, theory.law), "");
        }
    }
    std::printf("%d of %d points and %d of %d laws certified, models 0 to %u\n", certified, points,
                certified_laws, laws, index - 1);
    EXPECT_GE(certified, 0.85 * points);
    EXPECT_GE(certified_laws, 0.8 * laws);
}

}  // namespace
}  // namespace spectra
