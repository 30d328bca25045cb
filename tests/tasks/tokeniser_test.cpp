#include "tasks/tokeniser.hpp"

#include "support/expect_refused.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

/// Byte-pair tokens against plain loops over the whole text.
namespace spectra::tasks {
namespace {

using spectra::testing::expect_refused;
using Pieces = std::vector<std::vector<int>>;

bool is_white(char c) {
    return std::string(" \t\n\v\f\r").find(c) != std::string::npos;
}

/// Every piece, as often as it occurs.
Pieces plain_pieces(const std::string& text) {
    Pieces pieces;
    for (std::size_t k = 0; k < text.size(); ++k) {
        if (k == 0 || pieces.back().size() == 64 || (is_white(text[k]) && !is_white(text[k - 1])))
            pieces.emplace_back();
        pieces.back().push_back(static_cast<unsigned char>(text[k]));
    }
    return pieces;
}

void plain_join(Pieces& pieces, std::pair<int, int> pair, int joined) {
    for (auto& piece : pieces) {
        std::vector<int> next;
        for (std::size_t k = 0; k < piece.size(); ++k)
            if (k + 1 < piece.size() && piece[k] == pair.first && piece[k + 1] == pair.second) {
                next.push_back(joined);
                ++k;
            } else {
                next.push_back(piece[k]);
            }
        piece = next;
    }
}

struct Plain {
    std::vector<std::pair<int, int>> merges;
    std::vector<int> tokens;
};

/// Counts everything again for each join.
Plain plain_learned(const std::string& text, int vocabulary) {
    Plain result;
    auto pieces = plain_pieces(text);
    for (int token = 256; token < vocabulary; ++token) {
        std::map<std::pair<int, int>, int> counts;
        for (const auto& piece : pieces)
            for (std::size_t k = 0; k + 1 < piece.size(); ++k) ++counts[{piece[k], piece[k + 1]}];
        std::pair<std::pair<int, int>, int> best{{}, 1};
        for (const auto& entry : counts)
            if (entry.second > best.second) best = entry;  // the first of equals: the map ascends
        if (best.second < 2) break;
        result.merges.push_back(best.first);
        plain_join(pieces, best.first, token);
    }
    for (const auto& piece : pieces) result.tokens.insert(result.tokens.end(), piece.begin(), piece.end());
    return result;
}

std::string random_text(unsigned seed, std::size_t length, const std::string& letters) {
    std::mt19937 random(seed);
    std::string text;
    for (std::size_t k = 0; k < length; ++k) text += letters[random() % letters.size()];
    return text;
}

std::string decoded(const Tokeniser& tokeniser, const std::vector<std::uint16_t>& tokens) {
    const auto bytes = token_bytes(tokeniser);
    std::string text;
    for (const auto token : tokens) text += bytes.at(token);
    return text;
}

TEST(Tokeniser, LearnsWhatPlainLoopsLearn) {
    const std::string alike(300, 'a');
    for (const auto& text : {random_text(1, 3000, "abc "), random_text(2, 2000, "aab \n"),
                             random_text(3, 5000, "xyz\xC3\xA9 \t."), alike, alike + " " + alike + "b",
                             std::string("to be or not to be, that is to be the question")})
        for (const int vocabulary : {256, 257, 259, 300}) {
            const auto plain = plain_learned(text, vocabulary);
            const auto size = static_cast<int>(256 + plain.merges.size());
            if (size < vocabulary) {
                expect_refused(
                    [&] { learn_tokeniser(text, vocabulary); },
                    {"`vocabulary` " + std::to_string(vocabulary), "at most " + std::to_string(size)});
                continue;
            }
            const auto learned = learn_tokeniser(text, vocabulary);
            EXPECT_EQ(learned.size(), vocabulary);
            EXPECT_EQ((std::vector<std::pair<int, int>>(learned.merges.begin(), learned.merges.end())),
                      plain.merges);
            const auto tokens = encode(learned, text);
            EXPECT_EQ(std::vector<int>(tokens.begin(), tokens.end()), plain.tokens);
        }
}

// By hand: " ab" three times, "ab" once. The pair (a, b) occurs four times, then ( , ab) three times.
TEST(Tokeniser, TheMostFrequentPairComesFirst) {
    const auto t = learn_tokeniser("ab ab ab ab", 258);
    EXPECT_EQ(t.merges, (decltype(t.merges){{'a', 'b'}, {' ', 256}}));
    EXPECT_EQ(encode(t, "ab ab ba"), (std::vector<std::uint16_t>{256, 257, ' ', 'b', 'a'}));
    EXPECT_EQ(token_bytes(t).back(), " ab");
}

TEST(Tokeniser, EveryTextComesBack) {
    const auto t = learn_tokeniser(random_text(5, 4000, "abcd e"), 400);
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    for (const auto& text :
         {std::string(), std::string("a"), all, all + all, random_text(6, 999, "abcd e\n")}) {
        EXPECT_EQ(decoded(t, encode(t, text)), text);
        EXPECT_LE(encode(t, text).size(), text.size());
    }
    EXPECT_LT(encode(t, random_text(7, 4000, "abcd e")).size(), 3000U) << "joins save tokens on other text";
}

TEST(Tokeniser, SingleBytesAreThoseOfTheText) {
    const auto t = byte_tokeniser("banana\xFF");
    EXPECT_EQ(t.symbols, "abn\xFF");
    EXPECT_EQ(encode(t, "nab"), (std::vector<std::uint16_t>{2, 0, 1}));
    expect_refused([&] { encode(t, "an na"); }, {"byte 32 (0x20) at 2", "4 symbols"});
}

TEST(Tokeniser, RefusesWhatIsNoVocabulary) {
    for (const std::int64_t size : {0, 255, 65537})
        EXPECT_THROW(learn_tokeniser("aa aa", size), std::invalid_argument);
    check({"ab", {{0, 1}, {2, 2}}});
    EXPECT_THROW(check({"ba", {}}), std::invalid_argument);
    EXPECT_THROW(check({"aa", {}}), std::invalid_argument);
    EXPECT_THROW(check({"ab", {{0, 2}}}), std::invalid_argument);
    EXPECT_THROW(check({"ab", {{3, 0}, {0, 0}}}), std::invalid_argument);
    Tokeniser doubling{"a", {}};  // 2, 4, 8, … bytes
    for (std::uint16_t k = 0; k < 6; ++k) doubling.merges.emplace_back(k, k);
    check(doubling);
    doubling.merges.emplace_back(6, 6);
    EXPECT_THROW(check(doubling), std::invalid_argument);
}

}  // namespace
}  // namespace spectra::tasks
