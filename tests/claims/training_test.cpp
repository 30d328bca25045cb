#include "claims/training.hpp"

#include "claims/edelta_trained.hpp"
#include "claims/registry.hpp"
#include "claims/seeds.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace spectra::claims {
namespace {

/// A result of every seed of a series, whose losses are `loss` times 0.9, 1 and 1.1.
void add(std::vector<TrainingResult>& out, const std::string& series, double loss,
         const std::map<std::string, double>& values = {}) {
    double factor = 0.9;
    for (const int seed : training_seeds) {
        TrainingResult result{fmt::format("{}-{}", series, seed), "a test", "0.1.0 (abc)", values, {}};
        result.values["final_val_loss"] = factor * loss;
        out.push_back(result);
        factor += 0.1;
    }
}

TEST(Trainings, HaveDifferentNamesAndServeAClaim) {
    std::set<std::string> names, used;
    for (const auto& claim : trained_claims()) used.insert(claim.series.begin(), claim.series.end());
    for (const auto& series : training_series()) {
        EXPECT_TRUE(used.contains(series.name)) << series.name << " serves no claim";
        for (const auto& training : series.trainings()) {
            EXPECT_TRUE(names.insert(training.name).second) << training.name;
            EXPECT_EQ(training.fields.back().first, "seed");
        }
        used.erase(series.name);
    }
    EXPECT_TRUE(used.empty()) << *used.begin() << " is not trained by anything";
}

TEST(Trainings, StoredResultsAreOfKnownTrainings) {
    std::map<std::string, double> steps;
    for (const auto& series : training_series())
        for (const auto& training : series.trainings()) {
            steps[training.name] = 2000;
            for (const auto& [field, value] : training.fields)
                if (field == "steps") steps[training.name] = std::stod(value);
        }
    for (const auto& result : stored_trainings().all()) {
        ASSERT_TRUE(steps.contains(result.name)) << result.name;
        EXPECT_TRUE(known_version(result.version, "0.1.0")) << result.name << ": " << result.version;
        EXPECT_FALSE(result.machine.empty());
        if (result.diverged()) continue;
        EXPECT_EQ(result.at("steps"), steps.at(result.name)) << result.name;
    }
}

TEST(Trainings, ResultsAreWrittenAndReadBack) {
    TrainingResult result{
        "a-42", "a machine", "0.1.0 (abc)", {{"final_val_loss", 1.25e-6}}, {{"val_loss", {1, 0.5}}}};
    result.columns["gradient_norm"] = {std::numeric_limits<double>::quiet_NaN(), 2};
    const auto back = training_from_json(to_json(result), "a.json");
    EXPECT_EQ(back.name, "a-42");
    EXPECT_EQ(back.at("final_val_loss"), 1.25e-6);
    EXPECT_EQ(back.column("val_loss"), (std::vector<double>{1, 0.5}));
    EXPECT_TRUE(std::isnan(back.column("gradient_norm")[0]));
    EXPECT_THROW(back.at("loss"), std::out_of_range);
    EXPECT_THROW(training_from_json("{}", "a.json"), std::invalid_argument);
}

TEST(Trainings, ASeriesCountsWhenEverySeedIsThere) {
    std::vector<TrainingResult> some;
    add(some, "stability-gpt", 1);
    EXPECT_EQ(TrainingResults(some).of("stability-gpt").size(), 3U);
    some.pop_back();
    EXPECT_TRUE(TrainingResults(some).of("stability-gpt").empty());
    EXPECT_THROW(edelta::norm_preservation(TrainingResults(some)), std::out_of_range);
}

TEST(TrainedClaims, MeansAndSpreadsAreOverSeeds) {
    std::vector<TrainingResult> all;
    add(all, "stability-mhc", 8e-3);
    add(all, "stability-bistochastic-stack", 1e-5);
    add(all, "stability-gpt", 1.6e-5);
    auto outcome = edelta::mhc_on_stability(TrainingResults(all));
    EXPECT_EQ(outcome.verdict, Verdict::refuted)
        << "the mixer is not the cause: without tiling the loss is that of GPT";
    EXPECT_NEAR(outcome.numbers[0].value, 8e-3, 1e-12);
    EXPECT_NEAR(*outcome.numbers[0].spread, 8e-4, 1e-12);
    for (auto& result : all)
        if (result.name.starts_with("stability-bistochastic")) result.values["final_val_loss"] = 5e-3;
    EXPECT_EQ(edelta::mhc_on_stability(TrainingResults(all)).verdict, Verdict::holds);
}

TEST(TrainedClaims, RatiosDecideWhichModelIsBetter) {
    std::vector<TrainingResult> all;
    add(all, "stability-gpt", 4);
    add(all, "stability-jpmhc", 2);
    add(all, "stability-edelta-published", 1);
    add(all, "stability-edelta", 20);
    EXPECT_EQ(edelta::hybrid_on_stability(TrainingResults(all)).verdict, Verdict::holds_in_part);
    EXPECT_NEAR(edelta::hybrid_on_stability(TrainingResults(all)).numbers[1].value, 4, 1e-12);
    for (auto& result : all)
        if (result.name.starts_with("stability-edelta-") &&
            result.name.find("published") == std::string::npos)
            result.values["final_val_loss"] = 0.5;
    EXPECT_EQ(edelta::hybrid_on_stability(TrainingResults(all)).verdict, Verdict::holds);
}

TEST(TrainedClaims, RoughnessIsThatOfTheSecondHalf) {
    std::vector<TrainingResult> all;
    for (const std::string task : {"gyroscope", "stability"})
        for (const char* const name : {"-edelta-published", "-ddl-published", "-gpt"})
            add(all, task + name, 1);
    for (auto& result : all) {
        const double zigzag = result.name.find("-ddl") != std::string::npos ? 0.1 : 0.01;
        for (int k = 0; k < 20; ++k)
            result.columns["val_loss"].push_back(std::exp(-0.3 * k + (k % 2 == 0 ? zigzag : -zigzag)));
    }
    const auto outcome = edelta::smoothness(TrainingResults(all));
    EXPECT_EQ(outcome.verdict, Verdict::holds);
    EXPECT_NEAR(outcome.numbers[0].value, 0.04, 1e-9)
        << "second differences of ± z are ± 4z; the slope drops out";
    EXPECT_NEAR(outcome.numbers[1].value, 0.4, 1e-9);
}

TEST(TrainedClaims, ReflectionIsJudgedByEveryNumber) {
    std::vector<TrainingResult> all;
    add(all, "reflection-ddl-500", 1, {{"beta", 1.99}, {"cosine", 0.955}});
    add(all, "reflection-edelta-500", 1, {{"gate", 0.06}, {"cosine", 0.965}});
    add(all, "reflection-jpmhc-500", 1, {{"cosine", -0.01}});
    const auto verdict = [&] { return edelta::reflection_parameters(TrainingResults(all)).verdict; };
    const auto set = [&](const char* name, double value) {
        for (auto& result : all)
            if (result.values.contains(name)) result.values[name] = value;
    };
    EXPECT_EQ(verdict(), Verdict::holds);
    set("gate", 0.08);
    EXPECT_EQ(verdict(), Verdict::holds_in_part);
    set("beta", 1.9);
    set("cosine", 0.5);
    EXPECT_EQ(verdict(), Verdict::refuted);
}

TEST(TrainedClaims, ReflectionNeedsMonotoneBetaAndNegativeCosines) {
    std::vector<TrainingResult> all;
    double beta = 1.5;
    for (const char* const size : {"-10", "-25", "-50", "-100", "-200", "-500"}) {
        add(all, std::string("reflection-ddl") + size, 1, {{"beta", beta += 0.05}});
        add(all, std::string("reflection-jpmhc") + size, 1, {{"cosine", -0.2}});
    }
    const auto verdict = [&] { return edelta::reflection_by_samples(TrainingResults(all)).verdict; };
    EXPECT_EQ(verdict(), Verdict::holds);
    all.back().values["cosine"] = 0.01;
    EXPECT_EQ(verdict(), Verdict::holds_in_part) << "one of 18 trainings is positive";
    for (auto& result : all)
        if (result.name.starts_with("reflection-ddl-25-")) result.values["beta"] = 1.55;
    EXPECT_EQ(verdict(), Verdict::refuted) << "β at 25 samples is that at 10";
    all.back().values["cosine"] = -0.01;
    EXPECT_EQ(verdict(), Verdict::holds_in_part);
}

TEST(TrainedClaims, ParametersConvergeBeforeOrAfterTheCosine) {
    std::vector<TrainingResult> all;
    add(all, "reflection-ddl-500", 1);
    add(all, "reflection-edelta-500", 1);
    const auto set = [&](const std::string& column, const std::vector<double>& values) {
        for (auto& result : all) result.columns[column] = values;
    };
    const auto verdict = [&] { return edelta::parameters_before_alignment(TrainingResults(all)).verdict; };
    set("step", {0, 20, 40, 60, 80});
    set("beta", {1, 1.95, 2, 2, 2});
    set("gate", {0.2, 0.06, 0.05, 0.05, 0.05});
    set("cosine", {-1, -0.9, 0.2, 0.85, 0.95});
    EXPECT_EQ(verdict(), Verdict::holds) << "converged at 20; half of the cosine's way at 40";
    set("gate", {0.2, 0.06, 0.1, 0.05, 0.05});
    EXPECT_EQ(verdict(), Verdict::holds_in_part)
        << "γ leaves again: converged at 60, where nine tenths are made";
    const auto outcome = edelta::parameters_before_alignment(TrainingResults(all));
    EXPECT_EQ(outcome.numbers[0].value, 20);
    EXPECT_EQ(outcome.numbers[1].value, 40);
    EXPECT_EQ(outcome.numbers[2].value, 60);
    EXPECT_EQ(outcome.numbers[3].value, 60);
    set("beta", {1, 1.2, 1.5, 1.8, 2});
    EXPECT_EQ(verdict(), Verdict::refuted) << "converged at the last row";
}

TEST(Seeds, MeansDifferClearlyByTwoStandardErrors) {
    const auto a = over_seeds({1, 2, 3});  // mean 2, standard error 1/√3
    EXPECT_EQ(a.mean, 2);
    EXPECT_EQ(a.spread, 1);
    const double limit = 2 * std::sqrt(2.0 / 3);
    EXPECT_FALSE(clearly_below(a, over_seeds({1 + 0.99 * limit, 2 + 0.99 * limit, 3 + 0.99 * limit})));
    EXPECT_TRUE(clearly_below(a, over_seeds({1 + 1.01 * limit, 2 + 1.01 * limit, 3 + 1.01 * limit})));
    std::vector<TrainingResult> all;
    add(all, "x", 1);
    all[1].values = {{"diverged_at", 7}};
    EXPECT_TRUE(clearly_below(a, loss(TrainingResults(all), "x")))
        << "a training that diverged has no finite loss";
    EXPECT_EQ(diverged(TrainingResults(all), {"x"}), 1);
}

TEST(Trainings, TextIsThatOneAlone) {
    EXPECT_FALSE(is_training_text(""));
    EXPECT_FALSE(is_training_text(std::string(1115394, 'x')));
}

TEST(Trainings, NoneIsEstimatedAtMuchMoreThanThreeMinutes) {
    for (const auto& series : training_series()) {
        EXPECT_GT(series.seconds, 0) << series.name;
        EXPECT_LE(series.seconds, 210) << series.name;
    }
}

}  // namespace
}  // namespace spectra::claims
