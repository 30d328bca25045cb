#pragma once

#include "weightfile/contents.hpp"

#include <string>

namespace spectra::weightfile {

/// Does it begin as a safetensors file does: a header length, then '{'?
bool looks_like_safetensors(Bytes file);

/// Eight bytes of header length n (least first), n bytes of JSON, data. The header maps a key to dtype, shape
/// and data_offsets [begin, end) in the data, and `__metadata__`, which becomes the root object, texts to
/// texts. As the format demands, the ranges together are the data, without overlap or gap, and each is as
/// long as shape and dtype say. Keys are listed in the order of the data.
Contents read_safetensors(Bytes file, const std::string& where);

}  // namespace spectra::weightfile
