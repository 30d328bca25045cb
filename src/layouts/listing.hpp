#pragma once

#include "weightfile/tensor_file.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace spectra::layouts {

/// The contents of a weight file as text for users: kind and size, the tensor-name layout of its keys, the
/// prefix of its state dict, every tensor (key, dtype, shape), and the values beside them. Keys that differ
/// only in numbers share one line, layers.{0..59}.hc_attn_fn. A line longer than `columns` is broken, never
/// cut, so that keys can be copied.
std::string listing(const weightfile::TensorFile& file, int columns = 110);

/// The same with every tensor separate: file, kind, bytes, layout (null, with why_not, if none matches),
/// state_dict_prefix, tensors [{key, dtype, shape}], values {path: value}.
nlohmann::ordered_json listing_json(const weightfile::TensorFile& file);

}  // namespace spectra::layouts
