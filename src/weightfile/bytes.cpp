#include "weightfile/bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace spectra::weightfile {

MappedFile::MappedFile(const std::string& path) {
    // Opening a pipe must not block before its kind is known.
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        refuse(path,
               errno == ENOENT ? "no such file" : "cannot be opened: " + std::string(std::strerror(errno)));
    struct stat status {};
    std::string problem;
    if (::fstat(file, &status) != 0) {
        problem = "cannot be read";
    } else if (S_ISDIR(status.st_mode)) {
        problem = "is a folder, not a file";
    } else if (!S_ISREG(status.st_mode)) {
        problem = "is not a regular file";
    } else if (status.st_size == 0) {
        problem = "is empty";
    } else {
        const auto size = static_cast<std::size_t>(status.st_size);
        void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (start == MAP_FAILED) {
            problem = "cannot be mapped: " + std::string(std::strerror(errno));
        } else {
            bytes_ = {static_cast<const std::byte*>(start), size};
        }
    }
    ::close(file);
    if (!problem.empty()) refuse(path, problem);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace spectra::weightfile
