#pragma once

#include "weightfile/bytes.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spectra::weightfile {

/// A file in an archive, according to the central directory.
struct ZipEntry {
    std::string name;
    std::uint64_t header = 0;  ///< position of its local header
    std::uint64_t size = 0;    ///< of its bytes in the archive
    std::uint64_t unpacked_size = 0;
    std::uint64_t limit = 0;  ///< where the next entry or the directory begins: its bytes end before
    std::uint32_t crc = 0;
    std::uint16_t method = 0;  ///< 0: stored
};

/// Does it begin with the local header of an entry?
bool looks_like_zip(Bytes file);

/// A zip archive, with or without the 64-bit extension. Stored and deflated entries can be read. Entries must
/// not overlap, and their names must be unique and must not leave the folder of the archive. Encrypted and
/// split archives are refused. Opening reads only the directory at the end.
class ZipArchive {
public:
    ZipArchive() = default;
    ZipArchive(Bytes file, std::string where);

    /// Sorted by name.
    const std::vector<ZipEntry>& entries() const { return entries_; }
    /// Null if there is none.
    const ZipEntry* find(std::string_view name) const;
    /// The bytes of a stored entry.
    Bytes bytes(const ZipEntry& entry) const;
    /// The bytes of a stored or deflated entry (like TorchScript sources), with its checksum verified. At
    /// most `most` bytes: a small archive can declare any number.
    std::string unpacked(const ZipEntry& entry, std::uint64_t most) const;
    /// Like bytes(), with its checksum verified; a checksum of 0 was not computed (an option of torch.save).
    Bytes checked_bytes(const ZipEntry& entry) const;

private:
    /// The bytes in the archive, packed or not.
    Bytes packed(const ZipEntry& entry) const;
    void check_sum(const ZipEntry& entry, Bytes content) const;

    struct Directory {
        std::uint64_t begin = 0, end = 0, count = 0;
    };
    Directory find_directory() const;
    Directory directory_of_64_bits(std::uint64_t locator) const;
    void read_directory(const Directory& directory);
    void check_names() const;
    void set_limits(std::uint64_t directory);

    Bytes file_;
    std::string where_;
    std::vector<ZipEntry> entries_;
};

/// The checksum of zip archives: polynomial 0x04C11DB7, reflected.
std::uint32_t crc32(Bytes bytes);

}  // namespace spectra::weightfile
