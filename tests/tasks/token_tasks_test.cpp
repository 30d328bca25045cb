#include "tasks/token_tasks.hpp"

#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>

namespace spectra::tasks {
namespace {

using spectra::testing::expect_refused;
using spectra::testing::TemporaryFolder;

TEST(Copy, ScoresTheSecondHalf) {
    const tasks::Dataset data = make_copy({});
    EXPECT_TRUE(data.tokens);
    std::array<int, 32> seen{};
    for (std::size_t k = 0; k < data.train.tokens_x.size(); k += 64) {
        const auto* x = data.train.tokens_x.data() + k;
        const auto* y = data.train.tokens_y.data() + k;
        ASSERT_EQ(x[32], 32);
        ASSERT_EQ(std::count(y, y + 64, tasks::not_scored), 32);
        for (std::size_t t = 0; t < 32; ++t) {
            ASSERT_TRUE(x[t] >= 0 && x[t] < 32);
            ++seen[static_cast<std::size_t>(x[t])];
            ASSERT_EQ(y[t], tasks::not_scored);
            ASSERT_EQ(y[32 + t], x[t]);
        }
        ASSERT_TRUE(std::equal(x, x + 31, x + 33));
    }
    // 160000 draws of 32: 5000 ± 70 each.
    EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 5000 - 5 * 70);
    EXPECT_LT(*std::max_element(seen.begin(), seen.end()), 5000 + 5 * 70);
}

class Text : public ::testing::Test {
protected:
    tasks::TaskOptions options(const std::string& content, std::int64_t context) const {
        tasks::TaskOptions result;
        result.text_file = folder_.write("text.txt", content).string();
        result.context = context;
        return result;
    }
    TemporaryFolder folder_;
};

/// 100 bytes, byte k being k mod 7 of "gfedcba": 90 to learn from.
std::string sevens() {
    std::string text;
    for (std::size_t k = 0; k < 100; ++k) text += static_cast<char>('g' - static_cast<char>(k % 7));
    return text;
}

TEST_F(Text, SplitsAFileIntoStreamAndWindows) {
    const tasks::Dataset data = make_text(options(sevens(), 4));
    EXPECT_TRUE(data.tokens);
    EXPECT_EQ(data.tokeniser.symbols, "abcdefg");
    EXPECT_EQ(data.dimension, 7);
    EXPECT_EQ(data.steps, 4);
    ASSERT_EQ(data.stream.size(), 90U);
    for (std::size_t k = 0; k < 90; ++k) EXPECT_EQ(data.stream[k], 6 - k % 7);
    EXPECT_EQ(data.train.count, 86);
    EXPECT_EQ(data.validation.count, 2);  // 10 bytes: 2 windows of 4 and a target after each
    for (std::size_t k = 0; k < 8; ++k) {
        EXPECT_EQ(data.validation.tokens_x.at(k), static_cast<std::int64_t>(6 - (90 + k) % 7));
        EXPECT_EQ(data.validation.tokens_y.at(k), static_cast<std::int64_t>(6 - (91 + k) % 7));
    }
    EXPECT_TRUE(std::isnan(data.noise_floor));
}

TEST_F(Text, TokensAreLearnedFromTheTrainingTextAlone) {
    // The last tenth has other words, which are no reason for a token.
    std::string text;
    while (text.size() < 900) text += "ab ";
    text += std::string(50, 'x') + std::string(50, 'y');
    auto asked = options(text, 4);
    asked.vocabulary = 258;
    const auto data = make_text(asked);
    EXPECT_EQ(data.dimension, 258);
    EXPECT_EQ(data.tokeniser, learn_tokeniser(text.substr(0, 900), 258));
    EXPECT_EQ(data.stream, encode(data.tokeniser, text.substr(0, 900)));
    EXPECT_EQ(data.validation.count, 24);  // 100 tokens of a byte each
    EXPECT_EQ(window_bytes(data), std::vector<std::int64_t>(24, 4));
    EXPECT_NEAR(bits_per_byte(data, std::log(2.0)), 1.0, 1e-15);

    asked.all_for_validation = true;
    asked.tokeniser = data.tokeniser;
    const auto all = make_text(asked);
    EXPECT_TRUE(all.stream.empty());
    EXPECT_EQ(all.train.count, 0);
    // "ab", 299 times " ab", a blank, 100 letters: 401 tokens, hence 100 windows. The targets are all but the first token.
    const auto bytes = window_bytes(all);
    EXPECT_EQ(all.validation.count, 100);
    EXPECT_EQ(bytes[1], 4 * 3);
    EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}), 1000 - 2);
    EXPECT_NEAR(bits_per_byte(all, std::log(2.0)), 400.0 / 998, 1e-15);  // a bit per token
}

