#pragma once

#include "weightfile/zip.hpp"

#include <string>
#include <string_view>

namespace spectra::weightfile {

/// A TorchScript module is a program: PyTorch runs parts of it while it loads the file (`__setstate__`). This
/// function must be called before. It refuses (std::invalid_argument, naming file and operation) a module
/// that could reach beyond its own memory:
///
///  * aten::save and aten::from_file, which write and read files of any name, however they are spelled in the source
///    (torch.save, ops.aten.save, getattr(torch, "save"), and concatenated strings),
///  * calls to other processes (rpc_sync, rpc_async, rpc_remote),
///  * operators outside PyTorch's namespaces of tensor operations (c10d, profiler, other libraries), and
///    custom classes other than packed quantised weights.
///
/// A module that passes can still do what PyTorch's interpreter allows: use any amount of time and memory,
/// print, and trigger faults of PyTorch's operators (SECURITY.md). `root` is the archive's folder
/// (torch_root).
void refuse_unsafe_script(const ZipArchive& archive, const std::string& root, const std::string& where);

/// The same for one source file of an archive.
void refuse_unsafe_source(std::string_view source, const std::string& where);

}  // namespace spectra::weightfile
