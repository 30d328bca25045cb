#include "tasks/tokeniser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <queue>
#include <stdexcept>
#include <unordered_map>

namespace spectra::tasks {

namespace {

using Token = std::uint16_t;
using Tokens = std::vector<Token>;

constexpr std::size_t longest_piece = 64;

/// Two neighbours as one number, ordered by the left one, then the right one.
using Pair = std::uint32_t;
Pair pair_of(Token left, Token right) {
    return static_cast<Pair>(left) << 16U | right;
}

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/// The pieces of a text, one after the other.
class Pieces {
public:
    explicit Pieces(std::string_view text) : rest_(text) {}

    std::optional<std::string_view> next() {
        if (rest_.empty()) return {};
        std::size_t end = 1;
        while (end < std::min(rest_.size(), longest_piece) &&
               !(is_space(rest_[end]) && !is_space(rest_[end - 1])))
            ++end;
        const auto piece = rest_.substr(0, end);
        rest_.remove_prefix(end);
        return piece;
    }

private:
    std::string_view rest_;
};

/// Tokens of single bytes; -1 of bytes without one.
std::array<int, 256> tokens_of_bytes(const std::string& symbols) {
    std::array<int, 256> token{};
    token.fill(-1);
    for (std::size_t k = 0; k < symbols.size(); ++k)
        token[static_cast<unsigned char>(symbols[k])] = static_cast<int>(k);
    return token;
}

/// Joins the pair wherever it occurs, from left to right.
void join(Tokens& tokens, Pair pair, Token joined) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < tokens.size(); ++k) {
        const bool here = k + 1 < tokens.size() && pair_of(tokens[k], tokens[k + 1]) == pair;
        tokens[kept++] = here ? joined : tokens[k];
        if (here) ++k;
    }
    tokens.resize(kept);
}

/// The distinct pieces of a text and how often pairs occur in all of them.
class Counts {
public:
    explicit Counts(std::string_view text) {
        std::unordered_map<std::string_view, std::int64_t> often;
        Pieces pieces(text);
        while (const auto piece = pieces.next()) ++often[*piece];
        for (const auto& [piece, count] : often) {
            Tokens tokens;
            for (const char c : piece) tokens.push_back(static_cast<unsigned char>(c));
            pieces_.push_back({std::move(tokens), count});
        }
        for (std::size_t k = 0; k < pieces_.size(); ++k) add(k, 1);
        for (const auto& [pair, count] : counts_) queue_.push({count, pair});
    }

    /// The most frequent pair, if any occurs twice.
    std::optional<Pair> most_frequent() {
        while (!queue_.empty() && counts_[queue_.top().pair] != queue_.top().count) queue_.pop();
        if (queue_.empty() || queue_.top().count < 2) return {};
        return queue_.top().pair;
    }

    void join_all(Pair pair, Token joined) {
        auto places = std::move(places_[pair]);
        places_.erase(pair);
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        changed_.clear();
        for (const auto k : places) {
            add(k, -1);
            join(pieces_[k].tokens, pair, joined);
            add(k, 1);
        }
        for (const auto other : changed_)
            if (const auto count = counts_[other]; count > 0) queue_.push({count, other});
    }

private:
    struct Piece {
        Tokens tokens;
        std::int64_t count = 0;
    };
    struct Candidate {
        std::int64_t count;
        Pair pair;
        bool operator<(const Candidate& other) const {
            return count != other.count ? count < other.count : pair > other.pair;
        }
    };

    /// Adds the pairs of a piece, or takes them away.
    void add(std::size_t piece, std::int64_t sign) {
        const auto& [tokens, count] = pieces_[piece];
        for (std::size_t k = 0; k + 1 < tokens.size(); ++k) {
            const auto pair = pair_of(tokens[k], tokens[k + 1]);
            counts_[pair] += sign * count;
            changed_.push_back(pair);
            if (sign > 0) places_[pair].push_back(piece);
        }
    }

    std::vector<Piece> pieces_;
    std::unordered_map<Pair, std::int64_t> counts_;
    std::unordered_map<Pair, std::vector<std::size_t>> places_;  ///< pieces that have it, or had it once
    std::priority_queue<Candidate> queue_;                       ///< old counts among them
    std::vector<Pair> changed_;
};

