#include "train/measure.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include <numeric>

#include "support/expect_refused.hpp"

namespace spectra::train {
namespace {

using spectra::testing::expect_refused;
using torch::Tensor;

constexpr int64_t steps = 5;

struct MeasuredCase {
    std::string architecture, mixer;
};

std::vector<MeasuredCase> measured_cases() {
    std::vector<MeasuredCase> out;
    for (const auto& name : architecture_names())
        if (!matched_config(name).post_norm && matched_config(name).causal) out.push_back({name, ""});
    for (const auto& name : mixer_names()) out.push_back({"mixer", name});
    return out;
}

ModelConfig small_measured(const MeasuredCase& c) {
    auto config = matched_config(c.architecture, c.mixer);
    config.layers = 2;
    config.cycles = c.architecture == "recursive" ? 2 : 1;
    config.channels = 16;
    config.dimension = 5;
    config.context = steps + 1;
    return config;
}

/// Every number of every parameter away from its start, so that nothing is hidden by a zero.
void stir(torch::nn::Module& module) {
    const torch::NoGradGuard no_grad;
    for (auto& p : module.parameters()) p.add_(0.3 * torch::randn_like(p));
}

/// Whatever makes A, pre, post and gates depend on the input is taken away; they stay what their biases say.
void make_static(torch::nn::Module& module) {
    const torch::NoGradGuard no_grad;
    for (const auto& item : module.named_parameters()) {
        const auto& name = item.key();
        const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
        if (name.ends_with("weight") &&
            (has(".phi_") || has("fused_proj") || has("_net.2.") || has("gate_net") || has("geo_proj.2.") ||
             has("router_attn.proj") || has("router_mlp.proj") || has("w_gate") || has("w_beta")))
            item.value().zero_();
    }
}

/// The branches give nothing.
void silence(torch::nn::Module& module) {
    const torch::NoGradGuard no_grad;
    for (const auto& item : module.named_parameters())
        if (item.key().ends_with("c_proj.weight")) item.value().zero_();
}

std::shared_ptr<Transformer> stirred_measured(const ModelConfig& config) {
    torch::manual_seed(7);
    auto model = std::make_shared<Transformer>(config);
    stir(*model);
    return model;
}

Tensor sequence() {
    torch::manual_seed(8);
    return torch::randn({1, steps, 5});
}

std::string named(const MeasuredCase& c) {
    return c.architecture + (c.mixer.empty() ? "" : " " + c.mixer);
}

/// ∂(token t after the last block)/∂(token t before the first) column by column, as forward() computes it.
Tensor by_differences(Transformer& model, const Tensor& input, int64_t t) {
    const torch::NoGradGuard no_grad;
    model.to(torch::kDouble);
    const auto state = model.embed(input.to(torch::kDouble));
    const double h = 1e-5;
    std::vector<Tensor> columns;
    for (int64_t j = 0; j < state.size(2); ++j) {
        const auto at = [&](double sign) {
            auto moved = state.clone();
            moved[0][t][j] += sign * h;
            return model.propagate(moved).state[0][t];
        };
        columns.push_back((at(1) - at(-1)) / (2 * h));
    }
    model.to(torch::kFloat);
    return torch::stack(columns, 1);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    EXPECT_EQ(a.size(), b.size());
    double out = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) out = std::max(out, std::abs(a[i] - b[i]));
    return out;
}

double mean_square(const std::vector<double>& values) {
    return std::inner_product(values.begin(), values.end(), values.begin(), 0.0) /
           static_cast<double>(values.size());
}

TEST(Measure, IsTheProductOfConnectionsAndThatOfFiniteDifferences) {
    for (const auto& c : measured_cases()) {
        SCOPED_TRACE(named(c));
        const auto config = small_measured(c);
        const auto model = stirred_measured(config);
        const auto input = sequence();
        MeasureOptions options;
        options.input = "input 1 of 1";
        const auto m = measure(*model, input, options);
        options.checks = 0;  // J by itself
        const auto formed = measure(*model, input, options);
        EXPECT_LT(formed.product_defect, 1e-13);
        EXPECT_LT(largest_difference(m.singular_values, formed.singular_values),
                  1e-13 * m.singular_values.front());

        const bool plain = !has_streams(c.architecture);
        EXPECT_EQ(m.stack.layout, "spectra");
        EXPECT_EQ(m.stack.input, "input 1 of 1");
        EXPECT_EQ(m.stack.streams, plain ? 1 : 4);
        EXPECT_EQ(m.stack.width, plain ? 16 : 4);
        ASSERT_EQ(m.stack.depth(), 4 * config.cycles);
        ASSERT_EQ(m.branches.size(), m.stack.connections.size());
        EXPECT_LT(m.product_defect, 1e-13);
        const auto expected = jacobian::singular_values(by_differences(*model, input, steps - 1));
        EXPECT_LT(largest_difference(m.singular_values, expected), 1e-7 * expected.front());

        for (std::size_t l = 0; l < m.branches.size(); ++l) {
            const auto& branch = m.branches[l];
            const auto& connection = m.stack.connections[l];
            const auto n = static_cast<double>(m.stack.streams);
            ASSERT_EQ(connection.mixer.rows(), m.stack.streams);
            EXPECT_NEAR(branch.by_stream.sum() / n, branch.variance, 1e-12 * branch.variance);
            EXPECT_NEAR(mean_square(branch.core_values), branch.core_variance, 1e-12 * branch.core_variance);
            EXPECT_EQ(branch.values.size(), 16U);
            EXPECT_EQ(branch.weights, static_cast<int>(l % 4));
            EXPECT_EQ(connection.pre.size(), connection.post.size());
            const bool routed = c.architecture != "ddl" && c.architecture != "mgt" &&
                                c.architecture != "mhc" && c.architecture != "edelta" &&
                                c.architecture != "edelta-cayley";
            EXPECT_EQ(connection.pre.size(), routed ? m.stack.streams : 0);
            EXPECT_EQ(branch.core_values.size(), routed && !plain ? 4U : 16U);
        }
    }
}

TEST(Measure, MixersThatDoNotSeeTheInputHaveNoDerivative) {
    for (const auto& c : measured_cases()) {
        SCOPED_TRACE(named(c));
        const auto model = stirred_measured(small_measured(c));
        const bool moves = c.architecture != "gpt";
        double share = 0;
        for (const auto& b : measure(*model, sequence()).branches)
            share = std::max(share, b.mixer_variance / b.variance);
        if (moves)
            EXPECT_GT(share, 1e-6);
        else
            EXPECT_LT(share, 1e-24);

        // Y = A ⊗ I + post preᵀ ⊗ F and the like to the last bit, every factor being something.
        make_static(*model);
        for (const auto& b : measure(*model, sequence()).branches) {
            // delta's branch is written β times, and β starts at .036.
            EXPECT_GT(b.variance, c.architecture == "delta" ? 1e-8 : 1e-4);
            EXPECT_LT(b.mixer_variance, 1e-24 * b.variance);
        }
    }
}

// Norms after the sums stand in the skip connection; the ablations of MGT can be measured with norms before the branches.
TEST(Measure, RefusesNormsAfterTheSums) {
    for (const auto* name : {"post-ln", "mgt-mhc", "mgt-ddl"}) {
        auto config = small_measured({name, ""});
        const auto post = stirred_measured(config);
        EXPECT_THROW(measure(*post, sequence()), std::invalid_argument) << name;
        EXPECT_EQ(measure_sequence(*post, sequence()).inputs, 16 * steps) << name;
        config.post_norm = false;
        const auto pre = stirred_measured(config);
        EXPECT_LT(measure(*pre, sequence()).product_defect, 1e-13) << name;
    }
}

TEST(Measure, AFreshHyperConnectionHasNoDerivative) {
    for (const auto& c :
         {MeasuredCase{"mhc-lite", ""}, {"shc", ""}, {"hc", ""}, {"delta", ""}, {"mixer", "bistochastic"}}) {
        torch::manual_seed(7);
        Transformer model(small_measured(c));
        for (const auto& b : measure(model, sequence()).branches)
            EXPECT_LT(b.mixer_variance, 1e-24) << named(c);
    }
}

// X = post preᵀ ⊗ F: every block's norm is known from F's.
TEST(Measure, BlocksOfAStaticHyperConnectionAreThoseOfItsVectors) {
    const auto model = stirred_measured(small_measured({"hc", ""}));
    make_static(*model);
    const auto m = measure(*model, sequence());
    for (std::size_t l = 0; l < m.branches.size(); ++l) {
        const auto& [name, mixer, pre, post, separate] = m.stack.connections[l];
        EXPECT_FALSE(separate);
        EXPECT_EQ(name,
                  "core.transformer.h." + std::to_string(l / 2) + (l % 2 == 0 ? ".hc_attn" : ".hc_mlp"));
        const Eigen::MatrixXd expected =
            (post * pre.transpose()).array().square().matrix() * m.branches[l].core_variance;
        EXPECT_LT((m.branches[l].by_stream - expected).norm(), 1e-12 * expected.norm());
    }
}

TEST(Measure, WithoutBranchesIsTheProductOfMixers) {
    for (const auto& c :
         {MeasuredCase{"hc", ""}, {"mhc", ""}, {"jpmhc", ""}, {"edelta-stream", ""}, {"edelta", ""}}) {
        SCOPED_TRACE(named(c));
        const auto model = stirred_measured(small_measured(c));
        make_static(*model);
        silence(*model);
        const auto m = measure(*model, sequence());
        Eigen::MatrixXd product = Eigen::MatrixXd::Identity(4, 4);
        for (const auto& connection : m.stack.connections) product = connection.mixer * product;
        const auto s = product.jacobiSvd().singularValues().eval();
        std::vector<double> expected;
        for (const double value : s) expected.insert(expected.end(), 4, value);  // once a channel
        EXPECT_LT(largest_difference(m.singular_values, expected), 1e-13 * expected.front());
        for (const auto& b : m.branches) EXPECT_LT(b.variance, 1e-28);
    }
    const auto plain = stirred_measured(small_measured({"gpt", ""}));
    silence(*plain);
    EXPECT_LT(largest_difference(measure(*plain, sequence()).singular_values, std::vector<double>(16, 1.0)),
              1e-14);
}

// ddl: X = −β kkᵀ has one singular value β, and stands in the branch.
TEST(Measure, AnOperatorOnChannelsIsPartOfTheBranch) {
    const auto model = stirred_measured(small_measured({"ddl", ""}));
    make_static(*model);
    silence(*model);
    const auto m = measure(*model, sequence());
    for (std::size_t l = 0; l < m.branches.size(); ++l) {
        const auto bias =
            model->named_parameters()["core.transformer.h." + std::to_string(l / 2) + ".delta_" +
                                      (l % 2 == 0 ? "attn" : "mlp") + ".beta_net.2.bias"];
        const double beta = 2 / (1 + std::exp(-bias.item<double>()));
        EXPECT_NEAR(m.branches[l].core_values.front(), beta, 1e-6);
        EXPECT_NEAR(m.branches[l].variance, beta * beta / 16, 1e-6);
        EXPECT_EQ(m.stack.connections[l].mixer, Eigen::MatrixXd::Identity(1, 1));
    }
}

TEST(Measure, TokensInTheMiddleSeeNothingOfLaterOnes) {
    for (const auto& c : {MeasuredCase{"ddl", ""}, {"edelta", ""}, {"edelta-stream", ""}}) {
        SCOPED_TRACE(named(c));
        auto config = small_measured(c);
        const auto model = stirred_measured(config);
        MeasureOptions options;
        options.token = 2;
        const auto whole = measure(*model, sequence(), options);
        EXPECT_LT(whole.product_defect, 1e-13);
        const auto cut = measure(*model, sequence().narrow(1, 0, 3));
        EXPECT_LT(largest_difference(whole.singular_values, cut.singular_values),
                  1e-12 * cut.singular_values.front());

        config.pooling = Pooling::published;  // all tokens see all
        const auto published_model = stirred_measured(config);
        const auto published = measure(*published_model, sequence(), options);
        EXPECT_GT(published.product_defect, 1e-6);
        EXPECT_LT(largest_difference(published.singular_values,
                                     jacobian::singular_values(by_differences(*published_model, sequence(), 2))),
                  1e-7 * published.singular_values.front());
    }
}

TEST(Measure, KnowsPositionsByRotation) {
    for (const auto& c : {MeasuredCase{"gpt", ""}, {"mhc", ""}, {"edelta", ""}, {"recursive", ""}}) {
        SCOPED_TRACE(named(c));
        auto config = small_measured(c);
        config.rotary = true;
        const auto model = stirred_measured(config);
        for (const int64_t token : {int64_t{0}, int64_t{3}, steps - 1}) {
            MeasureOptions options;
            options.token = token;
            const auto m = measure(*model, sequence(), options);
            EXPECT_LT(m.product_defect, 1e-13);  // of the whole model's own backward pass
            const auto expected = jacobian::singular_values(by_differences(*model, sequence(), token));
            EXPECT_LT(largest_difference(m.singular_values, expected), 1e-7 * expected.front());
        }
    }
}

TEST(Measure, LeavesTheModelAsItWas) {
    auto config = small_measured({"mhc-lite", ""});
    config.checkpoint_blocks = true;
    const auto model = stirred_measured(config);
    std::vector<Tensor> before;
    for (const auto& p : model->parameters()) before.push_back(p.detach().clone());
    const auto in_double = measure(*model, sequence());
    MeasureOptions single;
    single.double_precision = false;
    const auto in_float = measure(*model, sequence(), single);
    EXPECT_LT(largest_difference(in_double.singular_values, in_float.singular_values),
              1e-4 * in_double.singular_values.front());
    EXPECT_GT(in_float.product_defect, 1e-9);
    const auto after = model->parameters();
    for (std::size_t k = 0; k < after.size(); ++k) {
        EXPECT_TRUE(torch::equal(after[k], before[k]));
        EXPECT_EQ(after[k].scalar_type(), torch::kFloat);
        EXPECT_FALSE(after[k].grad().defined());
    }
    EXPECT_TRUE(model->named_parameters()["pos_emb"].requires_grad());
}

TEST(Measure, TakesTokens) {
    auto config = small_measured({"gpt", ""});
    config.tokens = true;
    const auto model = stirred_measured(config);
    const auto m = measure(*model, torch::tensor({{0, 3, 1, 4, 2}}, torch::kLong));
    EXPECT_EQ(m.singular_values.size(), 16U);
    EXPECT_EQ(m.stack.connections.front().name, "core.transformer.h.0.attn");
    EXPECT_LT(m.product_defect, 1e-13);
}

TEST(Measure, RefusesTokensThatAreNotThere) {
    const auto model = stirred_measured(small_measured({"gpt", ""}));
    MeasureOptions options;
    options.token = 5;
    expect_refused([&] { measure(*model, sequence(), options); }, {"token 5", "0 to 4"});
    options.token = -6;
    expect_refused([&] { measure(*model, sequence(), options); }, {"token -6"});
    expect_refused([&] { measure(*model, torch::randn({2, steps, 5})); }, {"one sequence", "2"});
}

TEST(MeasureSequence, HasTheTokensJacobiansOnItsDiagonal) {
    const auto model = stirred_measured(small_measured({"jpmhc", ""}));
    // Causal: block lower triangular, so that the determinants multiply.
    const auto law = measure_sequence(*model, sequence());
    EXPECT_TRUE(law.exact);
    ASSERT_EQ(law.inputs, steps * 16);
    ASSERT_EQ(law.outputs, steps * 16);
    double log_determinant = 0;
    for (int64_t t = 0; t < steps; ++t) {
        MeasureOptions options;
        options.token = t;
        for (const double s : measure(*model, sequence(), options).singular_values)
            log_determinant += std::log(s);
    }
    const double sum = std::accumulate(law.log_values.begin(), law.log_values.end(), 0.0);
    EXPECT_NEAR(sum, log_determinant, 1e-8 * std::abs(log_determinant) + 1e-8);
}

TEST(MeasureSequence, WithoutTheMatrixIsThatOfTheMatrix) {
    for (const auto& c : {MeasuredCase{"gpt", ""}, {"mhc", ""}, {"mixer", "bistochastic"}}) {
        SCOPED_TRACE(named(c));
        auto config = small_measured(c);
        config.checkpoint_blocks = true;
        const auto model = stirred_measured(config);
        const auto exact = measure_sequence(*model, sequence());
        MeasureOptions options;
        options.jacobian.most_exact = 1;
        const auto probed = measure_sequence(*model, sequence(), options);
        EXPECT_FALSE(probed.exact);
        EXPECT_LT(probed.adjoint_defect, 1e-9);
        const double largest = exact.metrics.largest;
        EXPECT_NEAR(probed.metrics.largest, largest, 1e-6 * largest);
        EXPECT_NEAR(probed.metrics.smallest, exact.metrics.smallest, 1e-6 * largest);
        EXPECT_NEAR(probed.metrics.mean_square, exact.metrics.mean_square, 4 * probed.error.mean_square);
    }
}

// Registered where Torch has a GPU (tests/CMakeLists.txt); skipped where they are run without one by hand.

TEST(MeasureOnCuda, IsThatOfTheHost) {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "Torch finds no GPU";
    for (const auto& c : measured_cases())
        for (const int64_t token : {int64_t{2}, steps - 1}) {
            SCOPED_TRACE(named(c));
            const auto model = stirred_measured(small_measured(c));
            MeasureOptions options;
            options.token = token;
            const auto host = measure(*model, sequence(), options);
            model->to(torch::kCUDA);
            const auto device = measure(*model, sequence(), options);
            EXPECT_LT(device.product_defect, 1e-10);
            EXPECT_LT(largest_difference(device.singular_values, host.singular_values),
                      1e-10 * host.singular_values.front());
            ASSERT_EQ(device.branches.size(), host.branches.size());
            for (std::size_t l = 0; l < host.branches.size(); ++l) {
                const auto &ours = device.branches[l], &theirs = host.branches[l];
                EXPECT_LT(largest_difference(ours.core_values, theirs.core_values),
                          1e-10 * theirs.core_values.front());
                EXPECT_NEAR(ours.mixer_variance, theirs.mixer_variance, 1e-10 * theirs.variance);
                EXPECT_TRUE(
                    device.stack.connections[l].mixer.isApprox(host.stack.connections[l].mixer, 1e-10));
            }
        }
}

TEST(MeasureSequenceOnCuda, IsThatOfTheHost) {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "Torch finds no GPU";
    for (const auto& c : {MeasuredCase{"gpt", ""}, {"mhc", ""}, {"mixer", "bistochastic"}}) {
        SCOPED_TRACE(named(c));
        const auto model = stirred_measured(small_measured(c));
        const auto exact = measure_sequence(*model, sequence());
        model->to(torch::kCUDA);
        const auto formed = measure_sequence(*model, sequence());
        EXPECT_TRUE(formed.exact);
        const double largest = exact.metrics.largest;
        EXPECT_LT(std::abs(formed.metrics.largest - largest), 1e-10 * largest);
        EXPECT_LT(std::abs(formed.metrics.smallest - exact.metrics.smallest), 1e-10 * largest);
        MeasureOptions options;
        options.jacobian.most_exact = 1;
        const auto probed = measure_sequence(*model, sequence(), options);
        EXPECT_FALSE(probed.exact);
        EXPECT_LT(probed.adjoint_defect, 1e-9);
        EXPECT_NEAR(probed.metrics.largest, largest, 1e-6 * largest);
        EXPECT_NEAR(probed.metrics.smallest, exact.metrics.smallest, 1e-6 * largest);
        EXPECT_NEAR(probed.metrics.mean_square, exact.metrics.mean_square, 4 * probed.error.mean_square);
    }
}

}  // namespace
}  // namespace spectra::train
