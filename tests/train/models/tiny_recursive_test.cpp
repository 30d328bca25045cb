#include "train/models/tiny_recursive.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "train/measure.hpp"
#include "train/modules/stablemax.hpp"

namespace spectra::train {
namespace {

using torch::Tensor;

ModelConfig small_recursive(const std::string& mixer = "cayley") {
    auto config = matched_config("trm", mixer);
    config.layers = 2;
    config.cycles = 2;
    config.channels = 16;
    config.heads = 2;
    config.answer_cycles = 3;
    config.puzzle_tokens = 2;
    config.puzzles = 3;
    config.tokens = true;
    config.dimension = 12;
    config.context = 12;
    return config;
}

std::shared_ptr<TinyRecursive> made(const ModelConfig& config) {
    torch::manual_seed(5);
    auto model = std::make_shared<TinyRecursive>(config);
    model->to(torch::kDouble);
    const torch::NoGradGuard no_grad;
    for (auto& p : model->parameters()) p.add_(0.1 * torch::randn_like(p));  // nothing is 0 or the identity
    return model;
}

/// Two sequences: the puzzle and six cells.
Tensor two_grids() {
    return torch::tensor(std::vector<int64_t>{12, 2, 3, 4, 1, 0, 0, 14, 11, 1, 5, 1, 2, 2}).view({2, 7});
}

Tensor parameter(TinyRecursive& model, const std::string& name) {
    return model.named_parameters()[name];
}

Tensor network(TinyRecursive& model, Tensor state) {
    for (const auto& block : model.blocks()) state = block->forward(state).state;
    const auto weight = parameter(model, "core.transformer.ln_f.weight");
    return torch::layer_norm(state, weight.sizes(), weight);
}

/// x, embedded token by token.
Tensor embedded(TinyRecursive& model, const Tensor& x) {
    const auto table = parameter(model, "core.transformer.wte.weight"), puzzles = parameter(model, "puzzles");
    std::vector<Tensor> grids;
    for (int64_t b = 0; b < x.size(0); ++b) {
        std::vector<Tensor> tokens;
        const auto& own = puzzles[x[b][0].item<int64_t>() - 12];
        for (int64_t k = 0; k < own.size(0); ++k)
            tokens.push_back(torch::cat({own[k], own[k], own[k], own[k]}));
        for (int64_t k = 1; k < x.size(1); ++k) tokens.push_back(table[x[b][k].item<int64_t>()]);
        grids.push_back(4.0 * torch::stack(tokens));  // √16
    }
    return torch::stack(grids);
}

TEST(TinyRecursive, StepIsItsEquations) {
    const auto model = made(small_recursive());
    const auto x = two_grids();
    const auto e = embedded(*model, x);
    Tensor y = parameter(*model, "answer_start").expand({2, 8, 16}),
           z = parameter(*model, "latent_start").expand({2, 8, 16});
    const auto states = model->first_states(x);
    EXPECT_TRUE(torch::equal(states.answer, y));
    EXPECT_TRUE(torch::equal(states.latent, z));
    for (int cycle = 0; cycle < 3; ++cycle) {
        for (int k = 0; k < 2; ++k) z = network(*model, e + y + z);
        y = network(*model, y + z);
    }
    const auto step = model->step(x, states);
    EXPECT_TRUE(torch::allclose(step.states.answer, y, 1e-10, 1e-10));
    EXPECT_TRUE(torch::allclose(step.states.latent, z, 1e-10, 1e-10));
    EXPECT_TRUE(torch::allclose(
        step.logits, torch::matmul(y.slice(1, 2), parameter(*model, "head.weight").t()), 1e-10, 1e-10));
    EXPECT_TRUE(torch::allclose(
        step.halt,
        torch::matmul(y.select(1, 0), parameter(*model, "halt.weight")[0]) + parameter(*model, "halt.bias"),
        1e-10, 1e-10));
    EXPECT_FALSE(step.states.answer.requires_grad());
}

TEST(TinyRecursive, EveryTokenSeesAll) {
    const auto model = made(small_recursive());
    auto x = two_grids();
    const auto before = model->step(x, model->first_states(x)).logits;
    x[0][6] = 7;
    const auto after = model->step(x, model->first_states(x)).logits;
    EXPECT_GT((after - before)[0][0].abs().max().item<double>(), 1e-6);
    EXPECT_TRUE(torch::equal(after[1], before[1]));
    x[0][0] = 13;  // another puzzle
    EXPECT_GT((model->step(x, model->first_states(x)).logits - after)[0][3].abs().max().item<double>(), 1e-6);
}

/// A loss that depends on both outputs.
Tensor loss_of(TinyRecursive& model, const Tensor& x, const TinyRecursive::States& states) {
    const auto step = model.step(x, states);
    return stablemax_loss(step.logits, x.slice(1, 1)) + step.halt.square().sum();
}

std::vector<Tensor> gradients(TinyRecursive& model, const Tensor& loss) {
    std::vector<Tensor> trained;
    for (const auto& p : model.parameters())
        if (p.requires_grad()) trained.push_back(p);
    return torch::autograd::grad({loss}, trained, {}, {}, false, true);
}

// Only the last cycle has gradients: they are those of a model with one cycle that begins where the others ended.
TEST(TinyRecursive, GradientsAreThoseOfTheLastCycle) {
    const auto x = two_grids();
    for (const std::string mixer : {"cayley", "bistochastic", "grassmann", "permutation"}) {
        SCOPED_TRACE(mixer);
        const auto three = made(small_recursive(mixer));
        auto config = small_recursive(mixer);
        config.answer_cycles = 1;
        const auto one = made(config);
        auto states = one->first_states(x);
        {
            const torch::NoGradGuard no_grad;
            for (int k = 0; k < 2; ++k) states = one->step(x, states).states;
        }
        const auto whole = gradients(*three, loss_of(*three, x, three->first_states(x)));
        const auto last = gradients(*one, loss_of(*one, x, states));
        ASSERT_EQ(whole.size(), last.size());
        for (std::size_t k = 0; k < whole.size(); ++k) {
            ASSERT_EQ(whole[k].defined(), last[k].defined());
            EXPECT_TRUE(!whole[k].defined() || torch::allclose(whole[k], last[k], 1e-8, 1e-10));
        }
    }
}

TEST(TinyRecursive, GradientsAreThoseOfDifferences) {
    const auto x = two_grids();
    for (const std::string mixer : {"cayley", "bistochastic", "grassmann", "permutation"}) {
        auto config = small_recursive(mixer);
        config.answer_cycles = 1;
        config.layers = 1;
        config.mixer_options.sinkhorn_iterations = 0;  // to tolerance: its backward is that of the limit
        const auto model = made(config);
        const auto slopes = gradients(*model, loss_of(*model, x, model->first_states(x)));
        std::size_t k = 0;
        for (const auto& item : model->named_parameters()) {
            auto p = item.value();
            if (!p.requires_grad()) continue;
            const auto& slope = slopes[k++];
            SCOPED_TRACE(mixer + " " + item.key());
            const torch::NoGradGuard no_grad;
            const auto direction = torch::randn_like(p);
            constexpr double h = 1e-4;
            const auto at = [&](double by) {
                p.add_(direction, by);
                const double value = loss_of(*model, x, model->first_states(x)).item<double>();
                p.add_(direction, -by);
                return value;
            };
            const double difference = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
            const double along = slope.defined() ? (slope * direction).sum().item<double>() : 0.0;
            EXPECT_NEAR(along, difference, 1e-6 * std::max(1.0, std::abs(difference)));
        }
    }
}

// Table 10: d = 512, four streams, two blocks, eight heads: about 7 M parameters; the formula is that of its parts.
TEST(TinyRecursive, HasThePublishedNumberOfParameters) {
    auto config = matched_config("trm");
    config.channels = 2048;
    config.heads = 8;
    config.tokens = true;
    config.dimension = 12;
    config.puzzles = 10;
    const TinyRecursive model(config);
    int64_t blocks = 0;
    for (const auto& block : model.blocks()) blocks += parameter_count(*block);
    const int64_t channels = 2048, width = 512;
    // Embedding and head, final norm, two starts, halting, puzzles of 16 tokens.
    const auto rest = 2 * 12 * channels + channels + 2 * channels + channels + 1 + 10 * 16 * width;
    EXPECT_EQ(parameter_count(model), blocks + rest);
    const auto attention_and_mlp = 2 * (12 * width * width + 2 * width);
    EXPECT_GT(blocks, attention_and_mlp);
    EXPECT_NEAR(static_cast<double>(blocks), 7e6, 0.1 * 7e6);
    EXPECT_TRUE(config.rotary);
    EXPECT_EQ(config.supervision_steps, 16);
    EXPECT_EQ(config.halt_exploration, 0.1);
    EXPECT_EQ(config.cycles, 6);
}

// The Jacobian of the latent recursion at one token, the others fixed, by autograd through the equations.
TEST(TinyRecursive, IsMeasuredAsALatentRecursion) {
    const auto model = made(small_recursive());
    const auto x = two_grids().narrow(0, 0, 1);
    const auto e = embedded(*model, x).detach();
    TinyRecursive::States states;
    {
        const torch::NoGradGuard no_grad;
        auto config = small_recursive();
        config.answer_cycles = 1;
        const auto one = made(config);
        states = one->first_states(x);
        for (int k = 0; k < 2; ++k) states = one->step(x, states).states;
    }
    const int64_t t = 5;
    const auto row = states.latent[0][t].detach().clone().requires_grad_(true);
    const auto others = states.latent.detach();
    auto z = torch::cat({others.narrow(1, 0, t), row.view({1, 1, 16}), others.slice(1, t + 1)}, 1);
    z = network(*model, e + states.answer + z);
    auto last = e + states.answer + z;
    for (const auto& block : model->blocks()) last = block->forward(last).state;
    std::vector<Tensor> rows;
    for (int64_t k = 0; k < 16; ++k)
        rows.push_back(torch::autograd::grad({last[0][t][k]}, {row}, {}, true)[0]);
    const auto expected = torch::linalg_svdvals(torch::stack(rows));

    MeasureOptions options;
    options.token = t;
    const auto measured = measure(*model, x, options);
    ASSERT_EQ(measured.singular_values.size(), 16U);
    for (int64_t k = 0; k < 16; ++k)
        EXPECT_NEAR(measured.singular_values[static_cast<std::size_t>(k)], expected[k].item<double>(), 1e-8);
    // Four connections, and four with the same weights; other tokens see this one.
    ASSERT_EQ(measured.branches.size(), 8U);
    EXPECT_EQ(measured.branches[0].weights, measured.branches[4].weights);
    EXPECT_GT(measured.product_defect, 1e-6);
    // A Cayley mixer is orthogonal; after the norm it is that times the norm's mean derivative.
    const auto& first = measured.stack.connections[0].mixer;
    EXPECT_NEAR((first.transpose() * first)(0, 0), 1, 0.1);
    const auto& normed = measured.stack.connections[4].mixer;
    auto state = e + states.answer + states.latent;
    for (const auto& block : model->blocks()) state = block->forward(state).state;
    const auto weight = parameter(*model, "core.transformer.ln_f.weight");
    const double deviation = state[0][t].std(false).item<double>();
    // tr N/C of weights w: Σ w (1 − 1/C − x̂²/C)/(σ C).
    const auto centred = (state[0][t] - state[0][t].mean()) / deviation;
    const double scale = (weight * (1 - (1 + centred.square()) / 16)).sum().item<double>() / (16 * deviation);
    const double size =
        std::sqrt((normed.transpose() * normed).trace() / (first.transpose() * first).trace());
    EXPECT_NEAR(size, scale, 0.1 * scale);
}

}  // namespace
}  // namespace spectra::train
