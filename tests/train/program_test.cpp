#include "options.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "h5/file.hpp"
#include "support/needs_program.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"
#include "train/models/transformer.hpp"

/// The command train as users type it.
namespace spectra {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

study::TrainRequest parsed(const std::string& words) {
    CLI::App app;
    study::TrainRequest request;
    cli::add_options(app, request);
    app.parse(words);
    return request;
}

// The command line is read without Torch, so its lists are its own.
TEST(TrainRequest, AcceptsEveryArchitectureAndMixer) {
    for (const auto& name : train::architecture_names())
        EXPECT_EQ(parsed("gyroscope --architecture " + name).architecture, name);
    for (const auto& name : train::mixer_names()) EXPECT_EQ(parsed("gyroscope --mixer " + name).mixer, name);
    EXPECT_THROW(parsed("gyroscope --architecture resnet"), std::invalid_argument);
}

TEST(TrainRequest, RefusesContradictions) {
    for (const auto* words : {"gyroscope --architecture gpt --mixer cayley",
                              "reflection",
                              "text",
                              "reflection --architecture gpt",
                              "reflection --architecture ddl --layers 3",
                              "gyroscope --text book.txt",
                              "gyroscope --stop-after 30 --steps 20",
                              "somersault",
                              "gyroscope --architecture shc --norm post",
                              "gyroscope --architecture mgt --value-injection",
                              "gyroscope --architecture mgt-mhc --beta-scale 2",
                              "gyroscope --architecture gpt --gate-regulariser sine",
                              "gyroscope --mixer cayley --sinkhorn-clamp 10",
                              "gyroscope --architecture shc --temperature 2",
                              "gyroscope --mixer bistochastic --permutations 6",
                              "gyroscope --mixer permutation --permutation-basis optimal",
                              "reflection --architecture ddl --value-injection",
                              "copy --architecture trm",
                              "grid --grids puzzles",
                              "arc",
                              "grid --architecture trm --accumulate 2",
                              "copy --difficulty 2",
                              "grid --architecture recursive --supervision-steps 2",
                              "grid --puzzle-lr 1e-3"})
        EXPECT_THROW(check_conflicts(parsed(words)), std::invalid_argument) << words;
    check_conflicts(parsed("gyroscope --architecture recursive --mixer cayley"));
    check_conflicts(parsed(
        "grid --architecture trm --mixer grassmann --difficulty 5 --supervision-steps 8 --puzzle-lr 1e-3"));
    check_conflicts(parsed("arc --architecture trm --grids puzzles --answer-cycles 2 --halt-exploration 0"));
    check_conflicts(parsed("text --text book.txt"));
    check_conflicts(parsed("copy --architecture mgt-ddl --norm pre --beta-scale 2 --beta-offset 0"));
    check_conflicts(parsed("gyroscope --architecture ddl --value-injection"));
    check_conflicts(parsed("reflection --architecture edelta --gate-regulariser entropy"));
    check_conflicts(parsed(
        "gyroscope --architecture recursive --mixer permutation --permutations 4 --permutation-basis optimal"));
    check_conflicts(parsed("gyroscope --mixer bistochastic --sinkhorn-clamp 10 --temperature 0.5"));
    EXPECT_THROW(parsed("gyroscope --architecture mhc --temperature 0"), std::invalid_argument);
}

class TrainProgram : public ::testing::Test {
protected:
    testing::ProcessResult run(const Words& words, testing::ProcessOptions options = {}) {
        Words all{SPECTRA_BINARY, "train"};
        all.insert(all.end(), words.begin(), words.end());
        options.folder = folder_.path();
        return testing::run_process(all, options);
    }
    testing::TemporaryFolder folder_;
    const Words small_{"near-pi-single",
                       "--architecture",
                       "jpmhc",
                       "--layers",
                       "1",
                       "--channels",
                       "16",
                       "--samples",
                       "16",
                       "--steps",
                       "6",
                       "--batch",
                       "4",
                       "--log-every",
                       "4",
                       "--threads",
                       "1",
                       "--json"};
    Words small(const Words& more) const {
        auto words = small_;
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
};

TEST_F(TrainProgram, WritesEverythingAndSaysSo) {
    SPECTRA_NEEDS_GNUPLOT();
    const auto result = run(small({"--out", "run"}));
    ASSERT_EQ(result.status, 0) << result.err;
    const auto object = json::parse(result.out);
    for (const auto* key :
         {"task", "architecture", "parameters", "core_parameters", "steps", "seed", "final_val_loss",
          "baselines", "seconds", "norm_deviation", "norm_deviation_rollout"})
        EXPECT_TRUE(object.contains(key)) << key;
    for (const auto* key : {"copy", "zero", "negation", "running_mean", "noise_floor"})
        EXPECT_TRUE(object["baselines"].contains(key)) << key;
    for (const auto* end : {".ckpt", ".h5", ".csv", ".png"})
        EXPECT_TRUE(std::filesystem::exists(folder_.path() / (std::string("run") + end))) << end;
}

TEST_F(TrainProgram, StoppedAndResumedEqualsOneRun) {
    const auto whole = run(small({"--out", "whole", "--plot", "none"}));
    ASSERT_EQ(whole.status, 0) << whole.err;
    ASSERT_EQ(run(small({"--out", "parts", "--plot", "none", "--stop-after", "3", "--resume"})).status, 0);
    const auto resumed = run(small({"--out", "parts", "--plot", "none", "--resume"}));
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(json::parse(whole.out)["final_val_loss"], json::parse(resumed.out)["final_val_loss"]);
    EXPECT_EQ(testing::content(folder_.path() / "whole.csv"), testing::content(folder_.path() / "parts.csv"));
}

TEST_F(TrainProgram, RefusesInOneLineBeforeAnythingIsWritten) {
    for (const auto& words :
         {Words{}, Words{"somersault"}, Words{"gyroscope", "--architecture", "resnet"},
          Words{"gyroscope", "--layers", "0"}, Words{"text", "--text", "missing.txt"},
          Words{"gyroscope", "--architecture", "jpmhc", "--channels", "18", "--samples", "4"}}) {
        const auto result = run(words);
        EXPECT_EQ(result.status, 2) << result.out << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        EXPECT_EQ(folder_.entries(), 0U) << result.err;
    }
}

TEST_F(TrainProgram, AnotherRunsCheckpointIsRefusedBySayingWhatDiffers) {
    ASSERT_EQ(run(small({"--out", "run", "--plot", "none", "--stop-after", "3"})).status, 0);
    const auto result = run(small({"--out", "run", "--plot", "none", "--resume", "--lr", "0.5"}));
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_NE(result.err.find("different run: lr 0.001 there, 0.5 here"), std::string::npos) << result.err;
}

TEST_F(TrainProgram, WritesTheModelAsItStarts) {
    const auto result = run({"near-pi-single", "--architecture", "mhc", "--layers", "1", "--channels", "16", "--samples",
                             "16", "--steps", "0", "--threads", "1", "--out", "run", "--json"});
    ASSERT_EQ(result.status, 0) << result.err;
    const auto object = json::parse(result.out);
    EXPECT_EQ(object["steps"], 0);
    EXPECT_TRUE(object["final_val_loss"].is_number());
    EXPECT_EQ(object["files"], (Words{"run.ckpt", "run.h5", "run.csv"}));
    EXPECT_EQ(folder_.entries(), 3U);
    const auto lines = testing::content(folder_.path() / "run.csv");
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2) << lines;  // names, and step 0

