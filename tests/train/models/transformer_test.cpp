#include "train/models/transformer.hpp"

#include <gtest/gtest.h>

#include <map>

#include "jacobian/jacobian.hpp"
#include "train/models/recompute.hpp"
#include "train/modules/streams.hpp"

namespace spectra::train {
namespace {

using torch::Tensor;

/// Small enough for a test, every part of it there.
ModelConfig small_transformer(const std::string& architecture) {
    torch::manual_seed(7);
    auto config = matched_config(architecture, architecture == "mixer" ? "orthogonal" : "");
    config.layers = 2;
    config.cycles = architecture == "recursive" ? 2 : 1;
    config.channels = 16;
    config.dimension = 5;
    config.context = 9;
    return config;
}

/// Every number of every parameter away from its start, so that nothing is hidden by a zero.
void stir(torch::nn::Module& module) {
    const torch::NoGradGuard no_grad;
    for (auto& p : module.parameters()) p.add_(0.3 * torch::randn_like(p));
}

std::vector<std::string> all_architectures() {
    auto names = architecture_names();
    names.push_back("mixer");
    return names;
}

// Counts of the EΔ suite: the core alone, all trained parameters on gyroscope (d = 16, 255 steps) and on
// stability and near-π (d = 64, 127 steps).
TEST(Transformer, HasThePublishedNumberOfParameters) {
    struct Count {
        const char* architecture;
        int64_t core, gyroscope, stability;
    };
    for (const auto& [architecture, core, gyroscope, stability] :
         {Count{"gpt", 1'780'224, 1'841'808, 1'821'376}, Count{"ddl", 1'783'568, 1'845'152, 1'824'720},
          Count{"mhc", 1'838'310, 1'899'894, 1'879'462}, Count{"jpmhc", 1'770'912, 2'017'200, 1'935'328},
          Count{"edelta", 1'787'688, 1'849'272, 1'828'840}}) {
        auto config = matched_config(architecture);
        config.dimension = 16;
        config.context = 256;
        const Transformer on_gyroscope(config);
        EXPECT_EQ(core_parameter_count(on_gyroscope), core) << architecture;
        EXPECT_EQ(parameter_count(on_gyroscope), gyroscope) << architecture;
        config.dimension = 64;
        config.context = 128;
        EXPECT_EQ(parameter_count(Transformer(config)), stability) << architecture;
    }
}

// Table 8 of the JPmHC paper, n = 4, d = 512. Its additions to the projections, 36, 28 and 22, are one bias a
// number (24, 16, 14) and one scale a stream for each mapping that belongs to streams (3 n, 3 n, 2 n).
TEST(Transformer, JpmhcModulesHaveThePrintedNumberOfParameters) {
    const std::map<std::string, int64_t> printed{
        {"sinkhorn", 49'188}, {"cayley", 102'400}, {"grassmann", 32'796}, {"permutation", 28'694}};
    for (const auto& [variant, count] : printed)
        EXPECT_EQ(parameter_count(*make_jpmhc_module(variant, 4, 512)), count) << variant;
}

TEST(Transformer, UnpublishedSizesAreOfTheSameOrder) {
    for (const auto& name : {"post-ln", "delta", "mhc-lite", "edelta-cayley", "edelta-stream", "shc", "hc",
                             "mgt", "mgt-mhc", "mgt-ddl", "mixer"}) {
        const auto count = core_parameter_count(Transformer(matched_config(name, "orthogonal")));
        EXPECT_GT(count, 1'600'000) << name;
        EXPECT_LT(count, 2'000'000) << name;
    }
}

TEST(Transformer, EveryArchitecturePredictsAndEveryParameterLearns) {
    for (const auto& name : all_architectures()) {
        SCOPED_TRACE(name);
        Transformer model(small_transformer(name));
        stir(model);
        const auto x = torch::randn({3, 8, 5});
        const auto out = model.forward(x);
        ASSERT_EQ(out.prediction.sizes(), x.sizes());
        ASSERT_TRUE(torch::isfinite(out.prediction).all().item<bool>());
        auto loss = out.prediction.square().mean();
        if (out.penalty.defined()) loss = loss + out.penalty;
        loss.backward();
        for (const auto& item : model.named_parameters())
            if (item.value().requires_grad()) {
                ASSERT_TRUE(item.value().grad().defined()) << item.key();
                EXPECT_GT(item.value().grad().abs().max().item<float>(), 0.0F) << item.key();
            }
    }
}

// A model is causal where no output depends on a later input.
TEST(Transformer, LaterTokensChangeNothingEarlier) {
    for (const auto& name : all_architectures()) {
        SCOPED_TRACE(name);
        auto config = small_transformer(name);
        if (!config.causal) continue;
        Transformer model(config);
        stir(model);
        model.to(torch::kDouble);
        const torch::NoGradGuard no_grad;
        const auto x = torch::randn({2, 8, 5}, torch::kDouble);
        auto changed = x.clone();
        changed.narrow(1, 5, 3).add_(1.0);
        const auto difference = (model.forward(x).prediction - model.forward(changed).prediction).abs();
        EXPECT_LT(difference.narrow(1, 0, 5).max().item<double>(), 1e-12);
        EXPECT_GT(difference.narrow(1, 5, 3).max().item<double>(), 1e-6);
    }
}

TEST(Transformer, PublishedPoolingShowsTheTargets) {
    for (const auto* name : {"ddl", "edelta", "edelta-stream"}) {
        auto config = small_transformer(name);
        config.pooling = Pooling::published;
        Transformer model(config);
        stir(model);
        const torch::NoGradGuard no_grad;
        const auto x = torch::randn({2, 8, 5});
        auto changed = x.clone();
        changed.narrow(1, 5, 3).add_(1.0);
        const auto difference = (model.forward(x).prediction - model.forward(changed).prediction).abs();
        EXPECT_GT(difference.narrow(1, 0, 5).max().item<double>(), 1e-6) << name;
    }
}

TEST(Transformer, CausalPoolingIsTheMeanSoFar) {
    const auto x = torch::randn({2, 6, 3}, torch::kDouble);
    const auto causal = pooled(x, Pooling::causal);
    for (int64_t t = 0; t < 6; ++t)
        EXPECT_LT((causal.select(1, t) - x.narrow(1, 0, t + 1).mean(1)).abs().max().item<double>(), 1e-14);
    EXPECT_LT((pooled(x, Pooling::published).squeeze(1) - x.mean(1)).abs().max().item<double>(), 1e-14);
}

// With a branch that gives nothing, a connection is its mixer.
TEST(Transformer, AConnectionAppliesTheMatrixItShows) {
    for (const auto& name : all_architectures()) {
        if (name == "gpt" || name == "post-ln" || name == "mgt-mhc") continue;
        SCOPED_TRACE(name);
        auto config = small_transformer(name);
        config.post_norm = false;
        Transformer model(config);
        stir(model);
        const torch::NoGradGuard no_grad;
        const auto x = torch::randn({2, 7, 16});
        auto& connection = model.blocks()[1]->connection(0);
        const auto width = connection.branch_width();
        const Connection::Branch nothing{[](const Tensor& t) { return t; },
                                         [](const Tensor& t) { return torch::zeros_like(t); }};
        const auto after = connection.forward(x, nothing).state;
        const auto shown = connection.mixing(x).matrix;
        EXPECT_LT((after - apply_mixer(shown, x)).abs().max().item<float>(), 2e-5F);
        EXPECT_EQ(shown.size(-1), connection.streams());
        const bool whole = name == "mhc" || name == "edelta" || name == "edelta-cayley" || !has_streams(name);
        EXPECT_EQ(width, whole ? 16 : 4);
    }
}

// Stream i gets A x plus post_i F(Σ pre_j x_j): the linear part with an identity branch.
TEST(Transformer, StreamsAreReadAndWrittenByPreAndPost) {
    for (const auto* name : {"jpmhc", "shc", "mhc-lite", "hc", "delta"}) {
        Transformer model(small_transformer(name));
        stir(model);
        const torch::NoGradGuard no_grad;
        const auto x = torch::randn({2, 7, 16});
        auto& connection = model.blocks()[0]->connection(1);
        const Connection::Branch identity{[](const Tensor& t) { return t; },
                                          [](const Tensor& t) { return t; }};
        const auto m = connection.mixing(x);
        const auto streams = x.view({2, 7, 4, 4});
        auto expected = torch::zeros_like(streams);
        for (int64_t i = 0; i < 4; ++i)
            for (int64_t j = 0; j < 4; ++j) {
                const auto weight =
                    m.matrix.select(2, i).select(2, j) + m.post.select(2, i) * m.pre.select(2, j);
                expected.select(2, i).add_(weight.unsqueeze(-1) * streams.select(2, j));
            }
        EXPECT_LT(
            (connection.forward(x, identity).state - expected.view({2, 7, 16})).abs().max().item<float>(),
            2e-5F)
            << name;
    }
}

TEST(Transformer, JpmhcReadsRowsAndWritesColumns) {
    Transformer model(small_transformer("jpmhc"));
    stir(model);
    const torch::NoGradGuard no_grad;
    const auto m = model.blocks()[0]->connection(0).mixing(torch::randn({2, 7, 16}));
    EXPECT_LT((m.pre.sum(-1) - 1).abs().max().item<float>(), 1e-5F);   // the mean of rows that sum to one
    EXPECT_LT((m.post.sum(-1) - 4).abs().max().item<float>(), 1e-5F);  // n columns that sum to one
}

// At their start the connections that papers call identity-like are that.
TEST(Transformer, StartsWhereThePapersSay) {
    const auto distance_at_start = [](const std::string& name, const std::string& mixer = "") {
        torch::manual_seed(3);
        auto config = matched_config(name, mixer);
        config.layers = 1;
        Transformer model(config);
        const torch::NoGradGuard no_grad;
        const auto matrix =
            model.blocks()[0]->connection(0).mixing(torch::randn({1, 5, config.channels})).matrix;
        return (matrix - torch::eye(matrix.size(-1))).abs().max().item<double>();
    };
    EXPECT_LT(distance_at_start("mhc-lite"), 0.01);
    EXPECT_LT(distance_at_start("shc"), 1e-3);
    EXPECT_LT(distance_at_start("hc"), 1e-6);
    EXPECT_LT(distance_at_start("mixer", "bistochastic"), 2e-3);
    EXPECT_LT(distance_at_start("mixer", "orthogonal"), 1e-6);
    EXPECT_LT(distance_at_start("jpmhc"), 0.3);
    EXPECT_GT(distance_at_start("mhc"), 0.1);  // b_res = 2I: softmax-like, not the identity
}

TEST(Transformer, EdeltaProjectionsStartAtTheIdentityUnlessPublished) {
    auto config = small_transformer("edelta");
    const auto projection = [&](bool published) {
        config.published_start = published;
        const Transformer model(config);
        return model.named_parameters()["core.transformer.h.0.h_pre_attn.weight"].detach();
    };
    EXPECT_TRUE(torch::equal(projection(false), torch::eye(16)));
    EXPECT_NEAR(projection(true).std().item<double>(), 0.02, 0.003);
}

TEST(Transformer, ParametersHaveTheNamesOfTheEdeltaSuite) {
    const auto has = [](const std::string& architecture, const std::string& name) {
        const Transformer model(small_transformer(architecture));
        return model.named_parameters().contains(name);
    };
    EXPECT_TRUE(has("edelta", "core.transformer.h.1.geo_attn.u_net.0.weight"));
    EXPECT_TRUE(has("edelta", "core.transformer.h.0.geo_mlp.gate_net.bias"));
    EXPECT_TRUE(has("jpmhc", "core.transformer.h.0.jpmhc_attn.fused_proj.weight"));
    EXPECT_TRUE(has("mhc", "core.transformer.h.0.mhc_mlp.phi_res.weight"));
    EXPECT_TRUE(has("mhc", "core.transformer.h.0.mhc_mlp.alpha_res"));
    EXPECT_TRUE(has("gpt", "core.transformer.h.0.attn.c_attn.weight"));
    EXPECT_TRUE(has("edelta-stream", "core.transformer.h.0.router_attn.proj.weight"));
}

TEST(Transformer, RecursionAppliesTheSameBlocksAgain) {
    auto config = small_transformer("recursive");
    Transformer model(config);
    stir(model);
    const torch::NoGradGuard no_grad;
    const auto x = torch::randn({2, 6, 16});
    auto state = x;
    for (int cycle = 0; cycle < 2; ++cycle)
        for (const auto& block : model.blocks()) state = block->forward(state).state;
    EXPECT_TRUE(torch::equal(model.propagate(x).state, state));
    EXPECT_EQ(model.blocks().size(), 2U);
}

TEST(Transformer, RotaryPositionsDependOnDistanceAlone) {
    auto config = small_transformer("gpt");
    config.rotary = true;
    Transformer model(config);
    stir(model);
    model.to(torch::kDouble);
    const torch::NoGradGuard no_grad;
    // A constant sequence looks the same from everywhere: attention's output is that of any position.
    const auto state = torch::randn({1, 1, 16}, torch::kDouble).repeat({1, 8, 1});
    const auto out = model.propagate(state).state;
    EXPECT_LT((out - out.narrow(1, 0, 1)).abs().max().item<double>(), 1e-12);
    EXPECT_FALSE(model.named_parameters().contains("pos_emb"));
    // And order matters: two tokens exchanged change what the last one sees.
    const auto x = torch::randn({1, 4, 16}, torch::kDouble);
    const auto exchanged = x.index_select(1, torch::tensor({1, 0, 2, 3}));
    const auto last = [&](const Tensor& s) { return model.propagate(s).state.select(1, 3); };
    EXPECT_GT((last(x) - last(exchanged)).abs().max().item<double>(), 1e-6);
}

// Computed again in the backward pass: the same numbers to the last bit.
TEST(Transformer, RecomputedGradientsAreTheSame) {
    for (const auto* name : {"gpt", "edelta", "jpmhc", "mhc"}) {
        SCOPED_TRACE(name);
        auto config = small_transformer(name);
        const auto gradients = [&](bool recomputed) {
            torch::manual_seed(11);
            config.checkpoint_blocks = recomputed;
            Transformer model(config);
            const auto out = model.forward(torch::randn({2, 8, 5}));
            auto loss = out.prediction.square().mean();
            if (out.penalty.defined()) loss = loss + 0.1 * out.penalty;
            loss.backward();
            std::vector<Tensor> all;
            for (const auto& p : model.parameters())
                if (p.requires_grad()) all.push_back(p.grad().flatten());
            return torch::cat(all);
        };
        EXPECT_TRUE(torch::equal(gradients(false), gradients(true)));
    }
}

TEST(Transformer, AHundredAndTwentyBlocksTrain) {
    auto config = small_transformer("mixer");
    config.layers = 120;
    config.checkpoint_blocks = true;
    Transformer model(config);
    model.forward(torch::randn({2, 8, 5})).prediction.square().mean().backward();
    const auto first = model.named_parameters()["core.transformer.h.0.attn.c_attn.weight"].grad();
    EXPECT_TRUE(torch::isfinite(first).all().item<bool>());
    EXPECT_GT(first.norm().item<double>(), 0);
}

TEST(Transformer, TokensAreEmbeddedAndReadOutByOneTable) {
    auto config = small_transformer("mhc");
    config.tokens = true;
    config.dimension = 11;
    Transformer model(config);
    const auto out = model.forward(torch::randint(11, {3, 8}, torch::kLong));
    EXPECT_EQ(out.prediction.size(2), 11);
    EXPECT_FALSE(model.named_parameters().contains("input_proj.weight"));
}

// Without the input-dependent part only the biases are left, and every input meets the same mapping.
TEST(Transformer, StaticMappingsSeeNoInput) {
    for (const std::string architecture : {"mhc", "mhc-lite", "shc", "hc", "delta", "recursive", "mixer"}) {
        SCOPED_TRACE(architecture);
        auto config = small_transformer(architecture);
        const Transformer dynamic(config);
        config.static_mappings = true;
        Transformer model(config);
        for (const auto& item : model.named_parameters()) {
            EXPECT_EQ(item.key().find("phi_"), std::string::npos) << item.key();
            EXPECT_EQ(item.key().find("alpha_"), std::string::npos) << item.key();
            EXPECT_EQ(item.key().find("tau_"), std::string::npos) << item.key();
        }
        stir(model);
        auto& connection = model.blocks()[1]->connection(0);
        const auto size = connection.mixer()->size();
        // delta's post is made from its mixer; shc's three scales take the place of one.
        const bool delta = architecture == "delta";
        const auto mapped = (delta ? 4 : 4 + 4) + size, scales = int64_t{delta                   ? 2
                                                                         : architecture == "shc" ? 5
                                                                                                 : 3};
        const auto per_connection = mapped * 16 + 16 + scales;
        EXPECT_EQ(parameter_count(dynamic) - parameter_count(model), 4 * per_connection);
        const auto a = connection.mixing(torch::randn({2, 3, 16})),
                   b = connection.mixing(torch::randn({2, 3, 16}));
        EXPECT_TRUE(torch::equal(a.matrix, b.matrix));
        EXPECT_TRUE(torch::equal(a.pre, b.pre));
        EXPECT_TRUE(torch::equal(a.post, b.post));
        EXPECT_EQ(a.matrix.sizes(), (std::vector<int64_t>{2, 1, 4, 4}));
        EXPECT_EQ(a.pre.sizes(), (std::vector<int64_t>{2, 3, 4}));
        const auto loss = model.forward(torch::randn({2, 9, 5})).prediction.square().sum();
        loss.backward();
        for (const auto& item : model.named_parameters()) {
            if (!item.value().requires_grad()) continue;
            EXPECT_GT(item.value().grad().abs().max().item<float>(), 0) << item.key();
        }
    }
    auto config = small_transformer("jpmhc");
    config.static_mappings = true;
    EXPECT_THROW(Transformer{config}, std::invalid_argument);
}

TEST(Transformer, RefusesWhatDoesNotFit) {
    auto config = small_transformer("jpmhc");
    config.channels = 18;
    EXPECT_THROW(Transformer{config}, std::invalid_argument);
    EXPECT_THROW(matched_config("resnet"), std::invalid_argument);
    Transformer model(small_transformer("gpt"));
    EXPECT_THROW(model.forward(torch::zeros({1, 10, 5})), std::invalid_argument);
}

// Other tokens' inputs held, this one's own keys, values and queries moving: value and Jacobian of the
// token's output are those of attention over all tokens.
TEST(Block, BranchOfOneTokenIsThatOfAllTokens) {
    constexpr int64_t steps = 7;
    for (const auto* const architecture : {"gpt", "hc", "recursive", "edelta"})
        for (const bool rotary : {false, true})
            for (const int64_t heads : {1, 2, 4}) {
                auto config = small_transformer(architecture);
                config.channels = 48;  // rotary pairs of 12 or 48, 6 or 24, 3 or 12 numbers a head
                config.rotary = rotary;
                config.heads = heads;
                Transformer model(config);
                stir(model);
                model.to(torch::kDouble);
                for (const auto& block : model.blocks())
                    for (const int sublayer : {0, 1}) {
                        const auto width = block->connection(sublayer).branch_width();
                        const auto all = torch::randn({1, steps, width}, torch::kDouble);
                        const auto branch = block->branch(sublayer);
                        for (const int64_t t : {int64_t{0}, int64_t{3}, steps - 1}) {
                            SCOPED_TRACE(testing::Message() << architecture << ", rotary " << rotary << ", "
                                                            << heads << " heads, token " << t);
                            const auto plain = [&](const Tensor& rows) {
                                auto states = all.repeat({rows.size(0), 1, 1});
                                states = torch::cat(
                                    {states.narrow(1, 0, t), rows.unsqueeze(1), states.slice(1, t + 1)}, 1);
                                return branch(states).select(1, t);
                            };
                            const auto alone = block->branch_at(sublayer, branch.norm(all), t);
                            const auto fast = [&](const Tensor& rows) {
                                return alone(rows.unsqueeze(1)).select(1, 0);
                            };
                            const auto rows = torch::randn({3, width}, torch::kDouble);
                            EXPECT_LT((fast(rows) - plain(rows)).abs().max().item<double>(),
                                      1e-12 * plain(rows).abs().max().item<double>());
                            const auto expected = jacobian::exact_jacobian(plain, all[0][t]);
                            EXPECT_LT((jacobian::exact_jacobian(fast, all[0][t]) - expected).abs().max().item<double>(),
                                      1e-12 * expected.abs().max().item<double>());
                        }
                    }
            }
}

}  // namespace
}  // namespace spectra::train
