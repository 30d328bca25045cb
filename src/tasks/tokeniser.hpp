#pragma once

/// \file
/// Byte-pair tokens: a vocabulary of byte sequences, learned from a text.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spectra::tasks {

/// Largest number of tokens.
inline constexpr std::int64_t largest_vocabulary = 1 << 16;

/// A vocabulary. Tokens 0, 1, … are single bytes; each further token joins two earlier ones.
struct Tokeniser {
    std::string symbols;  ///< token k is the byte symbols[k]; ascending
    std::vector<std::pair<std::uint16_t, std::uint16_t>>
        merges;  ///< token symbols.size() + k joins the pair merges[k]

    /// Number of tokens.
    std::int64_t size() const { return static_cast<std::int64_t>(symbols.size() + merges.size()); }
    /// Whether both have the same tokens.
    bool operator==(const Tokeniser&) const = default;
};

/// Single bytes alone: those that occur in the text.
Tokeniser byte_tokeniser(std::string_view text);

/// Byte-pair encoding with `vocabulary` tokens: all 256 bytes, so that every text has tokens, then joins. The text is cut
/// into pieces, before white space that follows other characters, and after 64 bytes. Again and again the pair of
/// neighbours within pieces that occurs most often becomes a token, from left to right in every piece; of equally
/// frequent pairs the one with the smaller left, then right token. Throws std::invalid_argument, naming the field
/// `vocabulary`, for less than 256, more than the largest vocabulary, or more than the text has pairs for: a pair must
/// occur twice.
Tokeniser learn_tokeniser(std::string_view text, std::int64_t vocabulary);

/// The tokens of a text: its pieces as bytes, then all joins in the order of the tokens. Throws std::invalid_argument for a
/// byte that is no token, with its place.
std::vector<std::uint16_t> encode(const Tokeniser& tokeniser, std::string_view text);

/// The bytes of each token.
std::vector<std::string> token_bytes(const Tokeniser& tokeniser);

/// Throws std::invalid_argument where symbols do not ascend, a join is of tokens that do not come before it or is longer
/// than a piece, or there are too many tokens.
void check(const Tokeniser& tokeniser);

}  // namespace spectra::tasks