    testing::ProcessOptions options;
    options.folder = folder_.path();
    const auto validated = testing::run_process(
        {SPECTRA_BINARY, "validate", "run.ckpt", "--inputs", "1", "--plot", "none", "--threads", "1", "--json"}, options);
    EXPECT_LE(validated.status, 1) << validated.err;
    EXPECT_NE(validated.out.find("untrained, for near-pi-single"), std::string::npos) << validated.out;
}

// γ = sigmoid(b) before the first step.
TEST_F(TrainProgram, GatesOfTheReflectionTaskStartWhereTheyAreTold) {
    const auto gate = [&](const Words& more) {
        Words words{"reflection", "--architecture", "edelta", "--samples", "20", "--steps", "0", "--device", "cpu",
                    "--threads",  "1",              "--json", "--force"};
        words.insert(words.end(), more.begin(), more.end());
        const auto result = run(words);
        EXPECT_EQ(result.status, 0) << result.err;
        return json::parse(result.out)["gate"].get<double>();
    };
    EXPECT_NEAR(gate({}), 1 / (1 + std::exp(1.5)), 1e-6);
    EXPECT_NEAR(gate({"--gate-bias", "2"}), 1 / (1 + std::exp(-2.0)), 1e-6);
}

TEST_F(TrainProgram, QuietTrainingPrintsNothing) {
    const auto result = run({"reflection", "--architecture", "ddl", "--samples", "20", "--steps", "0", "--device", "cpu",
                             "--threads", "1", "--seeds", "1,2", "--quiet"});
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.out + result.err, "");
}

