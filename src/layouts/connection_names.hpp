#pragma once

#include "layouts/weights.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spectra::layouts {

/// The connection that a key belongs to, or nothing: "h.3.hc_attn" of "h.3.hc_attn.H_res_logits".
using NameOfKey = std::function<std::optional<std::string>(const std::string& key)>;

/// Connections whose keys end so, as in name + suffix: suffixes begin with a dot, and are all of a key that
/// belongs to a connection without a name.
NameOfKey ending_in(std::vector<std::string> suffixes);

/// The connections of a model in the order they are applied: blocks by number (10 after 9), in a block
/// attention before the rest, else by name. A block's number is the first number in the name.
///
/// Weights that a block has under two names, of which one ends as the other does ("branch.hc", "hc"), are one
/// connection. Refused, in one line: names of several stacks (encoder and decoder), a block without a
/// connection that others have, a block that is missing between others.
std::vector<std::string> connection_names(const Weights& weights, const NameOfKey& name_of_key);

}  // namespace spectra::layouts
