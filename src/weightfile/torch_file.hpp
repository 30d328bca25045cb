#pragma once

#include "weightfile/contents.hpp"
#include "weightfile/zip.hpp"

#include <string>

namespace spectra::weightfile {

/// Written by torch.save before version 1.6, or later with its zip option off?
bool looks_like_legacy_torch(Bytes file);

/// The folder of an archive that holds data.pkl, with its slash; "" if there is none.
std::string torch_root(const ZipArchive& archive, const std::string& where);

/// A module that torch.jit saved: it has code beside the data.
bool is_torch_script(const ZipArchive& archive, const std::string& root);

/// Reads <root>data.pkl, a pickle with tensors that are views of the entries <root>data/<key>;
/// <root>byteorder gives their byte order (little if it is missing). A tensor's key is the path to it through
/// dicts and lists, joined by dots: its key in the state dict, after the keys of the dicts around that. A
/// tensor in two places has two keys.
Contents read_torch_file(const ZipArchive& archive, const std::string& root, const std::string& where);

/// The tensors of a pickle's objects with their keys; TensorPlace refers to `tensors`.
std::vector<Tensor> tensors_with_keys(const Objects& objects, const std::vector<Tensor>& tensors,
                                      const std::string& where);

}  // namespace spectra::weightfile
