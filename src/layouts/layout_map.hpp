#pragma once

#include "layouts/family.hpp"
#include "layouts/input_point.hpp"
#include "layouts/stack.hpp"
#include "layouts/weights.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace spectra::layouts {

/// A user's own tensor-name layout: which tensors hold the numbers of the mixers. A JSON object, for example
///
///     {"family": "bistochastic", "key": "blocks.{i}.{sublayer}.logits", "sublayers": ["attn", "mlp"],
///      "transpose": true, "temperature": 0.05, "iterations": 10,
///      "pre": "blocks.{i}.{sublayer}.mix[0:4]", "pre_map": "sigmoid"}
///
///     family              one of family_names(): how the numbers become a mixer; required
///     key                 the tensor, with {i} for the number of the block and {sublayer}; required.
///                         Without {i} the tensor holds all blocks in its first dimension
///     sublayers           names in the order they are applied; none by default
///     transpose           the mixer is Hᵀ, for code that contracts 's t, s d → t d'; false
///     temperature         bistochastic, permutation: 1
///     iterations          bistochastic: sweeps, to tolerance by default; cayley: fixed-point steps, exact
///                         by default
///     first               bistochastic: what a sweep normalises first, "rows" (default) or "columns"
///     step                cayley: α, 0.1
///     pre, post           tensors of n numbers each; none by default
///     pre_map, post_map   "identity" (default), "sigmoid", "2sigmoid", "softmax"
///
/// A tensor's name may end in [a:b], its elements a to b − 1 in row-major order, or [:,a:b], those columns.
/// Keys refer to the whole file, and may have any prefix that ends in a dot.
struct LayoutMap {
    std::string family, key, pre, post, pre_map = "identity", post_map = "identity";
    std::vector<std::string> sublayers;
    bool transpose = false;
    FamilyOptions options;
};

/// Refuses unknown keys, values of another type and missing values: std::invalid_argument, one line that
/// begins with `where`.
LayoutMap parse_layout_map(const std::string& text, const std::string& where);
LayoutMap read_layout_map(const std::filesystem::path& path);

/// Fills connections, streams and input.
void read_mapped(const Weights& weights, const LayoutMap& map, Stack& stack);

}  // namespace spectra::layouts
