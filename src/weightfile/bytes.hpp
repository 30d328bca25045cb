#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace spectra::weightfile {

using Bytes = std::span<const std::byte>;

/// Throws std::invalid_argument: "where: what".
[[noreturn]] void refuse(const std::string& where, const std::string& what);

/// The integer at `at`, least byte first; the caller knows that it lies inside.
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

/// A file in memory, read-only: only pages that are looked at are read from the disk. The file must keep its
/// length meanwhile, as the system ends a program that looks beyond.
class MappedFile {
public:
    MappedFile() = default;
    /// Folders, devices, missing, empty and unreadable files are refused.
    explicit MappedFile(const std::string& path);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    Bytes bytes() const { return bytes_; }

private:
    Bytes bytes_;
};

}  // namespace spectra::weightfile