/// The tokens of one piece.
Tokens encoded(Tokens tokens, const std::unordered_map<Pair, Token>& joined) {
    while (true) {
        auto first = joined.end();
        for (std::size_t k = 0; k + 1 < tokens.size(); ++k)
            if (const auto found = joined.find(pair_of(tokens[k], tokens[k + 1]));
                found != joined.end() && (first == joined.end() || found->second < first->second))
                first = found;
        if (first == joined.end()) return tokens;
        join(tokens, first->first, first->second);
    }
}

}  // namespace

Tokeniser byte_tokeniser(std::string_view text) {
    std::array<bool, 256> seen{};
    for (const char c : text) seen[static_cast<unsigned char>(c)] = true;
    Tokeniser result;
    for (std::size_t byte = 0; byte < seen.size(); ++byte)
        if (seen[byte]) result.symbols += static_cast<char>(byte);
    return result;
}

Tokeniser learn_tokeniser(std::string_view text, std::int64_t vocabulary) {
    if (vocabulary < 256 || vocabulary > largest_vocabulary)
        throw std::invalid_argument(
            fmt::format("`vocabulary` {}: must be 256 to {}", vocabulary, largest_vocabulary));
    Tokeniser result;
    for (int byte = 0; byte < 256; ++byte) result.symbols += static_cast<char>(byte);
    Counts counts(text);
    while (result.size() < vocabulary) {
        const auto pair = counts.most_frequent();
        if (!pair)
            throw std::invalid_argument(
                fmt::format("`vocabulary` {}: must be at most {}, for which this text has pairs", vocabulary,
                            result.size()));
        counts.join_all(*pair, static_cast<Token>(result.size()));
        result.merges.emplace_back(static_cast<Token>(*pair >> 16U), static_cast<Token>(*pair & 0xFFFFU));
    }
    return result;
}

std::vector<std::uint16_t> encode(const Tokeniser& tokeniser, std::string_view text) {
    const auto byte = tokens_of_bytes(tokeniser.symbols);
    std::unordered_map<Pair, Token> joined;
    for (std::size_t k = 0; k < tokeniser.merges.size(); ++k)
        joined.emplace(pair_of(tokeniser.merges[k].first, tokeniser.merges[k].second),
                       static_cast<Token>(tokeniser.symbols.size() + k));
    std::unordered_map<std::string_view, Tokens> known;
    Tokens all;
    Pieces pieces(text);
    while (const auto piece = pieces.next()) {
        auto found = known.find(*piece);
        if (found == known.end()) {
            Tokens tokens;
            for (const char& c : *piece) {
                const int token = byte[static_cast<unsigned char>(c)];
                if (token < 0)
                    throw std::invalid_argument(
                        fmt::format("byte {} (0x{:02x}) at {} is none of the model's {} symbols",
                                    static_cast<unsigned char>(c), static_cast<unsigned char>(c),
                                    &c - text.data(), tokeniser.symbols.size()));
                tokens.push_back(static_cast<Token>(token));
            }
            found = known.emplace(*piece, encoded(std::move(tokens), joined)).first;
        }
        all.insert(all.end(), found->second.begin(), found->second.end());
    }
    return all;
}

std::vector<std::string> token_bytes(const Tokeniser& tokeniser) {
    std::vector<std::string> bytes;
    for (const char symbol : tokeniser.symbols) bytes.emplace_back(1, symbol);
    for (const auto& [left, right] : tokeniser.merges) bytes.push_back(bytes[left] + bytes[right]);
    return bytes;
}

void check(const Tokeniser& tokeniser) {
    const auto& symbols = tokeniser.symbols;
    const auto not_less = [](char a, char b) {
        return static_cast<unsigned char>(a) >= static_cast<unsigned char>(b);
    };
    if (std::adjacent_find(symbols.begin(), symbols.end(), not_less) != symbols.end())
        throw std::invalid_argument("symbols do not ascend");
    if (tokeniser.size() > largest_vocabulary)
        throw std::invalid_argument(
            fmt::format("{} tokens; must be at most {}", tokeniser.size(), largest_vocabulary));
    std::vector<std::size_t> length(symbols.size(), 1);
    for (std::size_t k = 0; k < tokeniser.merges.size(); ++k) {
        if (std::max(tokeniser.merges[k].first, tokeniser.merges[k].second) >= symbols.size() + k)
            throw std::invalid_argument(
                fmt::format("token {} joins tokens that do not come before it", symbols.size() + k));
        length.push_back(length[tokeniser.merges[k].first] + length[tokeniser.merges[k].second]);
        if (length.back() > longest_piece)
            throw std::invalid_argument(
                fmt::format("token {} has more than {} bytes", symbols.size() + k, longest_piece));
    }
}

}  // namespace spectra::tasks
