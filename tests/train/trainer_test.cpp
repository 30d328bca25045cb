#include "train/trainer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "support/temporary_folder.hpp"
#include "train/checkpoint_file.hpp"
#include "train/models/transformer.hpp"
#include "tasks/baselines.hpp"
#include "tasks/tasks.hpp"

namespace spectra::train {
namespace {

TrainOptions small_run(const std::string& architecture) {
    TrainOptions o;
    o.model = matched_config(architecture);
    o.model.layers = 2;
    o.model.channels = 16;
    o.steps = 12;
    o.batch = 4;
    o.log_every = 4;
    o.schedule.warm_up = 3;
    o.schedule.horizon = 12;
    o.description = architecture;
    return o;
}

tasks::Dataset little(const std::string& task, int64_t samples) {
    tasks::TaskOptions options;
    options.samples = samples;
    auto data = tasks::make_dataset(task, options);
    const auto keep = std::min<int64_t>(data.validation.count, 16);
    const auto numbers = static_cast<std::size_t>(keep * data.steps * data.dimension);
    if (!data.tokens) {
        data.validation.x.resize(numbers);
        data.validation.y.resize(numbers);
    } else {
        data.validation.tokens_x.resize(static_cast<std::size_t>(keep * data.steps));
        data.validation.tokens_y.resize(static_cast<std::size_t>(keep * data.steps));
    }
    data.validation.count = keep;
    return data;
}

void expect_same(const std::vector<double>& a, const std::vector<double>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
        const bool both_nan = std::isnan(a[k]) && std::isnan(b[k]);
        EXPECT_TRUE(both_nan || a[k] == b[k]) << a[k] << " and " << b[k];
    }
}

void expect_same(const TrainingLog& a, const TrainingLog& b) {
    ASSERT_EQ(a.rows.size(), b.rows.size());
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
        expect_same(a.rows[i], b.rows[i]);
        ASSERT_EQ(a.diagnostics[i].size(), b.diagnostics[i].size());
        for (std::size_t k = 0; k < a.diagnostics[i].size(); ++k)
            expect_same(a.diagnostics[i][k].values, b.diagnostics[i][k].values);
    }
}

// Stopped at a row of the log, between two, and twice: bit for bit the run that was never stopped.
TEST(Trainer, ResumedEqualsUninterrupted) {
    const spectra::testing::TemporaryFolder folder;
    const auto data = little("stability", 24);
    // "mixer": static Grassmann frames, which have an optimiser of their own.
    for (const std::string architecture : {"edelta", "mhc", "jpmhc", "mixer"}) {
        SCOPED_TRACE(architecture);
        auto whole = small_run(architecture);
        if (architecture == "mixer") {
            whole.model.mixer = "grassmann";
            whole.model.static_mappings = true;
        }
        whole.checkpoint = folder.path() / (architecture + "-whole.ckpt");
        const auto expected = train(data, whole);
        EXPECT_TRUE(expected.finished);

        auto parts = whole;
        parts.checkpoint = folder.path() / (architecture + "-parts.ckpt");
        for (const int64_t stop : {5, 8, 0}) {
            parts.stop_after = stop;
            const auto result = train(data, parts);
            parts.resume = true;
            EXPECT_EQ(result.steps, stop == 0 ? 12 : stop);
            if (stop != 0) {
                EXPECT_FALSE(result.finished);
                continue;
            }
            EXPECT_EQ(result.final_val_loss, expected.final_val_loss);
            expect_same(result.log, expected.log);
        }
        const auto a = load_checkpoint(whole.checkpoint), b = load_checkpoint(parts.checkpoint);
        for (const auto& [name, tensor] : a.model)
            EXPECT_TRUE(torch::equal(tensor, b.model.at(name))) << name;
        EXPECT_TRUE(torch::equal(a.first_moment, b.first_moment));
        EXPECT_TRUE(torch::equal(a.second_moment, b.second_moment));
    }
}

/// Interrupts a run during the evaluation `what` at a step.
TrainHooks stopped_in(const std::string& what, int64_t step, bool& stop) {
    stop = false;
    TrainHooks hooks;
    hooks.evaluating = [=, &stop](const Evaluation& e) { stop = stop || (e.what == what && e.step == step); };
    hooks.interrupted = [&stop] { return stop; };
    return hooks;
}

