#include "validation/sequence_alignment.hpp"

#include "linalg/singular_values.hpp"
#include "support/aligned_networks.hpp"
#include "support/dense_operator.hpp"

#include <gtest/gtest.h>
#include <Eigen/Core>

#include <cmath>
#include <random>

namespace spectra::validation {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using tests::DenseOperator;
using tests::matrix_of;
using tests::random_matrix;
using tests::random_orthonormal;

constexpr double rounding = 1e-12;

/// Of `tokens` tokens with `width` channels each, `depth` factors. Branches are aligned along `aligned` directions, the same
/// of all layers, and random otherwise: the same matrix for all tokens, with causal weights between them.
struct Made {
    int tokens = 4, width = 6, depth = 3, aligned = 0;
    bool shared = false;  ///< weights of all branches
    unsigned seed = 1;
};

struct Matrices {
    std::vector<MatrixXd> kept, branch;

    MatrixXd product() const {
        MatrixXd out = MatrixXd::Identity(kept[0].rows(), kept[0].rows());
        for (std::size_t l = 0; l < kept.size(); ++l) out = ((kept[l] + branch[l]) * out).eval();
        return out;
    }
    Sequence sequence(int width, bool shared = false) const {
        Sequence out{{}, width, {}};
        for (std::size_t l = 0; l < kept.size(); ++l)
            out.factors.push_back({std::make_shared<DenseOperator>(kept[l]),
                                   std::make_shared<DenseOperator>(branch[l]),
                                   shared ? 0 : static_cast<int>(l)});
        return out;
    }
};

Matrices made(const Made& how) {
    std::mt19937 random(how.seed);
    const Index size = how.tokens * how.width;
    const MatrixXd common = random_orthonormal(size, std::max(1, how.aligned), random);
    Matrices out;
    for (int l = 0; l < how.depth; ++l) {
        MatrixXd weights = MatrixXd::Zero(how.tokens, how.tokens);
        for (Index t = 0; t < how.tokens; ++t)
            for (Index s = 0; s <= t; ++s) weights(t, s) = 1 / static_cast<double>(t + 1);
        const MatrixXd of_token = 0.3 * random_matrix(how.width, how.width, random) / std::sqrt(how.width);
        MatrixXd branch(size, size);
        for (Index t = 0; t < how.tokens; ++t)
            for (Index s = 0; s < how.tokens; ++s)
                branch.block(t * how.width, s * how.width, how.width, how.width) = weights(t, s) * of_token;
        if (how.aligned > 0) branch += 1.5 * common * common.transpose();
        out.kept.push_back(MatrixXd::Identity(size, size));
        out.branch.push_back(std::move(branch));
    }
    return out;
}

VectorXd values_of(const MatrixXd& matrix) {
    return linalg::singular_value_decomposition(matrix).values;
}

Spectrum law_of(const MatrixXd& matrix) {
    const VectorXd values = values_of(matrix);
    std::vector<double> logs;
    for (const double s : values) logs.push_back(std::log(s));
    return Spectrum::from_log_values(std::move(logs));
}

TEST(Turn, IsOrthogonalAndLeavesWhatIsFixed) {
    std::mt19937 random(1);
    const Index width = 5, size = 30;
    for (const int fixed : {0, 1, 4, 12, 29, 30}) {
        const MatrixXd w = random_orthonormal(size, fixed, random),
                       rotation = random_orthonormal(width, width, random);
        const Turn turn(rotation, w);
        const MatrixXd identity = MatrixXd::Identity(size, size), q = turn.apply(identity, false);
        EXPECT_LT((q.transpose() * q - identity).norm(), 1e-10) << fixed;
        EXPECT_LT((turn.apply(identity, true) - q.transpose()).norm(), 1e-10) << fixed;
        EXPECT_LT((q * w - w).norm(), 1e-10) << fixed;
        for (Index t = 0; fixed == 0 && t < size / width; ++t)
            EXPECT_LT((q.block(t * width, t * width, width, width) - rotation).norm(), rounding);
        EXPECT_EQ((q - identity).norm() > 1, fixed < 29) << fixed;
    }
}

/// Against the plain product with Q found from the turn of the identity.
TEST(TurnedSequence, IsTheProductOfTurnedBranchesWithTheirTripletsKept) {
    for (const bool shared : {false, true}) {
        const auto matrices = made({.aligned = 2});
        const auto sequence = matrices.sequence(6, shared);
        const auto triplets = sequence_triplets(sequence, 3, 5);
        for (const int rank : {0, 1, 3}) {
            TurnedSequence drawn(sequence, triplets, rank, 5, 2);
            const MatrixXd found = matrix_of(drawn);
            // Every factor by itself, from sequences of one factor.
            MatrixXd expected = MatrixXd::Identity(24, 24);
            std::vector<MatrixXd> turned;
            for (std::size_t l = 0; l < 3; ++l) {
                const Sequence one{{sequence.factors[l]}, 6, {}};
                TurnedSequence single(one, {triplets[l]}, rank, 5, 2);
                expected = (matrix_of(single) * expected).eval();
                turned.push_back(matrix_of(single) - matrices.kept[l]);
                const MatrixXd& branch = matrices.branch[l];
                const VectorXd before = values_of(branch), after = values_of(turned[l]);
                EXPECT_LT((before - after).norm(), 1e-10 * before(0));  // Q X Qᵀ has the singular values of X
                EXPECT_NEAR(turned[l].trace(), branch.trace(), 1e-10);  // and its trace
                const auto r = std::min<Index>(rank, triplets[l].values.size());
                const MatrixXd u = triplets[l].left.leftCols(r), v = triplets[l].right.leftCols(r);
                EXPECT_LT((turned[l] * v - branch * v).norm(), 1e-9);
                EXPECT_LT((turned[l].transpose() * u - branch.transpose() * u).norm(), 1e-9);
                EXPECT_GT((turned[l] - branch).norm(), 0.1);
            }
            EXPECT_LT((found - expected).norm(), 1e-10 * expected.norm());
            const MatrixXd x = MatrixXd::Identity(24, 24);
            MatrixXd transposed(24, 24);
            drawn.apply_transpose(x.data(), transposed.data(), 24);
            EXPECT_LT((transposed - found.transpose()).norm(), 1e-10 * found.norm());
            TurnedSequence again(sequence, triplets, rank, 5, 2), other(sequence, triplets, rank, 5, 3);
            EXPECT_EQ(matrix_of(again), found);
            EXPECT_GT((matrix_of(other) - found).norm(), 0.1);
        }
        // Without kept vectors, branches that share weights are turned alike: Q X₁ Qᵀ Q X₂ Qᵀ = Q X₁ X₂ Qᵀ.
        TurnedSequence free(sequence, triplets, 0, 5, 2);
        const double off = (values_of(matrix_of(free)) - values_of(matrices.product())).norm();
        EXPECT_EQ(off < 1e-10, shared) << off;
    }
}

TEST(SequenceAlignment, FindsTheDirectionsThatLayersShare) {
    for (const int aligned : {0, 3}) {
        const auto matrices = made({.tokens = 6, .width = 16, .depth = 5, .aligned = aligned, .seed = 3});
        const auto a = align_sequences(1, [&](std::size_t) { return matrices.sequence(16); },
                                       law_of(matrices.product()), {});
        ASSERT_TRUE(a.rank) << aligned;
        EXPECT_EQ(*a.rank, aligned == 0 ? 0 : 4);  // of 0, 1, 2, 4, …
        EXPECT_EQ(a.width, 96);
        EXPECT_EQ(a.overlaps.rows(), 5);
        EXPECT_EQ(a.by_rank.front().draws, 24);
        if (aligned == 0) continue;
        EXPECT_GT(a.by_rank.front().distance, 5 * a.best().distance);
        const double largest = values_of(matrices.product())(0);
        EXPECT_LT(a.by_rank.front().metrics.largest, 0.5 * largest);
        EXPECT_NEAR(a.best().metrics.largest, largest, 0.05 * largest);
        EXPECT_GT(a.overlaps.maxCoeff(), 0.5);
    }
}

TEST(SequenceAlignment, EverythingKeptIsTheMeasurement) {
    const auto matrices = made({.tokens = 3, .width = 8, .depth = 4, .aligned = 1});
    const auto a = align_sequences(1, [&](std::size_t) { return matrices.sequence(8); },
                                   law_of(matrices.product()), {.rank = 24});
    EXPECT_LT(a.best().distance, 1e-9);
    EXPECT_EQ(a.best().rank, 24);
}

/// Beyond what is formed: by probes, several inputs together, and a factor without a branch.
TEST(SequenceAlignment, LargeSequencesAreKnownByTheirProducts) {
    const auto matrices = made({.tokens = 33, .width = 16, .depth = 2, .aligned = 2, .seed = 4});
    const MatrixXd product = 0.5 * matrices.product();
    int made_sequences = 0;
    const auto a = align_sequences(
        2,
        [&](std::size_t) {
            ++made_sequences;
            auto sequence = matrices.sequence(16);
            sequence.factors.push_back(
                {std::make_shared<DenseOperator>(0.5 * MatrixXd::Identity(528, 528)), nullptr, 0});
            return sequence;
        },
        law_of(product), {.rank = 2});
    ASSERT_EQ(a.by_rank.size(), 2U);
    EXPECT_EQ(a.by_rank.front().draws, 3);
    EXPECT_GE(made_sequences, 4);
    EXPECT_EQ(a.overlaps.rows(), 3);
    EXPECT_LT(a.best().distance, 0.02);
    const double largest = values_of(product)(0);
    EXPECT_NEAR(a.best().metrics.largest, largest, 0.02 * largest);
    EXPECT_LT(a.by_rank.front().metrics.largest, 0.8 * largest);
}

TEST(SequenceAlignment, EndsWhereItIsStopped) {
    const auto matrices = made({});
    struct Enough {};
    AlignmentOptions options;
    int calls = 0;
    options.before_rank = [&](int) {
        if (++calls > 3) throw Enough{};
    };
    EXPECT_THROW(
        align_sequences(
            1, [&](std::size_t) { return matrices.sequence(6); }, law_of(matrices.product()), options),
        Enough);
}

}  // namespace
}  // namespace spectra::validation
