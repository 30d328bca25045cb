#pragma once

#include <filesystem>

namespace spectra::h5 {
class File;
}

namespace spectra::report {

/// Attributes format and format_version of a result file's root.
inline constexpr const char* format_name = "jacobian-spectra";
inline constexpr int format_version = 1;

/// Is this a result file, of any version? Never throws.
bool is_result_file(const std::filesystem::path& path);
bool is_result_file(const h5::File& file);

}  // namespace spectra::report
