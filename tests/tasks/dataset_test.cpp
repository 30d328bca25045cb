#include "tasks/tasks.hpp"
#include "support/expect_refused.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace spectra::tasks {
namespace {

using spectra::testing::expect_refused;

tasks::Dataset made(const std::string& task, std::optional<std::int64_t> samples = {}, std::uint64_t seed = 42) {
    tasks::TaskOptions options;
    options.seed = seed;
    options.samples = samples;
    return make_dataset(task, options);
}

/// Sequence tasks split states 0 … steps into x = 0 … steps − 1 and y = 1 … steps; reflection has x, then y.
void expect_state(const tasks::Dataset& data, const nlohmann::json& entry) {
    const tasks::Split& split = entry.at("split") == "train" ? data.train : data.validation;
    const auto sequence = entry.at("sequence").get<std::int64_t>();
    const auto state = entry.at("state").get<std::int64_t>();
    ASSERT_LT(sequence, split.count);
    ASSERT_EQ(entry.at("values").size(), static_cast<std::size_t>(data.dimension));
    const double tolerance = 1e-12;  // in the value before it is rounded: rounding is monotonic
    const auto compare = [&](const std::vector<float>& values, std::int64_t step) {
        for (std::int64_t k = 0; k < data.dimension; ++k) {
            const auto at = static_cast<std::size_t>((sequence * data.steps + step) * data.dimension + k);
            const auto expected = entry.at("values")[static_cast<std::size_t>(k)].get<double>();
            EXPECT_GE(values[at], static_cast<float>(expected - tolerance));
            EXPECT_LE(values[at], static_cast<float>(expected + tolerance));
        }
    };
    if (state < data.steps) compare(split.x, state);
    if (state > 0) compare(split.y, state - 1);
}

void expect_tokens(const tasks::Dataset& data, const nlohmann::json& entry) {
    const tasks::Split& split = entry.at("split") == "train" ? data.train : data.validation;
    const auto all = entry.at("tokens").get<std::vector<std::int64_t>>();
    ASSERT_EQ(all.size(), static_cast<std::size_t>(data.steps) + 1);
    const auto begin = entry.at("sequence").get<std::size_t>() * static_cast<std::size_t>(data.steps);
    for (std::size_t t = 0; t + 1 < all.size(); ++t) {
        EXPECT_EQ(split.tokens_x[begin + t], all[t]);
        EXPECT_EQ(split.tokens_y[begin + t], t < 32 ? tasks::not_scored : all[t + 1]);
    }
}

class Published : public ::testing::TestWithParam<const char*> {};

TEST_P(Published, ValuesAreNumpys) {
    const std::string task = GetParam();
    const auto file = nlohmann::json::parse(std::ifstream(SPECTRA_DATA_DIR "/tasks/first_values.json"));
    const tasks::Dataset data = made(task, {}, file.at("seed").get<std::uint64_t>());
    int compared = 0;
    for (const auto& entry : file.at("entries")) {
        if (entry.at("task") != task) continue;
        SCOPED_TRACE(::testing::Message() << entry.at("split") << " " << entry.at("sequence"));
        data.tokens ? expect_tokens(data, entry) : expect_state(data, entry);
        ++compared;
    }
    EXPECT_EQ(compared, data.tokens ? 4 : task == "reflection" ? 8 : 12);
}

TEST_P(Published, SamplesKeepTheValidation) {
    const std::string task = GetParam();
    const tasks::Dataset few = made(task, 3);
    const tasks::Dataset more = made(task, 5);
    EXPECT_EQ(few.train.count, 3);
    EXPECT_EQ(more.train.count, 5);
    EXPECT_EQ(few.validation.x, more.validation.x);
    EXPECT_EQ(few.validation.y, more.validation.y);
    EXPECT_EQ(few.validation.tokens_x, more.validation.tokens_x);
    EXPECT_TRUE(std::equal(few.train.x.begin(), few.train.x.end(), more.train.x.begin()));
    EXPECT_TRUE(
        std::equal(few.train.tokens_x.begin(), few.train.tokens_x.end(), more.train.tokens_x.begin()));
}

TEST_P(Published, SeedsGiveOtherDataAndValidationOtherThanTraining) {
    const std::string task = GetParam();
    const auto inputs = [](const tasks::Split& split, std::int64_t count) {
        std::vector<double> all(split.x.begin(), split.x.end());
        all.insert(all.end(), split.tokens_x.begin(), split.tokens_x.end());
        all.resize(all.size() / static_cast<std::size_t>(split.count) * static_cast<std::size_t>(count));
        return all;
    };
    const tasks::Dataset one = made(task, 2);
    const tasks::Dataset other = made(task, 2, 43);
    EXPECT_EQ(inputs(one.train, 2), inputs(made(task, 2).train, 2));
    EXPECT_NE(inputs(one.train, 2), inputs(other.train, 2));
    EXPECT_NE(inputs(one.validation, 2), inputs(other.validation, 2));
    EXPECT_NE(inputs(one.train, 2), inputs(one.validation, 2));
}

INSTANTIATE_TEST_SUITE_P(Tasks, Published,
                         ::testing::Values("gyroscope", "stability", "near-pi-single", "near-pi-multi",
                                           "reflection", "copy"),
                         [](const auto& task) {
                             std::string name = task.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(Dataset, HasThePublishedSizes) {
    struct Size {
        const char* task;
        std::int64_t train, validation, steps, dimension;
    };
    for (const Size& size : {Size{"gyroscope", 9000, 1000, 255, 16}, Size{"stability", 900, 100, 127, 64},
                             Size{"near-pi-single", 1000, 500, 127, 64},
                             Size{"near-pi-multi", 1000, 500, 127, 64}, Size{"exact-pi", 1000, 500, 127, 64},
                             Size{"reflection", 500, 500, 1, 64}, Size{"copy", 5000, 500, 64, 33}}) {
        SCOPED_TRACE(size.task);
        const tasks::Dataset data = made(size.task);
        EXPECT_EQ(data.task, size.task);
        EXPECT_EQ(data.steps, size.steps);
        EXPECT_EQ(data.dimension, size.dimension);
        EXPECT_EQ(data.train.count, size.train);
        EXPECT_EQ(data.validation.count, size.validation);
        for (const tasks::Split* split : {&data.train, &data.validation}) {
            const auto positions = static_cast<std::size_t>(split->count * data.steps);
            const auto reals = data.tokens ? 0 : positions * static_cast<std::size_t>(data.dimension);
            EXPECT_EQ(split->x.size(), reals);
            EXPECT_EQ(split->y.size(), reals);
            EXPECT_EQ(split->tokens_x.size(), data.tokens ? positions : 0);
            EXPECT_EQ(split->tokens_y.size(), data.tokens ? positions : 0);
        }
        EXPECT_TRUE(data.stream.empty());
    }
}

TEST(Dataset, RefusesWhatIsNoTask) {
    expect_refused([] { made("gyro"); }, {"'gyro'",
                                          "gyroscope, stability, near-pi-single, near-pi-multi, exact-pi, "
                                          "reflection, copy, text, grid, arc"});
    expect_refused([] { made(""); }, {"''", "gyroscope"});
    EXPECT_EQ(tasks::task_names().size(), 10U);
}

TEST(Dataset, RefusesOptionsOutOfRange) {
    expect_refused([] { made("copy", 0); }, {"samples 0", "1 to"});
    expect_refused([] { made("gyroscope", -3); }, {"samples -3"});
    expect_refused([] { made("gyroscope", std::int64_t{1} << 62); }, {"samples", "10000000"});
    expect_refused([] { made("copy", 1, 4294966296ULL); }, {"seed 4294966296", "0 to 4294966295"});
    EXPECT_NO_THROW(made("copy", 1, 4294966295ULL));
}

TEST(Dataset, ValidationSamplesKeepTheFirst) {
    for (const char* const task : {"stability", "copy"}) {
        SCOPED_TRACE(task);
        const auto all = made(task, 2);
        tasks::TaskOptions options;
        options.samples = 2;
        options.validation_samples = 3;
        const auto few = make_dataset(task, options);
        EXPECT_EQ(few.validation.count, 3);
        EXPECT_EQ(few.train.count, all.train.count);
        const auto expect_beginning = [](const auto& part, const auto& whole, std::int64_t size) {
            EXPECT_EQ(static_cast<std::int64_t>(part.size()), size);
            EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin()));
        };
        const auto numbers = few.tokens ? 0 : 3 * few.steps * few.dimension;
        expect_beginning(few.validation.x, all.validation.x, numbers);
        expect_beginning(few.validation.y, all.validation.y, numbers);
        expect_beginning(few.validation.tokens_x, all.validation.tokens_x, few.tokens ? 3 * few.steps : 0);
        expect_beginning(few.validation.tokens_y, all.validation.tokens_y, few.tokens ? 3 * few.steps : 0);
        options.validation_samples = all.validation.count + 1;
        expect_refused([&] { make_dataset(task, options); },
                       {"`validation_samples`", fmt::format("1 to {}", all.validation.count)});
    }
}

}  // namespace
}  // namespace spectra::tasks
