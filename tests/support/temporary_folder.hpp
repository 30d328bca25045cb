#pragma once

#include <ftw.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace spectra::testing {

/// A fresh folder that goes away with the object.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "spectra-test-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
        path_ = name;
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    // Not std::filesystem::remove_all: the libtorch of PyTorch's wheels exports a broken one of its own.
    ~TemporaryFolder() {
        nftw(
            path_.c_str(), [](const char* name, const struct stat*, int, FTW*) { return std::remove(name); },
            16, FTW_DEPTH | FTW_PHYS);
    }

    const std::filesystem::path& path() const { return path_; }

    /// Writes a file into the folder and says where it is.
    std::filesystem::path write(const std::string& name, const std::string& content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return path_ / name;
    }

    /// Number of entries in the folder.
    std::size_t entries() const {
        std::size_t count = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
        return count;
    }

private:
    std::filesystem::path path_;
};

/// All bytes of a file; none where there is none.
inline std::string content(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace spectra::testing
