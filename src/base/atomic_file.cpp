#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace spectra {
namespace {

// Names of the temporary files that exist now, for remove_temporary_files(). Further files are written all
// the same, but stay behind if the program is killed.
constinit std::array<std::atomic<const char*>, 64> temporaries{};
static_assert(std::atomic<const char*>::is_always_lock_free, "read from a signal handler");

void remember(const char* name) {
    for (auto& place : temporaries) {
        const char* none = nullptr;
        if (place.compare_exchange_strong(none, name)) return;
    }
}

void forget(const char* name) {
    for (auto& place : temporaries) {
        const char* same = name;
        if (place.compare_exchange_strong(same, nullptr)) return;
    }
}

/// Temporary names of a destination begin so. A process number means something on its own machine only.
std::string stem_of(const std::filesystem::path& destination) {
    std::array<char, 65> host{};
    ::gethostname(host.data(), host.size() - 1);
    return "." + destination.filename().string() + ".tmp-" + host.data() + "-";
}

}  // namespace

void remove_leftovers(const std::filesystem::path& destination) noexcept try {
    const std::string stem = stem_of(destination);
    const auto folder = destination.has_parent_path() ? destination.parent_path() : std::filesystem::path(".");
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(stem)) continue;
        int process = 0, attempt = 0, read = 0;
        if (std::sscanf(name.c_str() + stem.size(), "%d-%d%n", &process, &attempt, &read) != 2 || process <= 0 ||
            stem.size() + static_cast<std::size_t>(read) != name.size())
            continue;
        if (::kill(process, 0) != 0 && errno == ESRCH) ::unlink(entry.path().c_str());
    }
} catch (...) {
    return;
}

void remove_temporary_files() noexcept {
    for (const auto& place : temporaries)
        if (const char* const name = place.load()) ::unlink(name);
}

AtomicFile::AtomicFile(std::filesystem::path destination) : destination_(std::move(destination)) {
    // A symbolic link stays a link: its target is replaced.
    std::error_code error;
    if (std::filesystem::is_symlink(destination_, error)) {
        auto target = std::filesystem::weakly_canonical(destination_, error);
        if (!error) destination_ = std::move(target);
    }
    const std::string stem = stem_of(destination_) + std::to_string(::getpid());
    for (int attempt = 0; attempt < 100; ++attempt) {
        temporary_ = destination_.parent_path() / (stem + "-" + std::to_string(attempt));
        descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ >= 0 || errno != EEXIST) break;
    }
    if (descriptor_ < 0) fail(errno);
    remember(temporary_.c_str());
    // Users who could not read the earlier file must not read the new one, not even while it is written.
    struct stat earlier {};
    if (::stat(destination_.c_str(), &earlier) == 0 && S_ISREG(earlier.st_mode) &&
        ::fchmod(descriptor_, earlier.st_mode & 0777) != 0) {
        const int error_number = errno;
        close_and_remove();
        fail(error_number);
    }
}

AtomicFile::~AtomicFile() {
    close_and_remove();
}

void AtomicFile::close_and_remove() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    if (temporary_.empty()) return;
    ::unlink(temporary_.c_str());
    forget(temporary_.c_str());
    temporary_.clear();
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
    forget(temporary_.c_str());
    temporary_.clear();
    const auto folder = destination_.has_parent_path() ? destination_.parent_path() : ".";
    // Some file systems cannot sync a folder; the file itself is already safe.
    if (const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); opened >= 0) {
        ::fsync(opened);
        ::close(opened);
    }
}

void AtomicFile::fail(int error) const {
    throw std::runtime_error(destination_.string() + ": cannot be written: " + std::strerror(error));
}

}  // namespace spectra
