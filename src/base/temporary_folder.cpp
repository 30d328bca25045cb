#include "base/temporary_folder.hpp"

#include <fmt/format.h>
#include <ftw.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace spectra {
namespace {

/// As std::filesystem::temp_directory_path, which refuses places that do not exist without naming them.
std::filesystem::path place() {
    const char* const chosen = std::getenv("TMPDIR");
    return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
    std::string name = (place() / "spectra-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
        throw std::runtime_error(
            fmt::format("cannot create a temporary folder in {}: {}", place().string(), std::strerror(errno)));
    path_ = name;
}

// Not std::filesystem::remove_all: the libtorch of PyTorch's wheels exports a broken one of its own.
TemporaryFolder::~TemporaryFolder() {
    ::nftw(
        path_.c_str(), [](const char* name, const struct stat*, int, FTW*) { return std::remove(name); }, 16,
        FTW_DEPTH | FTW_PHYS);
}

}  // namespace spectra