// The row of the log that was not completed is made on resuming, with the gradients that are gone by then.
TEST(Trainer, AnInterruptedEvaluationIsRepeated) {
    const spectra::testing::TemporaryFolder folder;
    const auto data = little("stability", 24);
    auto options = small_run("gpt");
    const auto expected = train(data, options);
    options.checkpoint = folder.path() / "run.ckpt";
    bool stop = false;
    const auto stopped = train(data, options, stopped_in("diagnostics", 8, stop));
    EXPECT_EQ(stopped.steps, 8);
    EXPECT_TRUE(std::isnan(stopped.final_val_loss));
    EXPECT_TRUE(stopped.measures.empty());
    EXPECT_EQ(stopped.log.rows.size(), 2U);  // steps 0 and 4
    options.resume = true;
    const auto again = train(data, options, stopped_in("diagnostics", 8, stop));
    EXPECT_EQ(again.steps, 8);
    const auto resumed = train(data, options);
    EXPECT_EQ(resumed.final_val_loss, expected.final_val_loss);
    EXPECT_EQ(resumed.measures, expected.measures);
    expect_same(resumed.log, expected.log);
}

TEST(Trainer, InterruptedBeforeTheFirstStepItWritesNothing) {
    const spectra::testing::TemporaryFolder folder;
    auto options = small_run("gpt");
    options.checkpoint = folder.path() / "run.ckpt";
    bool stop = false;
    const auto result = train(little("stability", 8), options, stopped_in("validation", 0, stop));
    EXPECT_TRUE(result.log.rows.empty());
    EXPECT_EQ(folder.entries(), 0U);
}

// With --batch 1, an evaluation in batches of one would take minutes.
TEST(Trainer, EvaluatesInBatchesOfItsOwn) {
    auto options = small_run("gpt");
    options.batch = 1;
    std::map<std::string, int> parts;
    TrainHooks hooks;
    hooks.evaluating = [&](const Evaluation& e) {
        if (e.step == 0) ++parts[std::string(e.what)];
        EXPECT_TRUE(e.what != "validation" || e.total == 16) << e.total;
    };
    const auto result = train(little("stability", 8), options, hooks);
    EXPECT_EQ(parts["validation"], 1);
    EXPECT_EQ(parts["diagnostics"], 4);  // sublayers
    EXPECT_GT(result.evaluation_seconds, 0);
    EXPECT_LT(result.evaluation_seconds, result.seconds);

    EXPECT_EQ(evaluation_batch(255, 1'800'000, torch::kCPU), 16);
    EXPECT_EQ(evaluation_batch(255, 100'000'000, torch::kCPU), 1);
    EXPECT_GE(evaluation_batch(255, 1'800'000, torch::kCUDA), 64);
}

// A step takes 25 s by this clock: after 60 s there is a checkpoint, without any row of the log.
TEST(Trainer, SavesAfterAMinuteWhateverTheLog) {
    const spectra::testing::TemporaryFolder folder;
    const auto data = little("stability", 24);
    auto options = small_run("gpt");
    options.log_every = 100;
    const auto expected = train(data, options);
    options.checkpoint = folder.path() / "run.ckpt";
    double seconds = 0;
    std::vector<int64_t> saved;  // the step of the checkpoint, seen at the end of each step
    TrainHooks hooks;
    hooks.clock = [&] { return seconds; };
    hooks.progress = [&](const Progress& p) {
        seconds = 25.0 * static_cast<double>(p.step);
        saved.push_back(std::filesystem::exists(options.checkpoint) ? load_checkpoint(options.checkpoint).step : 0);
        if (p.step == 8) throw std::runtime_error("killed");
    };
    EXPECT_THROW(train(data, options, hooks), std::runtime_error);
    EXPECT_EQ(saved, (std::vector<int64_t>{0, 0, 0, 3, 3, 3, 6, 6}));
    options.resume = true;
    const auto resumed = train(data, options);
    EXPECT_EQ(resumed.final_val_loss, expected.final_val_loss);
    expect_same(resumed.log, expected.log);
}