TEST_F(Text, ReadsWindowsAtAnyOffset) {
    const tasks::Dataset data = make_text(options(sevens(), 4));
    std::array<std::int64_t, 4> x{};
    std::array<std::int64_t, 4> y{};
    for (const std::int64_t offset : {0, 5, 85}) {
        tasks::read_window(data, offset, x, y);
        for (std::size_t t = 0; t < 4; ++t) {
            EXPECT_EQ(x[t], data.stream.at(static_cast<std::size_t>(offset) + t));
            EXPECT_EQ(y[t], data.stream.at(static_cast<std::size_t>(offset) + t + 1));
        }
    }
    EXPECT_THROW(tasks::read_window(data, 86, x, y), std::out_of_range);
    EXPECT_THROW(tasks::read_window(data, -1, x, y), std::out_of_range);
    EXPECT_THROW(tasks::read_window(data, 0, std::span(x).first(3), y), std::out_of_range);
    EXPECT_THROW(tasks::read_window(make_copy({}), 0, x, y), std::out_of_range);
}

TEST_F(Text, TakesAnyBytes) {
    std::string text;
    for (int k = 0; k < 512; ++k) text += static_cast<char>(k % 256);
    const tasks::Dataset data = make_text(options(text, 8));
    EXPECT_EQ(data.dimension, 256);
    for (std::size_t k = 0; k < data.stream.size(); ++k) ASSERT_EQ(data.stream[k], k % 256);
}

TEST_F(Text, SamplesCutTheStream) {
    tasks::TaskOptions cut = options(sevens(), 4);
    cut.samples = 3;
    const tasks::Dataset data = make_text(cut);
    EXPECT_EQ(data.stream.size(), 13U);
    EXPECT_EQ(data.train.count, 9);
    EXPECT_EQ(data.dimension, 7);
    EXPECT_EQ(data.validation.tokens_x, make_text(options(sevens(), 4)).validation.tokens_x);
    cut.samples = 22;
    EXPECT_EQ(make_text(cut).stream.size(), 89U);
    cut.samples = 23;
    expect_refused([&] { make_text(cut); }, {"samples 23", "1 to 22", "text.txt"});
}

TEST_F(Text, RefusesFilesByName) {
    expect_refused([&] { make_text({}); }, {"text", "file"});
    expect_refused([&] { make_text(options("", 4)); }, {"text.txt", "0 bytes", "at least 50"});
    expect_refused([&] { make_text(options(std::string(49, 'a'), 4)); },
                   {"text.txt", "49 bytes", "windows of 4"});
    EXPECT_EQ(make_text(options(std::string(50, 'a'), 4)).validation.count, 1);
    tasks::TaskOptions missing;
    missing.text_file = (folder_.path() / "none.txt").string();
    expect_refused([&] { make_text(missing); }, {"none.txt", "no such file"});
    missing.text_file = folder_.path().string();
    expect_refused([&] { make_text(missing); }, {missing.text_file, "folder"});
    expect_refused([&] { make_text(options(sevens(), 0)); }, {"context 0", "1 to"});
}

}  // namespace
}  // namespace spectra::tasks
