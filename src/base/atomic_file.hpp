#pragma once

#include <filesystem>
#include <span>

namespace spectra {

/// A file that appears whole or not at all: what is written goes to a hidden temporary name in the
/// same folder, and `commit` brings it to the disk and renames it over the destination. Destroyed
/// without commit, the temporary file is removed and an earlier file stays as it was. A new file has the
/// permissions of the one it replaces.
///
/// Failures throw std::runtime_error, one line, naming the destination.
class AtomicFile {
public:
    explicit AtomicFile(std::filesystem::path destination);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// Open for writing, for a child process to write to.
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

/// Removes the temporary files of all files not yet committed. Safe to call from a signal handler that ends the
/// program, and only from there.
void remove_temporary_files() noexcept;

}  // namespace spectra
