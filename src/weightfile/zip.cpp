#include "weightfile/zip.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <numeric>
#include <optional>

namespace spectra::weightfile {
namespace {

// Records of the format: signature and length without names and extra fields.
constexpr std::uint32_t local_signature = 0x04034B50, entry_signature = 0x02014B50,
                        end_signature = 0x06054B50, end64_signature = 0x06064B50,
                        locator64_signature = 0x07064B50;
constexpr std::uint64_t local_length = 30, entry_length = 46, end_length = 22, end64_length = 56,
                        locator64_length = 20;
constexpr std::uint64_t longest_comment = 0xFFFF;
constexpr std::uint32_t in_extra_32 = 0xFFFFFFFF;
constexpr std::uint16_t in_extra_16 = 0xFFFF;

constexpr std::array<std::uint32_t, 256> crc_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t k = 0; k < 256; ++k) {
        std::uint32_t value = k;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
        table[k] = value;
    }
    return table;
}();

/// A record of the directory; reads stay inside it.
class Record {
public:
    Record(Bytes bytes, std::uint64_t at) : bytes_(bytes), at_(at) {}
    std::uint16_t u16(std::uint64_t offset) const {
        return little_endian<std::uint16_t>(bytes_, at_ + offset);
    }
    std::uint32_t u32(std::uint64_t offset) const {
        return little_endian<std::uint32_t>(bytes_, at_ + offset);
    }
    std::uint64_t u64(std::uint64_t offset) const {
        return little_endian<std::uint64_t>(bytes_, at_ + offset);
    }

private:
    Bytes bytes_;
    std::uint64_t at_;
};

bool holds(Bytes bytes, std::uint64_t at, std::uint64_t length) {
    return at <= bytes.size() && length <= bytes.size() - at;
}

bool has_signature(Bytes bytes, std::uint64_t at, std::uint64_t length, std::uint32_t signature) {
    return holds(bytes, at, length) && Record(bytes, at).u32(0) == signature;
}

/// The values of the 64-bit extra field, in order: one per 32-bit field that is all ones.
class Extra64 {
public:
    explicit Extra64(Bytes extra) {
        for (std::uint64_t at = 0; holds(extra, at, 4);) {
            const Record field(extra, at);
            if (!holds(extra, at + 4, field.u16(2))) return;
            if (field.u16(0) == 1) {
                values_ = extra.subspan(at + 4, field.u16(2));
                return;
            }
            at += std::uint64_t{4} + field.u16(2);
        }
    }
    std::optional<std::uint64_t> next() {
        if (values_.size() < 8) return std::nullopt;
        const auto value = little_endian<std::uint64_t>(values_, 0);
        values_ = values_.subspan(8);
        return value;
    }

private:
    Bytes values_;
};

bool leaves_its_folder(std::string_view name) {
    if (name.empty() || name.front() == '/' || name.find('\\') != name.npos || name.find('\0') != name.npos)
        return true;
    while (!name.empty()) {
        const auto length = std::min(name.find('/'), name.size());
        if (name.substr(0, length) == "..") return true;
        name.remove_prefix(std::min(length + 1, name.size()));
    }
    return false;
}

}  // namespace

std::uint32_t crc32(Bytes bytes) {
    std::uint32_t value = 0xFFFFFFFF;
    for (const std::byte b : bytes)
        value = (value >> 8) ^ crc_table[(value ^ std::to_integer<std::uint32_t>(b)) & 0xFFU];
    return ~value;
}

bool looks_like_zip(Bytes file) {
    return has_signature(file, 0, 4, local_signature);
}

ZipArchive::ZipArchive(Bytes file, std::string where) : file_(file), where_(std::move(where)) {
    const Directory directory = find_directory();
    read_directory(directory);
    set_limits(directory.begin);
    std::sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    check_names();
}

