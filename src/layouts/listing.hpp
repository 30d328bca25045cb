#pragma once

#include "weightfile/tensor_file.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace spectra::layouts {

/// What a weight file holds, for a user to read: kind and size, the layout that its keys belong to, where its
/// state dict begins, every tensor (key, dtype, shape), the values beside them. Keys that differ in numbers
/// alone are one line, layers.{0..59}.hc_attn_fn. A line that would be longer than `columns` is broken, never
/// cut, so that keys can be copied.
std::string listing(const weightfile::TensorFile& file, int columns = 110);

/// The same, every tensor by itself: file, kind, bytes, layout (null, and why_not, where it is of none),
/// state_dict_prefix, tensors [{key, dtype, shape}], values {path: value}.
nlohmann::ordered_json listing_json(const weightfile::TensorFile& file);

}  // namespace spectra::layouts
