#pragma once

#include <filesystem>

namespace spectra::layouts {

/// A file of every layout.
inline const std::filesystem::path samples = std::filesystem::path(SPECTRA_DATA_DIR) / "layouts";

}  // namespace spectra::layouts
