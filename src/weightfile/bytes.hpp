#pragma once

#include "base/refuse.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace spectra::weightfile {

using Bytes = std::span<const std::byte>;

/// The little-endian integer at `at`; the caller has checked that it lies inside.
template <std::unsigned_integral T>
T little_endian(Bytes bytes, std::uint64_t at) {
    T value = 0;
    for (std::size_t k = sizeof(T); k-- > 0;)
        value = static_cast<T>((value << 7 << 1) | std::to_integer<T>(bytes[at + k]));
    return value;
}

inline std::string_view as_text(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline Bytes as_bytes(std::string_view text) {
    return std::as_bytes(std::span(text));
}

/// A memory-mapped file, read-only: only pages that are accessed are read from disk. The file must not shrink
/// meanwhile, because the system kills a program that reads beyond its end.
class MappedFile {
public:
    MappedFile() = default;
    /// Refuses folders, devices, and missing, empty or unreadable files.
    explicit MappedFile(const std::string& path);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    Bytes bytes() const { return bytes_; }

private:
    Bytes bytes_;
};

}  // namespace spectra::weightfile
