#pragma once

#include "layouts/family.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace spectra::layouts {

/// Where a file with keys of its own has the numbers of its mixers: a JSON object, for example
///
///     {"family": "bistochastic", "key": "blocks.{i}.{sublayer}.logits", "sublayers": ["attn", "mlp"],
///      "transpose": true, "temperature": 0.05, "iterations": 10,
///      "pre": "blocks.{i}.{sublayer}.mix[0:4]", "pre_map": "sigmoid"}
///
/// | key | |
/// |---|---|
/// | family | of family_names(): how the numbers become a mixer; required |
/// | key | the tensor, with {i} for the block's number and {sublayer}; required. Without {i} it holds all
/// blocks, its first dimension | | sublayers | names in the order they are applied; none by default | |
/// transpose | the mixer is Hᵀ, for code that contracts 's t, s d → t d'; false | | temperature |
/// bistochastic, permutation: 1 | | iterations | bistochastic: sweeps, to tolerance by default; cayley:
/// fixed-point steps, exact by default | | first | bistochastic: what a sweep normalises first, "rows"
/// (default) or "columns" | | step | cayley: α, 0.1 | | pre, post | tensors of n numbers each; none by
/// default | | pre_map, post_map | "identity" (default), "sigmoid", "2sigmoid", "softmax" |
///
/// A tensor's name may end in [a:b], its elements a to b − 1 in row-major order, or [:,a:b], those columns.
/// Keys are those of the whole file, and may have anything before them that ends in a dot.
struct LayoutMap {
    std::string family, key, pre, post, pre_map = "identity", post_map = "identity";
    std::vector<std::string> sublayers;
    bool transpose = false;
    FamilyOptions options;
};

/// Unknown keys, values of another type and missing ones are refused: std::invalid_argument, one line that
/// begins with `where`.
LayoutMap parse_layout_map(const std::string& text, const std::string& where);
LayoutMap read_layout_map(const std::filesystem::path& path);

}  // namespace spectra::layouts
