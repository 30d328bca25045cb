#pragma once

#include "weightfile/zip.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Weight files put together byte by byte: good ones, and such as no program would write.
namespace spectra::tests {

/// Least byte first.
inline std::string little(std::uint64_t value, int bytes) {
    std::string text;
    for (int k = 0; k < bytes; ++k) text += static_cast<char>((value >> (8 * k)) & 0xFFU);
    return text;
}

inline std::string safetensors(const std::string& header, const std::string& data = "") {
    return little(header.size(), 8) + header + data;
}

/// An entry of a zip archive; members other than name and bytes for archives that are wrong or unusual.
struct ZipPart {
    std::string name, bytes;
    std::uint16_t method = 0, flags = 0;
    std::uint64_t hole = 0;  ///< so many bytes that are not written come after `bytes`
    bool checksum = true;
};

/// The parts of a zip archive that are written, each with its place: between them are holes.
struct ZipImage {
    struct Piece {
        std::uint64_t at;
        std::string bytes;
    };
    std::vector<Piece> pieces;
    std::uint64_t size = 0;

    void add(const std::string& bytes) {
        pieces.push_back({size, bytes});
        size += bytes.size();
    }
    /// Without holes.
    std::string text() const {
        std::string all;
        for (const auto& piece : pieces) {
            all.resize(piece.at, '\0');
            all += piece.bytes;
        }
        return all;
    }
};

/// A zip archive; all of its directory in the 64-bit extension where `wide`.
inline ZipImage zip_image(const std::vector<ZipPart>& parts, bool wide = false) {
    ZipImage image;
    std::string directory;
    for (const auto& part : parts) {
        const std::uint64_t at = image.size, size = part.bytes.size() + part.hole;
        const std::uint32_t crc = part.checksum ? weightfile::crc32(weightfile::as_bytes(part.bytes)) : 0;
        const std::string common =
            little(part.flags, 2) + little(part.method, 2) + little(0, 4) + little(crc, 4);
        image.add("PK\x03\x04" + little(45, 2) + common + little(wide ? 0xFFFFFFFF : size, 4) +
                  little(wide ? 0xFFFFFFFF : size, 4) + little(part.name.size(), 2) + little(3, 2) +
                  part.name + "xyz");
        image.add(part.bytes);
        image.size += part.hole;
        const std::string extra =
            wide ? little(1, 2) + little(24, 2) + little(size, 8) + little(size, 8) + little(at, 8) : "";
        directory += "PK\x01\x02" + little(45, 2) + little(45, 2) + common +
                     little(wide ? 0xFFFFFFFF : size, 4) + little(wide ? 0xFFFFFFFF : size, 4) +
                     little(part.name.size(), 2) + little(extra.size(), 2) + little(0, 2) + little(0, 2) +
                     little(0, 6) + little(wide ? 0xFFFFFFFF : at, 4) + part.name + extra;
    }
    const std::uint64_t begin = image.size, count = parts.size();
    image.add(directory);
    const std::uint64_t end = image.size;
    if (wide) {
        image.add("PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) +
                  little(count, 8) + little(count, 8) + little(end - begin, 8) + little(begin, 8));
        image.add("PK\x06\x07" + little(0, 4) + little(end, 8) + little(1, 4));
    }
    image.add("PK\x05\x06" + little(0, 4) + little(wide ? 0xFFFF : count, 2) +
              little(wide ? 0xFFFF : count, 2) + little(wide ? 0xFFFFFFFF : end - begin, 4) +
              little(wide ? 0xFFFFFFFF : begin, 4) + little(0, 2));
    return image;
}

inline std::string zip(const std::vector<ZipPart>& parts, bool wide = false) {
    return zip_image(parts, wide).text();
}

/// Opcodes of protocol 2.
namespace pickled {

inline std::string text(std::string_view value) {
    return "X" + little(value.size(), 4) + std::string(value);
}
inline std::string integer(std::int64_t value) {
    return std::string("\x8A\x08") + little(static_cast<std::uint64_t>(value), 8);
}
inline std::string name(const std::string& module, const std::string& word) {
    return "c" + module + "\n" + word + "\n";
}
inline std::string tuple(const std::vector<std::int64_t>& values) {
    std::string items;
    for (const auto value : values) items += integer(value);
    return "(" + items + "t";
}
inline std::string storage(const std::string& type, const std::string& key, std::int64_t count) {
    return "(" + text("storage") + name("torch", type) + text(key) + text("cpu") + integer(count) + "tQ";
}
/// A tensor of the storage "0".
inline std::string tensor(std::int64_t count, const std::vector<std::int64_t>& shape,
                          const std::vector<std::int64_t>& strides, std::int64_t offset = 0,
                          const std::string& type = "FloatStorage") {
    return name("torch._utils", "_rebuild_tensor_v2") + "(" + storage(type, "0", count) + integer(offset) +
           tuple(shape) + tuple(strides) + "\x89" + name("collections", "OrderedDict") + ")RtR";
}
inline std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
    std::string all;
    for (const auto& [key, value] : items) all += text(key) + value;
    return "}(" + all + "u";
}
inline std::string whole(const std::string& value) {
    return "\x80\x02" + value + ".";
}

}  // namespace pickled

/// As torch.save lays it out.
inline std::string torch_file(const std::string& pickle, const std::string& storage = std::string(16, '\0'),
                              const std::vector<ZipPart>& more = {}) {
    std::vector<ZipPart> parts{
        {"archive/data.pkl", pickle}, {"archive/data/0", storage}, {"archive/version", "3\n"}};
    parts.insert(parts.end(), more.begin(), more.end());
    return zip(parts);
}

}  // namespace spectra::tests
