#include "train/optimiser.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra::train {
namespace {

using torch::Tensor;

Optimiser::Named two_parameters() {
    torch::manual_seed(5);
    return {{"matrix", torch::randn({3, 4}).requires_grad_()},
            {"vector", torch::randn({4}).requires_grad_()}};
}

Tensor loss_of(const Optimiser::Named& p) {
    return (torch::matmul(p[0].second, p[1].second.unsqueeze(-1)) - 1).square().sum() +
           p[1].second.pow(4).sum();
}

void take_steps(const Optimiser::Named& p, Optimiser& optimiser, int steps, double rate) {
    for (int k = 0; k < steps; ++k) {
        optimiser.zero_grad();
        loss_of(p).backward();
        optimiser.gather(0);
        optimiser.step(rate);
    }
}

// Torch's own AdamW, a group with decay and one without.
TEST(Optimiser, IsAdamW) {
    const auto ours = two_parameters(), theirs = two_parameters();
    Optimiser optimiser(ours, {});
    take_steps(ours, optimiser, 50, 1e-2);

    const auto options = [](double decay) {
        return std::make_unique<torch::optim::AdamWOptions>(
            torch::optim::AdamWOptions(1e-2).betas({0.9, 0.95}).weight_decay(decay));
    };
    std::vector<torch::optim::OptimizerParamGroup> groups;
    groups.emplace_back(std::vector<Tensor>{theirs[0].second}, options(0.1));
    groups.emplace_back(std::vector<Tensor>{theirs[1].second}, options(0.0));
    torch::optim::AdamW reference(groups, torch::optim::AdamWOptions(1e-2));
    for (int k = 0; k < 50; ++k) {
        reference.zero_grad();
        loss_of(theirs).backward();
        reference.step();
    }
    for (int k : {0, 1}) EXPECT_LT((ours[k].second - theirs[k].second).abs().max().item<float>(), 2e-6F);
}

// The first step of AdamAtan2 is rate · atan2(g, |g|) = rate · π/4 · sign g, whatever the size of g.
TEST(Optimiser, AdamAtan2DoesNotDependOnTheScaleOfGradients) {
    for (const float size : {1e-12F, 1.0F, 1e12F}) {
        const Optimiser::Named p{{"x", torch::tensor({1.0F, -2.0F}).requires_grad_()}};
        OptimiserOptions options;
        options.rule = OptimiserOptions::Rule::adam_atan2;
        Optimiser optimiser(p, options);
        (p[0].second * torch::tensor({size, -size})).sum().backward();
        optimiser.gather(0);
        optimiser.step(0.1);
        const float step = 0.1F * static_cast<float>(std::atan(1.0));
        EXPECT_NEAR(p[0].second[0].item<float>(), 1 - step, 1e-6F) << size;
        EXPECT_NEAR(p[0].second[1].item<float>(), -2 + step, 1e-6F) << size;
    }
}

// Every number moves by the rate against the sign of its gradient, and matrices decay first.
TEST(Optimiser, SignSgdTakesTheSign) {
    const auto p = two_parameters();
    OptimiserOptions options;
    options.rule = OptimiserOptions::Rule::sign_sgd;
    Optimiser optimiser(p, options);
    const auto before = std::pair{p[0].second.detach().clone(), p[1].second.detach().clone()};
    loss_of(p).backward();
    const auto signs = std::pair{p[0].second.grad().sign(), p[1].second.grad().sign()};
    optimiser.gather(0);
    optimiser.step(0.01);
    const auto off = [](const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<float>(); };
    EXPECT_LT(off(p[0].second, before.first * (1 - 0.01 * 0.1) - 0.01 * signs.first), 1e-6F);
    EXPECT_LT(off(p[1].second, before.second - 0.01 * signs.second), 1e-6F);
    EXPECT_EQ(optimiser.moments().first.abs().max().item<float>(), 0);
}

// A table of which the loss reads one row: that row moves by signs and decays, the others stay; the rest is AdamW's.
TEST(Optimiser, MovesATableBySign) {
    torch::manual_seed(1);
    auto table = torch::randn({3, 4}, torch::kDouble).requires_grad_(true);
    auto other = torch::randn({4, 2}, torch::kDouble).requires_grad_(true);
    auto plain = other.detach().clone().requires_grad_(true);
    OptimiserOptions options;
    options.sign_rate = 5;
    Optimiser optimiser({{"table", table}, {"other", other}}, options, {}, {table});
    Optimiser alone({{"plain", plain}}, options);
    const auto before = table.detach().clone();
    for (int step = 0; step < 3; ++step) {
        const auto row = table[1].detach().clone();
        optimiser.zero_grad();
        alone.zero_grad();
        torch::matmul(table[1], other).square().sum().backward();
        torch::matmul(row, plain).square().sum().backward();
        const auto sign = table.grad()[1].sign();
        optimiser.gather(0);
        alone.gather(0);
        optimiser.step(0.01);
        alone.step(0.01);
        EXPECT_TRUE(torch::allclose(table[1], row * (1 - 0.05 * 0.1) - 0.05 * sign, 0, 1e-12));
        EXPECT_TRUE(torch::allclose(other, plain, 0, 1e-12));
    }
    EXPECT_TRUE(torch::equal(table[0], before[0]));
    EXPECT_TRUE(torch::equal(table[2], before[2]));
}

// JPmHC's table 11.
TEST(Schedule, DropsLate) {
    Schedule schedule;
    schedule.shape = Schedule::Shape::late_drops;
    schedule.peak = 1e-4;
    schedule.warm_up = 100;
    schedule.horizon = 1000;
    EXPECT_DOUBLE_EQ(schedule(50), 0.5e-4);
    EXPECT_DOUBLE_EQ(schedule(100), 1e-4);
    EXPECT_DOUBLE_EQ(schedule(799), 1e-4);
    EXPECT_DOUBLE_EQ(schedule(800), 0.316e-4);
    EXPECT_DOUBLE_EQ(schedule(899), 0.316e-4);
    EXPECT_DOUBLE_EQ(schedule(900), 1e-5);
    EXPECT_DOUBLE_EQ(schedule(5000), 1e-5);
}

TEST(Optimiser, ClipsToTheNorm) {
    const auto p = two_parameters();
    Optimiser optimiser(p, {});
    loss_of(p).backward();
    double square = 0;
    for (const auto& item : p) square += item.second.grad().square().sum().item<double>();
    EXPECT_NEAR(optimiser.gather(0.5), std::sqrt(square), 1e-4 * std::sqrt(square));
    double clipped = 0;
    for (const auto& [name, norm] : optimiser.gradient_norms()) clipped += norm * norm;
    EXPECT_NEAR(std::sqrt(clipped), 0.5, 1e-5);
}

TEST(Optimiser, NamesTheGradientThatIsNoNumber) {
    const auto p = two_parameters();
    Optimiser optimiser(p, {});
    (p[0].second.sum() + p[1].second.sum() * NAN).backward();
    EXPECT_FALSE(std::isfinite(optimiser.gather(1.0)));
    EXPECT_EQ(optimiser.first_bad_gradient(), "vector");
}

TEST(Optimiser, GoesOnFromItsMoments) {
    const auto whole = two_parameters(), parts = two_parameters();
    Optimiser uninterrupted(whole, {});
    take_steps(whole, uninterrupted, 9, 1e-2);
    Optimiser first(parts, {});
    take_steps(parts, first, 4, 1e-2);
    Optimiser second(parts, {});
    second.restore(first.moments().first, first.moments().second, first.steps());
    take_steps(parts, second, 5, 1e-2);
    for (int k : {0, 1}) EXPECT_TRUE(torch::equal(whole[k].second, parts[k].second));
}

TEST(Optimiser, LeavesCarriedParametersAlone) {
    const Optimiser::Named p{{"used", torch::ones({2, 2}).requires_grad_()},
                             {"carried", torch::ones({2, 2})}};
    Optimiser optimiser(p, {});
    p[0].second.sum().backward();
    optimiser.gather(0);
    optimiser.step(0.1);
    EXPECT_TRUE(torch::equal(p[1].second, torch::ones({2, 2})));
    EXPECT_FALSE(torch::equal(p[0].second, torch::ones({2, 2})));
}

/// Away from the subspace that the frame (n×rank) should span.
Tensor distance_from(const Tensor& subspace, const Tensor& frame) {
    return (torch::matmul(frame, frame.t()) - subspace).square().sum();
}

// Beside parameters of other kinds a frame turns towards the right subspace and stays orthonormal to
// rounding; stopped and restored it goes the same way.
TEST(Optimiser, FramesStayOrthonormal) {
    const auto parameters = [] {
        return Optimiser::Named{{"matrix", torch::ones({2, 2}).requires_grad_()},
                                {"frame", torch::eye(4, 2).flatten().requires_grad_()},
                                {"vector", torch::ones({3}).requires_grad_()}};
    };
    torch::manual_seed(3);
    const auto q = std::get<0>(torch::linalg_qr(torch::randn({4, 2})));
    const auto subspace = torch::matmul(q, q.t());
    const auto frame_of = [](const Optimiser::Named& p) { return p[1].second.view({4, 2}); };
    const auto go = [&](const Optimiser::Named& p, Optimiser& optimiser, int steps) {
        for (int k = 0; k < steps; ++k) {
            optimiser.zero_grad();
            (distance_from(subspace, frame_of(p)) + p[0].second.square().sum() + p[2].second.square().sum())
                .backward();
            optimiser.gather(0);
            optimiser.step(2e-2);
        }
    };
    const auto whole = parameters(), parts = parameters();
    Optimiser uninterrupted(whole, {}, {frame_of(whole).detach()});
    go(whole, uninterrupted, 300);
    const auto frame = frame_of(whole).detach();
    EXPECT_LT(distance_from(subspace, frame).item<float>(), 1e-3F);
    EXPECT_LT((torch::matmul(frame.t(), frame) - torch::eye(2)).abs().max().item<float>(), 1e-6F);
    EXPECT_LT(whole[0].second.abs().max().item<float>(), 0.1F);

    Optimiser first(parts, {}, {frame_of(parts).detach()});
    go(parts, first, 120);
    Optimiser second(parts, {}, {frame_of(parts).detach()});
    second.restore(first.moments().first, first.moments().second, first.steps());
    go(parts, second, 180);
    for (int k : {0, 1, 2}) EXPECT_TRUE(torch::equal(whole[k].second, parts[k].second)) << k;
}

TEST(Schedule, WarmsUpAndFalls) {
    const Schedule cosine;
    EXPECT_DOUBLE_EQ(cosine(0), 0);
    EXPECT_DOUBLE_EQ(cosine(50), 5e-4);
    EXPECT_DOUBLE_EQ(cosine(100), 1e-3);
    EXPECT_NEAR(cosine(1050), 5.5e-4, 1e-12);
    EXPECT_DOUBLE_EQ(cosine(2000), 1e-4);
    EXPECT_DOUBLE_EQ(cosine(5000), 1e-4);
    Schedule steps;
    steps.shape = Schedule::Shape::steps;
    EXPECT_DOUBLE_EQ(steps(100), 1e-3);
    EXPECT_DOUBLE_EQ(steps(600), 5e-4);
    EXPECT_DOUBLE_EQ(steps(1100), 2.5e-4);
    EXPECT_DOUBLE_EQ(steps(100000), 1e-4);
}

}  // namespace
}  // namespace spectra::train