// An evaluation that takes minutes does not postpone the checkpoint.
TEST(Trainer, SavesDuringALongEvaluation) {
    const spectra::testing::TemporaryFolder folder;
    auto options = small_run("gpt");
    options.checkpoint = folder.path() / "run.ckpt";
    double seconds = 0;
    TrainHooks hooks;
    hooks.clock = [&] { return seconds; };
    hooks.evaluating = [&](const Evaluation& e) {
        if (e.step != 4) return;
        seconds += 100;
        if (e.what == "diagnostics" && e.done == 1) throw std::runtime_error("killed");
    };
    EXPECT_THROW(train(little("stability", 24), options, hooks), std::runtime_error);
    EXPECT_EQ(load_checkpoint(options.checkpoint).step, 4);
}

TEST(Trainer, AnotherRunsCheckpointIsRefused) {
    const spectra::testing::TemporaryFolder folder;
    const auto data = little("stability", 8);
    auto options = small_run("gpt");
    options.checkpoint = folder.path() / "run.ckpt";
    options.stop_after = 2;
    train(data, options);
    options.resume = true;
    options.description = "another";
    EXPECT_THROW(train(data, options), std::invalid_argument);
}

TEST(Trainer, SeedsDifferAndRepeat) {
    const auto data = little("stability", 24);
    auto options = small_run("gpt");
    const auto first = train(data, options), again = train(data, options);
    EXPECT_EQ(first.final_val_loss, again.final_val_loss);
    options.seed = 43;
    EXPECT_NE(train(data, options).final_val_loss, first.final_val_loss);
}

// Two batches of 4 averaged are one step, and not the step of either.
TEST(Trainer, AccumulatesGradients) {
    const auto data = little("stability", 24);
    auto options = small_run("gpt");
    const auto plain = train(data, options);
    options.accumulate = 2;
    const auto accumulated = train(data, options);
    EXPECT_NE(plain.final_val_loss, accumulated.final_val_loss);
    EXPECT_TRUE(std::isfinite(accumulated.final_val_loss));
}

TEST(Trainer, DivergenceNamesStepLayerAndTensor) {
    const auto data = little("stability", 24);
    auto options = small_run("gpt");
    options.schedule.peak = 1e18;
    options.schedule.warm_up = 0;
    options.clip = 0;
    try {
        train(data, options);
        FAIL() << "no divergence";
    } catch (const Diverged& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("step "), std::string::npos) << message;
        EXPECT_TRUE(message.find("block ") != std::string::npos ||
                    message.find("weight") != std::string::npos)
            << message;
    }
}

TEST(Trainer, LogsMixersGatesAndStates) {
    const auto data = little("stability", 24);
    const auto result = train(data, small_run("edelta"));
    ASSERT_EQ(result.log.rows.size(), 4U);  // steps 0, 4, 8, 12
    const auto named = [&](const std::string& name) {
        for (const auto& d : result.log.diagnostics.back())
            if (d.name == name) return d.values;
        ADD_FAILURE() << name;
        return std::vector<double>{};
    };
    for (const auto* name :
         {"row_sum_defect", "column_sum_defect", "orthogonality_defect", "spectral_norm", "identity_distance",
          "row_maximum_median", "diagonal_share", "composite_row_sum", "gate", "beta", "beta_variance",
          "beta_negative", "stream_cosine_mixed", "stream_cosine", "effective_rank"})
        EXPECT_EQ(named(name).size(), 4U) << name;  // two blocks of two sublayers
    EXPECT_EQ(named("gradient_norm").size(), 2U);
    EXPECT_EQ(named("sequence_rank").size(), 3U);  // before the first block as well
    EXPECT_EQ(named("position_norm").size(), 127U);
    const std::map<std::string, double> measures(result.measures.begin(), result.measures.end());
    EXPECT_EQ(measures.at("rank_preservation"),
              named("sequence_rank").back() / named("sequence_rank").front());
    for (const double gate : named("gate")) {
        EXPECT_GT(gate, 0);
        EXPECT_LT(gate, 1);
    }
    for (const double norm : named("spectral_norm")) EXPECT_LE(norm, 1 + 1e-5);  // a mean of isometries
}