TEST_F(TrainProgram, UsesAsManyThreadsAsTheEnvironmentAllows) {
    testing::ProcessOptions options;
    options.environment = {{"OMP_NUM_THREADS", "3"}};
    Words words{"near-pi-single", "--architecture", "gpt",  "--layers", "1",     "--channels",           "16", "--samples",
                "4",              "--steps",        "0",    "--device", "cpu",   "--validation-samples", "2",  "--json",
                "--out",          "run"};
    const auto environment = run(words, options);
    ASSERT_EQ(environment.status, 0) << environment.err;
    EXPECT_EQ(json::parse(environment.out)["device"], "cpu, 3 threads");
    words.insert(words.end(), {"--threads", "1"});
    EXPECT_EQ(json::parse(run(words, options).out)["device"], "cpu, 1 thread");
}

TEST_F(TrainProgram, ValidatesOnAsManySequencesAsAskedFor) {
    const Words few{"--out", "run", "--plot", "none", "--validation-samples", "5", "--stop-after", "3"};
    const auto first = run(small(few));
    ASSERT_EQ(first.status, 0) << first.err;
    const auto object = json::parse(first.out);
    EXPECT_GT(object["evaluation_seconds"], 0);
    EXPECT_LT(object["evaluation_seconds"], object["seconds"]);
    const auto rate = h5::File::open_read(folder_.path() / "run.h5").double_attribute("training", "steps_per_second");
    ASSERT_TRUE(rate.has_value());
    EXPECT_DOUBLE_EQ(*rate, object["steps_per_second"].get<double>());
    const auto all = run(small({"--out", "run", "--plot", "none", "--resume"}));
    EXPECT_EQ(all.status, 2) << all.err;
    EXPECT_NE(all.err.find("different run: validation_samples 5 there, not given here"), std::string::npos) << all.err;
    EXPECT_EQ(run(small({"--out", "run", "--plot", "none", "--validation-samples", "5", "--resume"})).status, 0);

    const auto many = run(small({"--out", "many", "--validation-samples", "501"}));
    EXPECT_EQ(many.status, 2) << many.err;
    EXPECT_NE(many.err.find("--validation-samples 501; must be 1 to 500"), std::string::npos) << many.err;
}

TEST_F(TrainProgram, ATruncatedCheckpointIsRefusedAndKept) {
    ASSERT_EQ(run(small({"--out", "run", "--plot", "none", "--stop-after", "3"})).status, 0);
    const auto path = folder_.path() / "run.ckpt";
    const auto half = testing::content(path).substr(0, 2000);
    folder_.write("run.ckpt", half);
    const auto result = run(small({"--out", "run", "--plot", "none", "--resume"}));
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_NE(result.err.find("run.ckpt"), std::string::npos) << result.err;
    EXPECT_EQ(testing::content(path), half);
}

}  // namespace
}  // namespace spectra
