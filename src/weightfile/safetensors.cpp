#include "weightfile/safetensors.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace spectra::weightfile {
namespace {

using nlohmann::json;

// A tensor takes about a hundred bytes of the header, and six times that in memory.
constexpr std::uint64_t longest_header = 16 << 20;
constexpr std::uint64_t length_bytes = 8;

/// An entry of the header while it is read.
struct Entry {
    std::string key;
    Dtype dtype = Dtype::f32;
    Shape shape, data_offsets;
    bool has_dtype = false, has_shape = false, has_offsets = false;

    std::uint64_t begin() const { return data_offsets[0]; }
    std::uint64_t end() const { return data_offsets[1]; }
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Reads the header while it is parsed: objects of objects with arrays of sizes. Anything else is refused,
/// so that nothing nests deeper and only the entries are kept.
class Header : public nlohmann::json_sax<json> {
public:
    explicit Header(const std::string& where) : where_(where) {}

    std::vector<Entry> entries;
    Metadata metadata;

    bool null() override { unexpected("null"); }
    bool boolean(bool) override { unexpected("a boolean"); }
    bool number_integer(number_integer_t value) override { unexpected(std::to_string(value)); }
    bool number_float(number_float_t, const string_t& text) override { unexpected(in_quotes(text)); }
    bool binary(binary_t&) override { unexpected("binary"); }

    bool number_unsigned(number_unsigned_t value) override {
        if (array_ == nullptr) unexpected(std::to_string(value));
        if (array_->size() == most_dimensions)
            refuse(where_, fmt::format("{}: has more than {} numbers", place(), most_dimensions));
        array_->push_back(value);
        return true;
    }

    bool string(string_t& value) override {
        if (depth_ == 2 && in_metadata_) {
            metadata.emplace_back(field_, std::move(value));
        } else if (depth_ == 2 && field_ == "dtype" && array_ == nullptr) {
            set_dtype(value);
        } else {
            unexpected(in_quotes(value));
        }
        return true;
    }

    bool start_object(std::size_t) override {
        if (depth_ > 1 || array_ != nullptr) unexpected("an object");
        ++depth_;
        return true;
    }

    bool end_object() override {
        --depth_;
        if (depth_ == 1 && !in_metadata_) finish(entries.back());
        field_.clear();
        return true;
    }

    bool key(string_t& value) override {
        if (depth_ == 2) {
            field_ = std::move(value);
            return true;
        }
        in_metadata_ = value == "__metadata__";
        if (in_metadata_ && std::exchange(has_metadata_, true))
            refuse(where_, "header: duplicate '__metadata__'");
        if (!in_metadata_) entries.emplace_back().key = std::move(value);
        return true;
    }

    bool start_array(std::size_t) override {
        if (depth_ != 2 || in_metadata_ || array_ != nullptr) unexpected("an array");
        if (field_ != "shape" && field_ != "data_offsets") unexpected("an array");
        Entry& entry = entries.back();
        const bool is_shape = field_ == "shape";
        once(is_shape ? entry.has_shape : entry.has_offsets);
        array_ = is_shape ? &entry.shape : &entry.data_offsets;
        return true;
    }

    bool end_array() override {
        array_ = nullptr;
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        refuse(where_, fmt::format("header is not JSON at its byte {}", position));
    }

private:
    std::string place() const {
        if (depth_ == 0) return "header";
        const std::string entry =
            in_metadata_ ? "'__metadata__'" : in_quotes(entries.empty() ? "" : entries.back().key);
        return depth_ == 1 || field_.empty() ? entry : entry + ": " + in_quotes(field_);
    }

    [[noreturn]] void unexpected(const std::string& what) const {
        refuse(where_,
               fmt::format("{}: unexpected {} in the header; expected dtype, shape and data_offsets of a "
                           "tensor, or strings in __metadata__",
                           place(), what));
    }

    void once(bool& seen) const {
        if (std::exchange(seen, true)) refuse(where_, place() + ": duplicate field");
    }

    void set_dtype(const std::string& value) {
        Entry& entry = entries.back();
        once(entry.has_dtype);
        const auto dtype = dtype_from_safetensors(value);
        if (!dtype)
            refuse(where_,
                   fmt::format("{} {} is unknown; must be one of F64, F32, F16, BF16, F8_E4M3, F8_E5M2, "
                               "F8_E8M0, I64 to I8, U64 to U8, BOOL",
                               place(), in_quotes(value)));
        entry.dtype = *dtype;
    }

    void finish(const Entry& entry) const {
        const char* missing = !entry.has_dtype     ? "dtype"
                              : !entry.has_shape   ? "shape"
                              : !entry.has_offsets ? "data_offsets"
                                                   : "";
        if (*missing != '\0') refuse(where_, fmt::format("{}: has no {}", in_quotes(entry.key), missing));
        if (entry.data_offsets.size() != 2)
            refuse(where_, fmt::format("{}: data_offsets has {} numbers; must be [begin, end]",
                                       in_quotes(entry.key), entry.data_offsets.size()));
    }