// The trajectories of the reflection task, from the first row on.
TEST(Trainer, ReflectionLogsWhatItLearns) {
    const auto data = little("reflection", 20);
    const auto result = train(data, small_run("edelta"));
    ASSERT_EQ(result.log.diagnostics.size(), 4U);
    for (const auto& along : result.log.diagnostics) {
        ASSERT_EQ(along.size(), 3U);
        for (const auto& d : along) EXPECT_EQ(d.values.size(), 1U) << d.name;
    }
    for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(result.log.diagnostics.back()[k].name, result.measures[k].first);
        EXPECT_EQ(result.log.diagnostics.back()[k].values.front(), result.measures[k].second);
    }
    EXPECT_NEAR(result.log.diagnostics.front()[1].values.front(), 0.5, 1e-6);  // the gate, at its start
}

// A checkpoint of a version without some diagnostics: its rows have NaN there.
TEST(Trainer, RowsOfOlderCheckpointsAreKept) {
    const spectra::testing::TemporaryFolder folder;
    const auto data = little("copy", 24);
    auto options = small_run("gpt");
    options.checkpoint = folder.path() / "run.ckpt";
    options.stop_after = 4;
    train(data, options);
    auto old = load_checkpoint(options.checkpoint);
    const auto columns = nlohmann::json::parse(old.log_columns);
    ASSERT_EQ(columns[5][0], "effective_rank");
    old.log =
        old.log.narrow(1, 0, 5 + columns[5][1].get<int64_t>()).contiguous();  // the first diagnostic alone
    old.log_columns = nlohmann::json(std::vector(columns.begin(), columns.begin() + 6)).dump();
    save_checkpoint(options.checkpoint, old);
    options.stop_after = 0;
    options.resume = true;
    const auto result = train(data, options);
    ASSERT_EQ(result.log.diagnostics.size(), 4U);
    const auto whole = train(data, small_run("gpt"));
    EXPECT_EQ(result.final_val_loss, whole.final_val_loss);
    for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t k = 0; k < whole.log.diagnostics[row].size(); ++k) {
            const auto& found = result.log.diagnostics[row][k];
            EXPECT_EQ(found.name, whole.log.diagnostics[row][k].name);
            if (row >= 2 || found.name == "effective_rank")
                expect_same(found.values, whole.log.diagnostics[row][k].values);
            else
                EXPECT_TRUE(std::isnan(found.values.front())) << found.name;
        }
}

TEST(Trainer, TokensAndTextTrain) {
    const spectra::testing::TemporaryFolder folder;
    auto options = small_run("mhc-lite");
    const auto copied = train(little("copy", 32), options);
    EXPECT_NEAR(copied.log.rows.front()[2], std::log(33.0), 0.1);  // before training every token is as likely
    EXPECT_TRUE(std::isfinite(copied.final_val_loss));
}

// What the papers' operators must learn in seconds: y = −x from 500 samples.
TEST(Trainer, ReflectionIsLearnedByWhatCanReflect) {
    tasks::TaskOptions task;
    task.samples = 500;
    const auto data = tasks::make_dataset("reflection", task);
    const auto trained = [&](const std::string& architecture) {
        TrainOptions o;
        o.model = matched_config(architecture);
        o.batch = 32;
        o.clip = 0;
        o.gate_weight = 0.5;
        o.model.mixer_options.gate_bias = -1.5;
        o.log_every = 2000;
        o.schedule.shape = Schedule::Shape::constant;
        o.schedule.warm_up = 0;
        o.optimiser.weight_decay = 0.01;
        o.optimiser.decay_vectors = true;
        o.optimiser.beta2 = 0.999;
        const auto result = train(data, o);
        return std::map<std::string, double>(result.measures.begin(), result.measures.end());
    };
    const auto ddl = trained("ddl");
    EXPECT_NEAR(ddl.at("beta"), 2.0, 0.02);
    EXPECT_GT(ddl.at("cosine"), 0.9);
    const auto hybrid = trained("edelta");
    EXPECT_LT(hybrid.at("gate"), 0.1);
    EXPECT_GT(hybrid.at("cosine"), 0.9);
    const auto cayley = trained("jpmhc");
    EXPECT_LT(cayley.at("cosine"), 0.0);
}

