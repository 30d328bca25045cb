#pragma once

#include "layouts/weights.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spectra::layouts {

/// The connection that a key belongs to, or nothing: "h.3.hc_attn" of "h.3.hc_attn.H_res_logits".
using NameOfKey = std::function<std::optional<std::string>(const std::string& key)>;

/// Connections with keys of the form name + suffix. Suffixes begin with a dot; a key that is only the suffix
/// belongs to a connection without a name.
NameOfKey ending_in(std::vector<std::string> suffixes);

/// The connections of a model in the order they are applied: blocks by number (10 after 9); within a block
/// attention first, then by name. The number of a block is the first number in the name.
///
/// Weights under two names in a block, one a suffix of the other ("branch.hc", "hc"), are one connection.
/// Refuses, in one line, names of several stacks (encoder and decoder), a block without a connection that
/// others have, and a missing block between others.
std::vector<std::string> connection_names(const Weights& weights, const NameOfKey& name_of_key);

}  // namespace spectra::layouts
