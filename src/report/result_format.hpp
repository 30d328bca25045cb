#pragma once

/// \file
/// How a result file is recognised: the two attributes of its root.

#include <filesystem>
#include <optional>
#include <string>

namespace spectra::h5 {
class File;
}

namespace spectra::report {

/// The attribute format of a result file's root.
inline constexpr const char* format_name = "jacobian-spectra";
/// The attribute format_version of a result file's root: the newest that this library reads.
inline constexpr int format_version = 1;

/// Whether a file was written by spectra, in any version. Never throws.
bool is_result_file(const std::filesystem::path& path);

/// Provenance::settings of a result file; nothing where an earlier version wrote it. Throws std::invalid_argument if
/// it cannot be read.
std::optional<std::string> stored_settings(const std::filesystem::path& path);

/// \cond INTERNAL
/// Whether an open file was written by spectra.
bool is_result_file(const h5::File& file);

/// Throws std::invalid_argument, one line that begins with `name`, where an open file is no result file or is of a
/// newer format.
void check_result_format(const h5::File& file, const std::string& name);
/// \endcond

}  // namespace spectra::report
