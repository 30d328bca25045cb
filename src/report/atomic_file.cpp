#include "report/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace spectra::report {

AtomicFile::AtomicFile(std::filesystem::path destination) : destination_(std::move(destination)) {
    // A link stays a link: what it points to is replaced.
    std::error_code error;
    if (std::filesystem::is_symlink(destination_, error)) {
        auto target = std::filesystem::weakly_canonical(destination_, error);
        if (!error) destination_ = std::move(target);
    }
    const std::string stem = "." + destination_.filename().string() + ".tmp-" + std::to_string(::getpid());
    for (int attempt = 0; attempt < 100; ++attempt) {
        temporary_ = destination_.parent_path() / (stem + "-" + std::to_string(attempt));
        descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ >= 0 || errno != EEXIST) break;
    }
    if (descriptor_ < 0) fail(errno);
}

AtomicFile::~AtomicFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const char> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            fail(errno);
        }
    }
}

void AtomicFile::commit() {
    if (::fsync(descriptor_) != 0) fail(errno);
    if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
    if (std::rename(temporary_.c_str(), destination_.c_str()) != 0) fail(errno);
    temporary_.clear();
    const auto folder = destination_.has_parent_path() ? destination_.parent_path() : ".";
    // Some file systems cannot sync a folder; the file itself is safe by now.
    if (const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); opened >= 0) {
        ::fsync(opened);
        ::close(opened);
    }
}

void AtomicFile::fail(int error) const {
    throw std::runtime_error(destination_.string() + ": cannot be written: " + std::strerror(error));
}

}  // namespace spectra::report