ZipArchive::Directory ZipArchive::find_directory() const {
    const std::uint64_t size = file_.size();
    if (size < end_length) refuse(where_, "is a truncated zip archive: it has no end record");
    const std::uint64_t last = size - end_length, first = last > longest_comment ? last - longest_comment : 0;
    for (std::uint64_t at = last + 1; at-- > first;) {
        if (!has_signature(file_, at, end_length, end_signature)) continue;
        const Record end(file_, at);
        if (at + end_length + end.u16(20) != size) continue;
        Directory found{end.u32(16), end.u32(16) + std::uint64_t{end.u32(12)}, end.u16(10)};
        std::uint64_t must_end = at;
        const std::uint64_t locator = at - std::min(at, locator64_length);
        if (has_signature(file_, locator, locator64_length, locator64_signature)) {
            found = directory_of_64_bits(locator);
            must_end = Record(file_, locator).u64(8);
        } else if (end.u16(4) != 0 || end.u16(6) != 0 || end.u16(8) != end.u16(10)) {
            refuse(where_, "is a split zip archive; must be one file");
        }
        if (found.begin > found.end || found.end != must_end)
            refuse(where_,
                   fmt::format(
                       "zip directory from byte {} to {} does not end where its end record begins, at {}",
                       found.begin, found.end, must_end));
        return found;
    }
    refuse(where_, "is a truncated zip archive: it has no end record");
}

ZipArchive::Directory ZipArchive::directory_of_64_bits(std::uint64_t locator) const {
    const std::uint64_t at = Record(file_, locator).u64(8);
    if (!has_signature(file_, at, end64_length, end64_signature) || at > locator ||
        Record(file_, at).u64(4) != locator - at - 12)
        refuse(where_, "is a damaged zip archive: its 64-bit end record is not where it should be");
    const Record end(file_, at);
    if (end.u32(16) != 0 || end.u32(20) != 0 || end.u64(24) != end.u64(32))
        refuse(where_, "is a split zip archive; must be one file");
    Directory found{end.u64(48), 0, end.u64(32)};
    if (__builtin_add_overflow(found.begin, end.u64(40), &found.end))
        refuse(where_, "is a damaged zip archive: its directory is larger than any file");
    return found;
}

void ZipArchive::read_directory(const Directory& directory) {
    const Bytes bytes = file_.first(directory.end);
    std::uint64_t at = directory.begin;
    for (std::uint64_t k = 0; k < directory.count; ++k) {
        if (!has_signature(bytes, at, entry_length, entry_signature))
            refuse(where_, fmt::format("is a damaged zip archive: entry {} of {} is not in its directory",
                                       k + 1, directory.count));
        const Record record(bytes, at);
        const std::uint64_t names = at + entry_length, extras = names + record.u16(28);
        if (!holds(bytes, extras, std::uint64_t{record.u16(30)} + record.u16(32)))
            refuse(where_, fmt::format("is a damaged zip archive: entry {} of {} exceeds its directory",
                                       k + 1, directory.count));
        ZipEntry entry{std::string(as_text(bytes.subspan(names, record.u16(28)))),
                       record.u32(42),
                       record.u32(24),
                       0,
                       0,
                       record.u32(16),
                       record.u16(10)};
        std::uint64_t packed = record.u32(20);
        Extra64 extra(bytes.subspan(extras, record.u16(30)));
        bool complete = true;
        for (std::uint64_t* value : {&entry.size, &packed, &entry.header}) {
            if (*value != in_extra_32) continue;
            const auto wide = extra.next();
            complete = complete && wide.has_value();
            *value = wide.value_or(0);
        }
        const std::string place = where_ + ": zip entry " + in_quotes(entry.name);
        if (!complete) refuse(place, "declares 64-bit sizes but has none");
        if ((record.u16(8) & 0x2041U) != 0) refuse(place, "is encrypted");
        if (record.u16(34) != 0 && record.u16(34) != in_extra_16)
            refuse(place, "is in another file of a split archive");
        if (entry.method == 0 && packed != entry.size)
            refuse(place, fmt::format("is stored uncompressed, but has {} bytes and {} in the archive",
                                      entry.size, packed));
        entry.unpacked_size = entry.size;
        entry.size = packed;
        entries_.push_back(std::move(entry));
        at = extras + record.u16(30) + record.u16(32);
    }
    if (at != directory.end)
        refuse(where_, fmt::format("is a damaged zip archive: its directory continues after entry {}",
                                   directory.count));
}

void ZipArchive::check_names() const {
    for (std::size_t k = 0; k < entries_.size(); ++k) {
        const std::string& name = entries_[k].name;
        if (leaves_its_folder(name))
            refuse(where_, fmt::format("zip entry {} is not a path inside the archive", in_quotes(name)));
        if (k > 0 && entries_[k - 1].name == name)
            refuse(where_, fmt::format("duplicate zip entry {}", in_quotes(name)));
    }
}

