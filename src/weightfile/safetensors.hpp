#pragma once

#include "weightfile/contents.hpp"

#include <string>

namespace spectra::weightfile {

/// Does it begin like a safetensors file, with a header length and '{'?
bool looks_like_safetensors(Bytes file);

/// The format: eight bytes of header length n (little-endian), n bytes of JSON, data. The header maps a key
/// to dtype, shape and data_offsets [begin, end) in the data. `__metadata__`, which becomes the root object,
/// maps strings to strings. As the format requires, the ranges cover the data without overlap or gap, and the
/// length of each matches shape and dtype. Keys are listed in the order of the data.
Contents read_safetensors(Bytes file, const std::string& where);

}  // namespace spectra::weightfile
