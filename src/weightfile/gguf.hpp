#pragma once

#include "weightfile/contents.hpp"

#include <string>

namespace spectra::weightfile {

/// Does it begin like a GGUF file?
bool looks_like_gguf(Bytes file);

/// The format, little-endian: "GGUF", version (2 or 3), numbers of tensors and of metadata; metadata, each a key, a type
/// and a value; tensors, each a name, sizes (fastest first), a type and an offset; then the data, aligned to
/// general.alignment (32). Metadata that is a number, a boolean or text becomes the root object, a dict; arrays are
/// skipped. Tensors of block formats (Q8_0, …) are listed with the dtype `quantised`; their values cannot be read.
Contents read_gguf(Bytes file, const std::string& where);

}  // namespace spectra::weightfile