/// The length of the local header's extra field is unknown until the header is read. Until then, check
/// that every entry has at least room for header, name and bytes.
void ZipArchive::set_limits(std::uint64_t directory) {
    std::sort(entries_.begin(), entries_.end(),
              [](const auto& a, const auto& b) { return a.header < b.header; });
    for (std::size_t k = 0; k < entries_.size(); ++k) {
        ZipEntry& entry = entries_[k];
        entry.limit = k + 1 < entries_.size() ? std::min(entries_[k + 1].header, directory) : directory;
        const std::uint64_t fixed = local_length + entry.name.size();
        if (entry.header > entry.limit || fixed > entry.limit - entry.header ||
            entry.size > entry.limit - entry.header - fixed)
            refuse(where_, fmt::format("zip entry {} of {} bytes at byte {} overlaps what begins at byte {}",
                                       in_quotes(entry.name), entry.size, entry.header, entry.limit));
    }
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
    const auto found =
        std::lower_bound(entries_.begin(), entries_.end(), name,
                         [](const ZipEntry& entry, std::string_view other) { return entry.name < other; });
    return found != entries_.end() && found->name == name ? &*found : nullptr;
}

Bytes ZipArchive::packed(const ZipEntry& entry) const {
    const auto place = [&] { return where_ + ": zip entry " + in_quotes(entry.name); };
    if (!has_signature(file_, entry.header, local_length, local_signature))
        refuse(place(), "has no local header");
    const Record local(file_, entry.header);
    const std::uint64_t names = entry.header + local_length, begin = names + local.u16(26) + local.u16(28);
    if (!holds(file_, names, local.u16(26)) || as_text(file_.subspan(names, local.u16(26))) != entry.name ||
        local.u16(8) != entry.method)
        refuse(place(), "has a local header that contradicts the directory");
    if (begin > entry.limit || entry.size > entry.limit - begin)
        refuse(place(), fmt::format("of {} bytes at byte {} overlaps what begins at byte {}", entry.size,
                                    begin, entry.limit));
    return file_.subspan(begin, entry.size);
}

Bytes ZipArchive::bytes(const ZipEntry& entry) const {
    if (entry.method != 0)
        refuse(
            where_ + ": zip entry " + in_quotes(entry.name),
            fmt::format(
                "is compressed (method {}); entries must be stored uncompressed, as torch.save writes them",
                entry.method));
    return packed(entry);
}

void ZipArchive::check_sum(const ZipEntry& entry, Bytes content) const {
    if (entry.crc != 0 && crc32(content) != entry.crc)
        refuse(where_, fmt::format("zip entry {} is damaged: its checksum is {:08x}, not {:08x}",
                                   in_quotes(entry.name), crc32(content), entry.crc));
}

Bytes ZipArchive::checked_bytes(const ZipEntry& entry) const {
    const Bytes found = bytes(entry);
    check_sum(entry, found);
    return found;
}

std::string ZipArchive::unpacked(const ZipEntry& entry, std::uint64_t most) const {
    constexpr std::uint16_t deflated = 8;
    const std::string place = where_ + ": zip entry " + in_quotes(entry.name);
    if (entry.method != 0 && entry.method != deflated)
        refuse(place, fmt::format("is compressed by method {}; must be stored or deflated", entry.method));
    if (std::max(entry.size, entry.unpacked_size) > most)
        refuse(place, fmt::format("has {} bytes; must be at most {}", entry.unpacked_size, most));
    const Bytes from = packed(entry);
    std::string out;
    if (entry.method == 0) {
        out = as_text(from);
    } else {
        out.resize(entry.unpacked_size + 1);  // one more, to detect excess bytes
        z_stream stream{};
        if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
        stream.avail_in = static_cast<uInt>(from.size());
        stream.next_out = reinterpret_cast<Bytef*>(out.data());
        stream.avail_out = static_cast<uInt>(out.size());
        const int status = inflate(&stream, Z_FINISH);
        const bool whole = status == Z_STREAM_END && stream.total_out == entry.unpacked_size && stream.avail_in == 0;
        inflateEnd(&stream);
        if (!whole)
            refuse(place, fmt::format("does not unpack to the {} bytes it declares", entry.unpacked_size));
        out.pop_back();
    }
    check_sum(entry, as_bytes(out));
    return out;
}

}  // namespace spectra::weightfile
