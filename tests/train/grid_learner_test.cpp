#include "train/grid_learner.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"
#include "tasks/baselines.hpp"
#include "tasks/grid_rules.hpp"
#include "tasks/tasks.hpp"
#include "train/batches.hpp"
#include "train/make_learner.hpp"
#include "train/modules/stablemax.hpp"
#include "train/trainer.hpp"

namespace spectra::train {
namespace {

using torch::Tensor;

ModelConfig small_grid_model() {
    auto config = matched_config("trm");
    config.cycles = 2;
    config.answer_cycles = 2;
    config.supervision_steps = 4;
    config.channels = 16;
    config.puzzle_tokens = 2;
    config.halt_exploration = 0.5;
    return config;
}

tasks::Dataset grids(int64_t samples, int difficulty = 1) {
    tasks::TaskOptions options;
    options.samples = samples;
    options.validation_samples = 16;
    options.difficulty = difficulty;
    return tasks::make_dataset("grid", options);
}

TEST(DeepSupervision, HaltsAsItsRuleSays) {
    // Logit, steps so far, least steps; most are 4.
    struct Case {
        float logit;
        int64_t steps, least;
        bool halts;
    };
    for (const auto& c : {Case{-1, 1, 1, false},
                          {1, 1, 1, true},
                          {0, 2, 1, false},
                          {1, 2, 3, false},
                          {1, 3, 3, true},
                          {-1, 4, 1, true},
                          {-1, 4, 4, true},
                          {1, 4, 4, true},
                          {1, 3, 4, false}}) {
        const auto found =
            halts(torch::tensor({c.logit}), torch::tensor({c.steps}), torch::tensor({c.least}), 4);
        EXPECT_EQ(found[0].item<bool>(), c.halts) << c.logit << " " << c.steps << " " << c.least;
    }
}

TEST(DeepSupervision, LeastStepsAreDrawn) {
    const auto data = grids(8);
    auto config = small_grid_model();
    const Batches batches(data, 8, 3, torch::kCPU, &config);
    std::map<int64_t, int> seen;
    for (std::uint32_t index = 0; index < 500; ++index) {
        const auto least = batches.draw(index).least_steps;
        for (int64_t k = 0; k < 8; ++k) ++seen[least[k].item<int64_t>()];
    }
    // Half of 4000 are 1, a sixth each 2, 3 and 4; standard deviations 32 and 24.
    EXPECT_EQ(seen.size(), 4U);
    EXPECT_NEAR(seen[1], 2000, 160);
    for (const int k : {2, 3, 4}) EXPECT_NEAR(seen[k], 4000 / 6.0, 120);
    EXPECT_TRUE(torch::equal(batches.draw(7).least_steps, batches.draw(7).least_steps));
    EXPECT_FALSE(Batches(data, 8, 3, torch::kCPU, nullptr).draw(0).least_steps.defined());
}

/// One place of the batch by itself: what it solves, and where it stands.
struct Place {
    Tensor x, y;
    TinyRecursive::States states;
    int64_t steps = 0;
    bool halted = true;
};

// The whole machine against places that are simulated one by one.
TEST(DeepSupervision, IsThatOfEveryPlaceByItself) {
    const auto data = grids(64);
    torch::manual_seed(1);
    const auto learner = make_grid_learner(data, small_grid_model(), 0.0);
    auto& model = dynamic_cast<TinyRecursive&>(*learner->transformer());
    {
        const torch::NoGradGuard no_grad;  // so that some halt early and others do not
        const auto x = tensors_of(data, data.train, torch::kCPU).x;
        auto bias = model.named_parameters()["halt.bias"];
        model.named_parameters()["halt.weight"].normal_(0, 1);
        bias.zero_();
        bias.fill_(-model.step(x, model.first_states(x)).halt.median().item<float>());
    }
    auto config = small_grid_model();
    const Batches batches(data, 6, 9, torch::kCPU, &config);
    std::vector<Place> places(6);
    int early = 0, last = 0;
    for (std::uint32_t index = 0; index < 12; ++index) {
        const auto batch = batches.draw(index);
        const auto loss = learner->loss(batch);
        learner->advance();
        double expected = 0, halting = 0;
        for (int64_t k = 0; k < 6; ++k) {
            auto& place = places[static_cast<std::size_t>(k)];
            if (place.halted) {
                place.x = batch.x.narrow(0, k, 1);
                place.y = batch.y.narrow(0, k, 1);
                place.states = model.first_states(place.x);
                place.steps = 0;
            }
            const auto step = model.step(place.x, place.states);
            const auto target = place.y.slice(1, 1);
            expected += stablemax_loss(step.logits, target).item<double>() / 6;
            bool right = true;
            for (int64_t cell = 0; cell < target.size(1); ++cell)
                if (const auto want = target[0][cell].item<int64_t>(); want >= 0)
                    right = right && step.logits[0][cell].argmax().item<int64_t>() == want;
            const double q = 1 / (1 + std::exp(-step.halt[0].item<double>()));
            halting -= std::log(right ? q : 1 - q) / 6;
            place.states = step.states;
            ++place.steps;
            const bool wants = step.halt[0].item<float>() > 0;
            const bool may = place.steps >= batch.least_steps[k].item<int64_t>();
            place.halted = place.steps == 4 || (wants && may);
            if (place.halted) ++(place.steps == 4 ? last : early);
        }
        EXPECT_NEAR(loss.task.item<double>(), expected, 1e-5);
        EXPECT_NEAR(loss.penalty.item<double>(), halting / 2, 1e-5);
        std::map<std::string, Tensor> carried;
        for (const auto& [name, tensor] : learner->carried()) carried[name] = tensor;
        for (int64_t k = 0; k < 6; ++k) {
            const auto& place = places[static_cast<std::size_t>(k)];
            EXPECT_TRUE(torch::allclose(carried["answer"][k], place.states.answer[0], 1e-3, 1e-3));
            EXPECT_TRUE(torch::allclose(carried["latent"][k], place.states.latent[0], 1e-3, 1e-3));
            EXPECT_EQ(carried["steps"][k].item<float>(), static_cast<float>(place.steps));
            EXPECT_EQ(carried["halted"][k].item<float>() != 0, place.halted);
            EXPECT_TRUE(torch::equal(carried["x"][k], place.x[0].to(torch::kFloat)));
        }
    }
    EXPECT_GT(early, 2);
    EXPECT_GT(last, 2);
}

TEST(GridLearner, JudgesByPlainCounts) {
    const auto data = grids(16);
    torch::manual_seed(2);
    const auto learner = make_grid_learner(data, small_grid_model(), 0.0);
    auto& model = dynamic_cast<TinyRecursive&>(*learner->transformer());
    const auto split = tensors_of(data, data.validation, torch::kCPU);
    const torch::NoGradGuard no_grad;
    model.named_parameters()["halt.weight"].normal_(0, 1);
    model.named_parameters()["halt.bias"].zero_();
    double cells = 0, steps = 0, says = 0, exact = 0;
    for (int64_t k = 0; k < 16; ++k) {
        const auto x = split.x.narrow(0, k, 1);
        auto states = model.first_states(x);
        int64_t halting = 4;
        double right = 0, scored = 0;
        for (int64_t step = 1; step <= 4; ++step) {
            const auto out = model.step(x, states);
            states = out.states;
            const bool halts_here = out.halt[0].item<float>() > 0;
            if (halts_here && step < halting) halting = step;
            if (step < 4) continue;
            for (int64_t cell = 1; cell < split.y.size(1); ++cell) {
                const auto want = split.y[k][cell].item<int64_t>();
                if (want < 0) continue;
                ++scored;
                if (out.logits[0][cell - 1].argmax().item<int64_t>() == want) ++right;
            }
            if (halts_here == (right == scored)) says += 1.0 / 16;
        }
        exact += right == scored ? 1.0 / 16 : 0;
        cells += right / scored / 16;
        steps += static_cast<double>(halting) / 16;
    }
    const auto judged = judge(*learner, split, 5);
    const std::map<std::string, double> means(judged.means.begin(), judged.means.end());
    EXPECT_NEAR(means.at("cell_accuracy"), cells, 1e-9);
    EXPECT_NEAR(means.at("exact_accuracy"), exact, 1e-9);
    EXPECT_NEAR(means.at("halting_step"), steps, 1e-9);
    EXPECT_NEAR(means.at("halt_accuracy"), says, 1e-9);
    const auto listed = learner->measures(split);
    const std::map<std::string, double> all(listed.begin(), listed.end());
    EXPECT_NEAR(all.at("cell_accuracy"), cells, 1e-9);
    EXPECT_LE(all.at("pass_at_1"), all.at("pass_at_100"));
}

TEST(GridLearner, LearnsGridsOnly) {
    spectra::testing::expect_refused(
        [] { make_learner(tasks::make_dataset("copy", {}), small_grid_model(), 0.0); },
        {"trm learns grids", "copy"});
}

TrainOptions run_of(int64_t steps) {
    TrainOptions o;
    o.model = small_grid_model();
    o.steps = steps;
    o.batch = 8;
    o.log_every = steps;
    o.schedule.warm_up = 3;
    o.schedule.horizon = steps;
    o.optimiser.sign_rate = 10;
    o.description = "trm";
    return o;
}

// At the easiest difficulty a small model soon has more cells right than a copy of the input.
TEST(GridLearner, BeatsTrivialPredictors) {
    const auto data = grids(2000);
    auto run = run_of(70);
    run.model.cycles = run.model.answer_cycles = run.model.puzzle_tokens = 1;
    run.model.supervision_steps = 2;
    run.model.channels = 32;
    run.model.streams = 2;
    run.batch = 16;
    run.schedule.peak = 1e-2;
    run.schedule.floor = 1e-3;
    run.optimiser.sign_rate = 1;
    const auto result = train(data, run);
    const std::map<std::string, double> measures(result.measures.begin(), result.measures.end());
    const auto trivial = tasks::baselines(data);
    EXPECT_GT(measures.at("cell_accuracy"), *trivial.copy_cells);
    EXPECT_GT(measures.at("cell_accuracy"), *trivial.frequent_cells);
    EXPECT_LT(result.final_val_loss, *trivial.unigram);
}

// Stopped between rows of the log: states, puzzles and halting go on where they were.
TEST(GridLearner, ResumedEqualsUninterrupted) {
    const spectra::testing::TemporaryFolder folder;
    const auto data = grids(24);
    auto whole = run_of(10);
    whole.checkpoint = folder.path() / "whole.ckpt";
    const auto expected = train(data, whole);
    auto parts = whole;
    parts.checkpoint = folder.path() / "parts.ckpt";
    parts.stop_after = 5;
    train(data, parts);
    parts.stop_after = 0;
    parts.resume = true;
    const auto found = train(data, parts);
    EXPECT_EQ(found.final_val_loss, expected.final_val_loss);
    ASSERT_EQ(found.measures.size(), expected.measures.size());
    for (std::size_t k = 0; k < found.measures.size(); ++k)
        EXPECT_EQ(found.measures[k].second, expected.measures[k].second) << found.measures[k].first;
    EXPECT_EQ(found.log.rows.back()[1], expected.log.rows.back()[1]);
}

}  // namespace
}  // namespace spectra::train
