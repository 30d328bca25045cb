#pragma once

#include <filesystem>

namespace spectra {

/// A new private folder among the system's temporary files, removed with everything in it by the destructor.
/// Throws std::runtime_error, with one line that names the place, if it cannot be made.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace spectra