// A small model beats the copy predictor.
TEST(Trainer, GyroscopeIsLearnedBetterThanCopying) {
    tasks::TaskOptions task;
    task.samples = 1000;
    auto data = tasks::make_dataset("gyroscope", task);
    data.validation.count = 50;
    data.validation.x.resize(static_cast<std::size_t>(50 * data.steps * data.dimension));
    data.validation.y.resize(data.validation.x.size());
    TrainOptions o;
    o.model = matched_config("jpmhc");
    o.model.layers = 2;
    o.model.channels = 64;
    o.steps = 200;
    o.schedule.horizon = 200;
    o.schedule.peak = 3e-3;
    o.schedule.floor = 3e-4;
    o.batch = 8;
    o.log_every = 200;
    const auto result = train(data, o);
    const auto trivial = tasks::baselines(data);
    EXPECT_LT(result.final_val_loss, *trivial.copy);
}

void expect_replayed_equals_launched(const tasks::Dataset& data, TrainOptions options) {
    options.steps = options.schedule.horizon = 40;
    options.log_every = 20;
    options.device = torch::kCUDA;
    options.record = false;
    const auto launched = train(data, options);
    EXPECT_EQ(launched.replayed_steps, 0);
    options.record = true;
    const auto replayed = train(data, options);
    EXPECT_GE(replayed.replayed_steps, 30);
    ASSERT_EQ(replayed.log.rows.size(), 3U);
    for (std::size_t row = 0; row < 3; ++row)
        for (const std::size_t column : {1, 2})  // the two losses
            EXPECT_NEAR(replayed.log.rows[row][column], launched.log.rows[row][column],
                        1e-4 * launched.log.rows[row][column])
                << row;
}

// Every model and every mixer, with evaluations in between, which use other memory.
TEST(TrainerOnCuda, ReplayedStepsAreThoseLaunched) {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "Torch finds no GPU";
    const auto numbers = little("stability", 24), tokens = little("copy", 24);
    for (const auto& architecture : architecture_names()) {
        SCOPED_TRACE(architecture);
        if (architecture == "trm") continue;
        expect_replayed_equals_launched(numbers, small_run(architecture));
    }
    expect_replayed_equals_launched(tokens, small_run("gpt"));
    for (const auto& mixer : mixer_names())
        for (const bool static_mappings : {false, true}) {
            SCOPED_TRACE(mixer);
            auto options = small_run("mixer");
            options.model.mixer = mixer;
            options.model.static_mappings = static_mappings;
            expect_replayed_equals_launched(numbers, options);
        }
    auto less_memory = small_run("jpmhc");
    less_memory.model.checkpoint_blocks = true;
    expect_replayed_equals_launched(numbers, less_memory);
}

// At the widths for which norms and attention have kernels of their own, among parameters that lie at any address.
TEST(TrainerOnCuda, ModelsOfTheirPublishedWidthTrainAsOnTheHost) {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "Torch finds no GPU";
    const auto data = little("stability", 24);
    for (const auto& architecture : architecture_names()) {
        SCOPED_TRACE(architecture);
        if (architecture == "trm") continue;
        auto options = small_run(architecture);
        options.model.channels = matched_config(architecture).channels;
        options.steps = options.schedule.horizon = 4;
        const auto host = train(data, options);
        options.device = torch::kCUDA;
        const auto device = train(data, options);
        ASSERT_EQ(device.log.rows.size(), host.log.rows.size());
        for (std::size_t row = 0; row < host.log.rows.size(); ++row)
            for (const std::size_t column : {1, 2})  // the two losses
                EXPECT_NEAR(device.log.rows[row][column], host.log.rows[row][column],
                            1e-3 * host.log.rows[row][column])
                    << row;
    }
}

// It carries its states from step to step.
TEST(TrainerOnCuda, ReplayedStepsOfTheRecursiveModelAreThoseLaunched) {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "Torch finds no GPU";
    for (const std::string mixer : {"cayley", "bistochastic", "grassmann", "permutation"}) {
        SCOPED_TRACE(mixer);
        auto recursive = small_run("trm");
        recursive.model.mixer = mixer;
        recursive.model.supervision_steps = 3;
        expect_replayed_equals_launched(little("grid", 24), recursive);
    }
}

}  // namespace
}  // namespace spectra::train
