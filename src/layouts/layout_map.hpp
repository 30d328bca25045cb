#pragma once

/// \file
/// A map from your own tensor names to mixers, for weight files that no built-in layout fits.

#include "mixers/raw.hpp"

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
/// The keys:
///
/// * family: of mixers::raw_names(), how the numbers become a mixer; required.
/// * key: the tensor, with {i} for the block's number and {sublayer}; required. Without {i} it holds all
///   blocks, its first dimension.
/// * sublayers: names in the order they are applied; none by default.
/// * transpose: the mixer is Hᵀ, for code that contracts 's t, s d → t d'; false by default.
/// * temperature: of bistochastic and permutation; 1 by default.
/// * iterations: of bistochastic the sweeps, to tolerance by default; of cayley the fixed-point steps, exact
///   by default.
/// * first: of bistochastic what a sweep normalises first, "rows" (default) or "columns".
/// * step: of cayley α; 0.1 by default.
/// * pre, post: tensors of n numbers each; none by default.
/// * pre_map, post_map: "identity" (default), "sigmoid", "2sigmoid" or "softmax".
///
/// A tensor's name may end in [a:b], its elements a to b − 1 in row-major order, or [:,a:b], those columns.
/// Keys refer to the whole file, and may have any prefix that ends in a dot.
struct LayoutMap {
    std::string family;                  ///< of mixers::raw_names()
    std::string key;                     ///< the tensor of a mixer's numbers
    std::string pre;                     ///< the tensor of pre; empty: none
    std::string post;                    ///< the tensor of post; empty: none
    std::string pre_map = "identity";    ///< from that tensor to pre
    std::string post_map = "identity";   ///< from that tensor to post
    std::vector<std::string> sublayers;  ///< in the order they are applied
    bool transpose = false;              ///< the mixer is the transpose
    mixers::RawOptions options;          ///< temperature, iterations, first and step
};

/// The map of a JSON text. Unknown keys, values of another type and missing ones are refused:
/// std::invalid_argument, one line that begins with `where`.
LayoutMap parse_layout_map(const std::string& text, const std::string& where);
/// The same from a file.
LayoutMap read_layout_map(const std::filesystem::path& path);

}  // namespace spectra::layouts
