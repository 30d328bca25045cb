#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spectra {

/// The candidate a mistyped word was probably meant to be: fewest insertions, deletions, replacements and
/// swaps of neighbours, at most a third of the word; or the only one the word begins. Nothing otherwise.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean 'cayley'? (accepted: …)", or "; accepted: …" where nothing is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace spectra