    const std::string& where_;
    int depth_ = 0;
    bool in_metadata_ = false, has_metadata_ = false;
    std::string field_;
    Shape* array_ = nullptr;
};

/// Bytes of a tensor; nothing if they overflow or are not a whole number.
std::optional<std::uint64_t> byte_count(const Entry& entry) {
    auto count = element_count(entry.shape);
    std::uint64_t total = 0;
    if (!count || __builtin_mul_overflow(*count, bits(entry.dtype), &total) || total % 8 != 0)
        return std::nullopt;
    return total / 8;
}

void check_range(const Entry& entry, std::uint64_t data_size, const std::string& where) {
    const std::uint64_t begin = entry.begin(), end = entry.end();
    const auto place = [&] { return where + ": " + in_quotes(entry.key); };
    if (begin > end || end > data_size)
        refuse(place(), fmt::format("data_offsets [{}, {}] lie outside the data, which has {} bytes", begin,
                                    end, data_size));
    const auto size = byte_count(entry);
    if (size != end - begin)
        refuse(place(), fmt::format("shape [{}] of {} needs {} bytes, but data_offsets [{}, {}] have {}",
                                    fmt::join(entry.shape, ", "), name(entry.dtype),
                                    size ? std::to_string(*size) : "too many", begin, end, end - begin));
}

/// Checks that every range, sorted by position, begins where the one before ends.
void check_cover(const std::vector<Entry>& entries, std::uint64_t data_size, const std::string& where) {
    std::uint64_t reached = 0;
    for (const auto& entry : entries) {
        const std::uint64_t begin = entry.begin();
        if (begin != reached)
            refuse(where, fmt::format("{}: begins at byte {} of the data, {} the tensors before end at {}",
                                      in_quotes(entry.key), begin,
                                      begin < reached ? "but overlaps:" : "but leaves a gap:", reached));
        reached = entry.end();
    }
    if (reached != data_size)
        refuse(where, fmt::format("has {} bytes of data, but its tensors end at {}", data_size, reached));
}

void check_once(const Metadata& metadata, const std::string& where) {
    std::vector<std::string_view> keys;
    for (const auto& item : metadata) keys.push_back(item.first);
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice != keys.end())
        refuse(where, fmt::format("'__metadata__': duplicate key {}", in_quotes(*twice)));
}

Objects as_objects(const Metadata& metadata) {
    Objects objects;
    objects.all.emplace_back(Dict{});
    const auto add = [&](std::string text) {
        objects.all.emplace_back(std::move(text));
        return static_cast<ObjectId>(objects.all.size() - 1);
    };
    Dict dict;
    for (const auto& [key, value] : metadata) {
        const ObjectId first = add(key);
        dict.items.emplace_back(first, add(value));
    }
    objects.all.front() = std::move(dict);
    return objects;
}

}  // namespace

bool looks_like_safetensors(Bytes file) {
    return file.size() > length_bytes && file[length_bytes] == std::byte{'{'} &&
           little_endian<std::uint64_t>(file, 0) < (std::uint64_t{1} << 40);
}

Contents read_safetensors(Bytes file, const std::string& where) {
    if (file.size() < length_bytes)
        refuse(where, fmt::format("has {} bytes; a safetensors file begins with 8 bytes of header length",
                                  file.size()));
    const auto length = little_endian<std::uint64_t>(file, 0);
    if (length > longest_header)
        refuse(where, fmt::format("header of {} bytes; must be at most {}", length, longest_header));
    if (length > file.size() - length_bytes)
        refuse(where,
               fmt::format("header of {} bytes in a file of {}: the file is truncated", length, file.size()));
    const auto text = as_text(file.subspan(length_bytes, length));
    const Bytes data = file.subspan(length_bytes + length);

    Header header(where);
    json::sax_parse(text.begin(), text.end(), &header);
    for (const auto& entry : header.entries) check_range(entry, data.size(), where);
    std::stable_sort(header.entries.begin(), header.entries.end(), [](const Entry& a, const Entry& b) {
        return std::pair(a.begin(), a.end()) < std::pair(b.begin(), b.end());
    });
    check_cover(header.entries, data.size(), where);

    Contents contents;
    for (auto& entry : header.entries) {
        const std::uint64_t begin = entry.begin(), end = entry.end();
        contents.storages.push_back({"", end - begin, length_bytes + length + begin});
        Shape strides = row_major(entry.shape);
        contents.tensors.push_back({std::move(entry.key), entry.dtype, std::move(entry.shape),
                                    std::move(strides), 0, contents.storages.size() - 1});
    }
    check_once(header.metadata, where);
    contents.objects = as_objects(header.metadata);
    return contents;
}

}  // namespace spectra::weightfile
