#include "tasks/baselines.hpp"

#include "support/temporary_folder.hpp"
#include "tasks/tasks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace spectra::tasks {
namespace {

/// On the training split where asked for: it is the larger one.
tasks::Baselines of(const std::string& task, bool on_training = false) {
    tasks::Dataset data = make_dataset(task, {});
    if (on_training) std::swap(data.train, data.validation);
    return baselines(data);
}

void expect_close(const std::optional<double>& value, double expected, double relative) {
    ASSERT_TRUE(value.has_value());
    EXPECT_NEAR(*value, expected, relative * expected);
}

TEST(Baselines, AreNumpysOnTheSameData) {
    const auto file = nlohmann::json::parse(std::ifstream(SPECTRA_DATA_DIR "/tasks/baselines.json"));
    ASSERT_EQ(file.at("entries").size(), 10U);
    for (const auto& entry : file.at("entries")) {
        SCOPED_TRACE(::testing::Message() << entry.at("task") << ", " << entry.at("split"));
        const tasks::Baselines found = of(entry.at("task"), entry.at("split") == "train");
        // A float in ten million may be rounded the other way.
        const double tolerance = 1e-8;
        expect_close(found.copy, entry.at("copy"), tolerance);
        expect_close(found.zero, entry.at("zero"), tolerance);
        expect_close(found.plain_negation, entry.at("plain_negation"), tolerance);
        if (entry.at("negated").empty())
            EXPECT_FALSE(found.negation.has_value());
        else
            expect_close(found.negation, entry.at("negation"), tolerance);
        if (entry.at("task") == "reflection")
            EXPECT_FALSE(found.running_mean.has_value());
        else
            expect_close(found.running_mean, entry.at("running_mean"), tolerance);
    }
}

// The published figures are expectations. The validation splits are small: copying gives 1.18e-2 on
// gyroscope's, and negating gives 9.2e-7 on that of near-pi-single.

TEST(Baselines, OfGyroscope) {
    const tasks::Baselines found = of("gyroscope", true);
    // Two coordinates of 16 turn: E (2 − 2 cos θ) · (2/16) / 16.
    const double mean_cos = (std::sin(2.5) - std::sin(0.1)) / 2.4;
    const double exact = (2 - 2 * mean_cos) / 128;
    EXPECT_NEAR(exact, 1.24e-2, 0.005e-2);
    expect_close(found.copy, exact, 0.02);
    expect_close(found.zero, 6.25e-2, 1e-6);
    expect_close(found.noise_floor, 4.55e-5, 0.001);
    expect_close(of("gyroscope").copy, 1.180e-2, 0.001);
    EXPECT_FALSE(found.uniform.has_value());
}

TEST(Baselines, OfStability) {
    const tasks::Baselines found = of("stability");
    expect_close(found.copy, 2.0e-6, 0.005);
    expect_close(found.running_mean, 1.04e-6, 0.005);
    double harmonic = 0;
    for (int t = 1; t <= 127; ++t) harmonic += 1.0 / t;
    expect_close(found.running_mean, (1 + harmonic / 127) * 1e-6, 0.005);
    expect_close(found.noise_floor, 1.0e-6, 1e-12);
}

TEST(Baselines, OfNearPiSingle) {
    const tasks::Baselines found = of("near-pi-single", true);
    // Two coordinates of 64 are left π − θ short.
    const double exact = (2 + 2 * std::cos(3.10)) * 2 / 64 / 64;
    EXPECT_NEAR(exact, 8.45e-7, 0.005e-7);
    expect_close(found.negation, exact, 0.05);
    expect_close(found.copy, *found.negation * std::pow(std::tan(1.55), 2), 1e-5);
    expect_close(of("near-pi-single").negation, 9.23e-7, 0.001);
    EXPECT_EQ(found.noise_floor, 0);
}

TEST(Baselines, OfNearPiMulti) {
    const tasks::Baselines found = of("near-pi-multi");
    expect_close(found.negation, 3.96e-8, 0.002);
    expect_close(found.negation, (2 + 2 * std::cos(3.14)) / 64, 1e-4);
    EXPECT_EQ(found.negation, found.plain_negation);
    expect_close(found.copy, 4.0 / 64, 1e-5);
}

TEST(Baselines, OfExactPi) {
    const tasks::Baselines found = of("exact-pi");
    EXPECT_EQ(found.negation, 0);
    EXPECT_EQ(found.plain_negation, 0);
    expect_close(found.copy, 4.0 / 64, 1e-6);
    EXPECT_EQ(found.noise_floor, 0);
}

TEST(Baselines, OfReflection) {
    const tasks::Baselines found = of("reflection");
    EXPECT_EQ(found.negation, 0);
    EXPECT_EQ(found.plain_negation, 0);
    expect_close(found.copy, 4 * *found.zero, 1e-12);
    expect_close(found.zero, 1, 5 * std::sqrt(2 / 32000.0));
}

TEST(Baselines, OfCopy) {
    const tasks::Baselines found = of("copy");
    expect_close(found.uniform, std::log(32), 1e-12);
    expect_close(found.unigram, std::log(32), 0.01);
    EXPECT_GT(*found.unigram, *found.uniform);
    EXPECT_EQ(found.noise_floor, 0);
    EXPECT_FALSE(found.copy.has_value());
}

TEST(Baselines, OfText) {
    const spectra::testing::TemporaryFolder folder;
    tasks::TaskOptions options;
    // 90 bytes a and b as 2 : 1 to learn from, then 10 of them equally often.
    std::string text;
    for (int k = 0; k < 30; ++k) text += "aab";
    options.text_file = folder.write("text.txt", text + "ababababab").string();
    options.context = 4;
    const tasks::Baselines found = baselines(make_dataset("text", options));
    expect_close(found.uniform, std::log(2), 1e-12);
    expect_close(found.unigram, -0.5 * (std::log(61.0 / 92) + std::log(31.0 / 92)), 1e-12);
    EXPECT_FALSE(found.noise_floor.has_value());
}

/// Small enough to do by hand: two sequences of two steps in two dimensions.
TEST(Baselines, ByHand) {
    tasks::Dataset data;
    data.steps = 2;
    data.dimension = 2;
    data.validation = {2, {1, 0, 3, 2, 0, 0, 0, 0}, {-1, 0, -3, 4, 0, 0, 0, 2}, {}, {}};
    const tasks::Baselines found = baselines(data);
    EXPECT_EQ(found.copy, (4 + 0 + 36 + 4 + 4) / 8.0);
    EXPECT_EQ(found.zero, (1 + 0 + 9 + 16 + 4) / 8.0);
    EXPECT_EQ(found.plain_negation, (36 + 4) / 8.0);
    EXPECT_EQ(found.negation, (4 + 4) / 8.0);
    EXPECT_EQ(found.running_mean, (4 + 0 + 25 + 9 + 4) / 8.0);  // means (1, 0), (2, 1)
    EXPECT_FALSE(found.noise_floor.has_value());
}

}  // namespace
}  // namespace spectra::tasks
