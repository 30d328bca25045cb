#pragma once

#include <filesystem>
#include <span>

namespace spectra {

/// A file that appears complete or not at all. Data are written under a hidden temporary name in the
/// same folder; `commit` syncs them to disk and renames the file to the destination. Without commit, the
/// destructor removes the temporary file and an earlier file stays unchanged. A new file has the
/// permissions of the one it replaces.
///
/// Failures throw std::runtime_error with one line that names the destination.
class AtomicFile {
public:
    explicit AtomicFile(std::filesystem::path destination);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// Open for writing, so that a child process can write to it.
    int descriptor() const { return descriptor_; }
    const std::filesystem::path& temporary() const { return temporary_; }

    void write(std::span<const char> bytes);
    /// fsync, rename, fsync of the folder.
    void commit();

private:
    [[noreturn]] void fail(int error) const;
    void close_and_remove();

    std::filesystem::path destination_;
    std::filesystem::path temporary_;
    int descriptor_ = -1;
};

/// Removes what runs that were killed left of this destination: temporary files of processes that no longer exist on this
/// machine. Failures are ignored: such files take space and are never read.
void remove_leftovers(const std::filesystem::path& destination) noexcept;

/// Removes the temporary files of all files not yet committed. Safe to call from a signal handler that ends the
/// program, and only from there.
void remove_temporary_files() noexcept;

}  // namespace spectra
