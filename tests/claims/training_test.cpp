#include "claims/training.hpp"

#include "claims/edelta_trained.hpp"
#include "claims/registry.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

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
    std::set<std::string> names;
    for (const auto& series : training_series())
        for (const auto& training : series.trainings()) names.insert(training.name);
    for (const auto& result : stored_trainings().all()) {
        EXPECT_TRUE(names.contains(result.name)) << result.name;
        EXPECT_EQ(result.at("steps"), 2000) << result.name;
        EXPECT_TRUE(known_version(result.version, "0.1.0")) << result.name << ": " << result.version;
        EXPECT_FALSE(result.machine.empty());
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

}  // namespace
}  // namespace spectra::claims
