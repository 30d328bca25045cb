#include "train/measure.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "linalg/singular_values.hpp"
#include "support/dense_operator.hpp"
#include "support/expect_refused.hpp"

namespace spectra::train {
namespace {

using Eigen::MatrixXd;
using torch::Tensor;

constexpr int64_t steps = 8;

ModelConfig small(const std::string& architecture, const std::string& mixer = "") {
    auto config = matched_config(architecture, mixer);
    config.layers = 2;
    if (config.cycles > 1) config.cycles = 2;
    config.channels = 16;
    config.dimension = 5;
    config.context = steps + 1;
    config.puzzle_tokens = 0;
    return config;
}

/// Away from its start, so that nothing is hidden by a zero.
std::shared_ptr<Transformer> stirred(const ModelConfig& config) {
    torch::manual_seed(7);
    auto model = std::make_shared<Transformer>(config);
    const torch::NoGradGuard no_grad;
    for (auto& p : model->parameters()) p.add_(0.3 * torch::randn_like(p));
    return model;
}

Tensor sequence_input() {
    torch::manual_seed(8);
    return torch::randn({1, steps, 5});
}

std::vector<std::pair<std::string, std::string>> all_cases() {
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& name : architecture_names())
        if (!matched_config(name).post_norm && matched_config(name).causal) out.emplace_back(name, "");
    for (const auto& name : mixer_names()) out.emplace_back("mixer", name);
    return out;
}

/// Of every architecture and mixer: the product of the factors is the Jacobian of the whole sequence, which is found by
/// itself, in one piece.
TEST(SequenceFactors, MultiplyToTheJacobianOfTheWholeSequence) {
    for (const auto& [architecture, mixer] : all_cases()) {
        SCOPED_TRACE(architecture + " " + mixer);
        const auto model = stirred(small(architecture, mixer));
        const auto expected = measure_sequence(*model, sequence_input());
        ASSERT_TRUE(expected.exact);
        {
            const auto sequence = sequence_factors(*model, sequence_input());
            ASSERT_EQ(sequence.size(), 128);
            MatrixXd product = MatrixXd::Identity(128, 128);
            for (const auto& factor : sequence.factors) {
                MatrixXd matrix = tests::matrix_of(*factor.kept);
                if (factor.branch) matrix += tests::matrix_of(*factor.branch);
                product = (matrix * product).eval();
            }
            const Eigen::VectorXd values = linalg::singular_value_decomposition(product).values;
            for (Eigen::Index i = 0; i < 128; ++i)
                EXPECT_NEAR(values(i), std::exp(expected.log_values[static_cast<std::size_t>(127 - i)]),
                            1e-9 * values(0));
        }
        EXPECT_EQ(model->parameters().front().scalar_type(), torch::kFloat);  // as it was
    }
}

/// One token's part of a branch is what measure() finds for that token.
TEST(SequenceFactors, HaveTheBranchesOfSingleTokens) {
    for (const auto& [architecture, mixer] : all_cases()) {
        SCOPED_TRACE(architecture + " " + mixer);
        const auto model = stirred(small(architecture, mixer));
        constexpr int64_t token = 3;
        MeasureOptions options;
        options.token = token;
        const auto m = measure(*model, sequence_input(), options);
        const auto sequence = sequence_factors(*model, sequence_input());
        EXPECT_EQ(sequence.width, m.stack.width);
        ASSERT_EQ(sequence.factors.size(), m.branches.size());
        for (std::size_t l = 0; l < m.branches.size(); ++l) {
            const auto& connection = m.stack.connections[l];
            MatrixXd expected = m.branches[l].core.matrix();
            if (connection.pre.size() > 0) {
                const MatrixXd factors = connection.post * connection.pre.transpose();
                const MatrixXd core = expected;
                expected.resize(16, 16);
                for (Eigen::Index i = 0; i < factors.rows(); ++i)
                    for (Eigen::Index j = 0; j < factors.cols(); ++j)
                        expected.block(i * core.rows(), j * core.rows(), core.rows(), core.rows()) =
                            factors(i, j) * core;
            }
            const MatrixXd branch = tests::matrix_of(*sequence.factors[l].branch);
            EXPECT_LT((branch.block(16 * token, 16 * token, 16, 16) - expected).norm(),
                      1e-10 * (1 + expected.norm()))
                << l;
            EXPECT_EQ(sequence.factors[l].weights, m.branches[l].weights);
            // Attention mixes tokens, and an MLP does not.
            const double other = branch.block(16 * token, 0, 16, 16).norm();
            if (architecture == "gpt") {
                EXPECT_EQ(other > 1e-6, l % 2 == 0) << l;
            }
        }
    }
}

TEST(SequenceFactors, HaveTheTripletsOfTheirMatrices) {
    for (const char* const architecture : {"gpt", "jpmhc", "edelta"}) {
        SCOPED_TRACE(architecture);
        const auto model = stirred(small(architecture));
        const auto sequence = sequence_factors(*model, sequence_input());
        constexpr int rank = 4;
        const auto triplets = validation::sequence_triplets(sequence, rank, 1);
        for (std::size_t l = 0; l < triplets.size(); ++l) {
            // LAPACK's: Eigen's BDCSVD is off by 5 % for some of these matrices, block diagonal and of low rank.
            const auto svd = linalg::singular_value_decomposition(tests::matrix_of(*sequence.factors[l].branch));
            ASSERT_EQ(triplets[l].values.size(), rank);
            const double top = svd.values(0);
            EXPECT_LT((triplets[l].values - svd.values.head(rank)).norm(), 1e-6 * top);
            for (const auto& [found, expected] :
                 {std::pair{triplets[l].left, svd.left}, {triplets[l].right, svd.right}}) {
                // The sine of the angle to the reference's space: of residual over gap.
                const MatrixXd inside = expected.leftCols(rank).transpose() * found;
                const double gap = (svd.values(rank - 1) - svd.values(rank)) / top;
                EXPECT_LT((found - expected.leftCols(rank) * inside).norm(), std::max(1e-6, 4e-6 / gap)) << l;
            }
        }
    }
}

TEST(SequenceFactors, RefusePostNormModels) {
    const auto model = stirred(small("post-ln"));
    testing::expect_refused([&] { sequence_factors(*model, sequence_input()); },
                            {"there is no aligned prediction"});
}

/// A whole search, on a model whose factors are formed: everything kept is the measurement, and the error falls.
TEST(SequenceFactors, ExplainTheirModel) {
    for (const char* const architecture : {"gpt", "jpmhc"}) {
        SCOPED_TRACE(architecture);
        const auto model = stirred(small(architecture));
        const auto law = measure_sequence(*model, sequence_input()).law;
        const auto a = validation::align_sequences(
            1, [&](std::size_t) { return sequence_factors(*model, sequence_input()); }, law, {.rank = 128});
        EXPECT_LT(a.best().distance, 1e-9);
        EXPECT_GT(a.by_rank.front().distance, a.best().distance);
    }
}

}  // namespace
}  // namespace spectra::train
