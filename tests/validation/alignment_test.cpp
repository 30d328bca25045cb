#include "validation/alignment.hpp"

#include "linalg/singular_values.hpp"
#include "support/measured_stack.hpp"
#include "validation/common_part.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace spectra::validation {
namespace {

using spectra::testing::measured_stack;

std::vector<Mixer> identities(int depth) {
    return std::vector<Mixer>(static_cast<std::size_t>(depth), Mixer::Identity(2, 2));
}

Spectrum law_of(const layouts::Measurement& m) {
    std::vector<double> logs;
    for (const double v : m.singular_values) logs.push_back(std::log(v));
    return Spectrum::from_log_values(logs);
}

TEST(Alignment, BranchesThatAreFreeNeedNone) {
    for (const bool mix : {true, false}) {
        const auto m = measured_stack(identities(5), mix ? 48 : 24, 0.4, mix, 3);
        const Alignment a = align({m}, law_of(m), {});
        EXPECT_GE(a.explain, 0.02);  // what one draw of this size is off
        ASSERT_TRUE(a.rank);
        EXPECT_EQ(*a.rank, 0);
        EXPECT_EQ(a.by_rank.size(), 1U);
        EXPECT_FALSE(a.theory);
    }
}

TEST(Alignment, TwoCommonDirectionsAreRankTwo) {
    const auto m = measured_stack(identities(5), 48, 0.4, true, 4, 0, 1.5);
    AlignmentOptions options;
    options.explain = 0.05;
    const Alignment a = align({m}, law_of(m), options);
    EXPECT_GT(a.by_rank.front().distance, options.explain);
    ASSERT_TRUE(a.rank);
    EXPECT_EQ(*a.rank, 2);
    EXPECT_GT(a.overlaps(4, 0), 5 * 2.0 / 48);
    ASSERT_TRUE(a.theory);
    EXPECT_TRUE(a.theory->certificate.certified) << a.theory->certificate.message;
    EXPECT_NEAR(a.theory->distance, a.best().distance, 0.005);
    EXPECT_NEAR(a.theory->metrics.largest / a.best().metrics.largest, 1, 0.05);
}

TEST(Alignment, EverythingKeptIsTheMeasurement) {
    for (const bool mix : {true, false}) {
        const auto m = measured_stack(identities(3), 12, 0.5, mix, 5, 0, 1);
        const int all = mix ? 12 : 24;
        const Alignment a = align({m}, law_of(m), {.rank = all, .stored = 3, .theory = false});
        ASSERT_TRUE(a.network);
        EXPECT_EQ(std::get<AlignedBranch>(a.network->branch).kept.front().count(), 3) << "what was to be stored";
        EXPECT_EQ(a.best().rank, all);
        EXPECT_LT(a.best().distance, 1e-10);
        EXPECT_NEAR(a.best().metrics.largest, m.singular_values.front(), 1e-8 * m.singular_values.front());
    }
}

// The branches of one set are the same matrix: keeping half of it with its vectors leaves a rest that is drawn once.
TEST(Alignment, SharedWeightsShareTheirRest) {
    const auto m = measured_stack(identities(4), 32, 0.4, true, 6, 1);
    const Network network = aligned_network(m, 4);
    EXPECT_EQ(first_with_weights(network), (std::vector<std::size_t>{0, 0, 0, 0}));
    const Alignment shared = align({m}, law_of(m), {.rank = 4, .theory = false});
    auto unshared = m;
    for (std::size_t l = 0; l < unshared.branches.size(); ++l) unshared.branches[l].weights = static_cast<int>(l);
    const Alignment independent = align({unshared}, law_of(m), {.rank = 4, .theory = false});
    EXPECT_LT(shared.by_rank.back().distance, independent.by_rank.back().distance);
}

/// The Jacobian of a connection, A ⊗ I + post preᵀ ⊗ F or A ⊗ I + X.
Eigen::MatrixXd jacobian(const layouts::Connection& c, const Triplets& core, Eigen::Index width) {
    const auto n = c.mixer.rows();
    Eigen::MatrixXd out = c.pre.size() > 0 ? Eigen::MatrixXd::Zero(n * width, n * width) : core.matrix();
    for (Eigen::Index i = 0; i < n; ++i) {
        for (Eigen::Index j = 0; j < n; ++j) {
            auto block = out.block(i * width, j * width, width, width);
            if (c.pre.size() > 0) block += c.post(i) * c.pre(j) * core.matrix();
            block.diagonal().array() += c.mixer(i, j);
        }
    }
    return out;
}

TEST(CommonPart, LeavesJacobiansAsTheyAre) {
    for (const bool mix : {true, false}) {
        const int width = 16;
        const auto m = measured_stack(identities(3), width, 0.5, mix, 7, 0, 1);
        const auto split = without_common_part(m);
        for (std::size_t l = 0; l < m.branches.size(); ++l) {
            const auto before = jacobian(m.stack.connections[l], m.branches[l].core, width);
            const auto after =
                jacobian(split.measurement.stack.connections[l], split.measurement.branches[l].core, width);
            EXPECT_LT((after - before).norm(), 1e-12 * before.norm());
            const auto& values = split.measurement.branches[l].core.values;
            EXPECT_TRUE(std::is_sorted(values.begin(), values.end(), std::greater<>()));
        }
    }
}

// The fit is exact where the rest is nothing but tI, whatever a few large triplets do.
TEST(CommonPart, IsFoundBesideLargeTriplets) {
    for (const bool mix : {true, false}) {
        auto m = measured_stack(identities(2), 32, 0.5, mix, 8);
        Eigen::MatrixXd t = Eigen::MatrixXd::Constant(1, 1, 0.3);
        if (!mix) t = (Eigen::MatrixXd(2, 2) << 0.3, -0.1, 0.05, 0.2).finished();
        for (auto& branch : m.branches) {
            const auto size = branch.core.count();
            const auto spikes = size / 16;
            Eigen::MatrixXd matrix =
                40.0 * branch.core.left.leftCols(spikes) * branch.core.right.leftCols(spikes).transpose();
            for (Eigen::Index i = 0; i < t.rows(); ++i)
                for (Eigen::Index j = 0; j < t.cols(); ++j)
                    matrix.block(i * 32, j * 32, size / t.rows(), size / t.rows()).diagonal().array() +=
                        t(i, j);
            auto svd = linalg::singular_value_decomposition(matrix);
            EXPECT_LT((svd.left * svd.values.asDiagonal() * svd.right.transpose() - matrix).norm(),
                      1e-12 * matrix.norm());
            branch.core = {svd.values, svd.left, svd.right};
        }
        const auto split = without_common_part(m);
        for (const double found : split.common)
            EXPECT_NEAR(found, t.trace() / static_cast<double>(t.rows()), mix ? 0.01 : 0.03);
    }
}

TEST(CommonPart, ExplainsBranchesThatScaleAllChannels) {
    auto m = measured_stack(identities(6), 48, 0.3, false, 9);
    Eigen::MatrixXd product = Eigen::MatrixXd::Identity(96, 96);
    for (std::size_t l = 0; l < m.branches.size(); ++l) {
        auto svd = linalg::singular_value_decomposition(m.branches[l].core.matrix() +
                                                        0.15 * Eigen::MatrixXd::Identity(96, 96));
        m.branches[l].core = {svd.values, svd.left, svd.right};
        product = (jacobian(m.stack.connections[l], m.branches[l].core, 48) * product).eval();
    }
    const auto values = linalg::singular_value_decomposition(product).values;
    m.singular_values.assign(values.begin(), values.end());
    const Alignment a = align({m}, law_of(m), {});
    ASSERT_TRUE(a.rank);
    EXPECT_EQ(*a.rank, 0) << a.by_rank.front().distance;
    for (const double t : a.common) EXPECT_NEAR(t, 0.15, 0.05);
    EXPECT_GT(values.mean(), 1.5) << "which branches without a mean do not reach";
}

}  // namespace
}  // namespace spectra::validation
