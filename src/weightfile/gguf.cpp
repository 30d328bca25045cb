#include "weightfile/gguf.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <optional>
#include <utility>

namespace spectra::weightfile {
namespace {

constexpr std::string_view magic = "GGUF";
constexpr std::uint64_t most_entries = std::uint64_t{1} << 20, longest_text = std::uint64_t{1} << 20;
constexpr std::uint32_t most_sizes = 4;

/// Types of metadata, by number.
enum class Type : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, array, u64, i64, f64 };

std::uint64_t size_of(Type type) {
    switch (type) {
        case Type::u8:
        case Type::i8:
        case Type::boolean:
            return 1;
        case Type::u16:
        case Type::i16:
            return 2;
        case Type::u32:
        case Type::i32:
        case Type::f32:
            return 4;
        case Type::u64:
        case Type::i64:
        case Type::f64:
            return 8;
        default:
            return 0;
    }
}

/// Types of tensors whose elements lie one by one; others are in blocks.
std::optional<Dtype> dtype_of(std::uint32_t type) {
    switch (type) {
        case 0:
            return Dtype::f32;
        case 1:
            return Dtype::f16;
        case 24:
            return Dtype::i8;
        case 25:
            return Dtype::i16;
        case 26:
            return Dtype::i32;
        case 27:
            return Dtype::i64;
        case 28:
            return Dtype::f64;
        case 30:
            return Dtype::bf16;
        default:
            return std::nullopt;
    }
}

/// Reads from the front of a file, and never beyond its end.
class Cursor {
public:
    Cursor(Bytes file, const std::string& where) : file_(file), where_(where) {}

    std::uint64_t place() const { return at_; }

    Bytes take(std::uint64_t count) {
        if (count > file_.size() - at_)
            refuse(where_, fmt::format("ends inside its header, at byte {}", file_.size()));
        const Bytes taken = file_.subspan(at_, count);
        at_ += count;
        return taken;
    }

    template <std::unsigned_integral T>
    T number() {
        return little_endian<T>(take(sizeof(T)), 0);
    }

    std::string text(const char* what) {
        const auto length = number<std::uint64_t>();
        if (length > longest_text)
            refuse(where_, fmt::format("{} of {} bytes; must be at most {}", what, length, longest_text));
        return std::string(as_text(take(length)));
    }

    void skip(Type type, std::uint64_t count) {
        const std::uint64_t size = size_of(type);
        std::uint64_t bytes = 0;
        if (__builtin_mul_overflow(size, count, &bytes)) refuse(where_, "an array is larger than the file");
        take(bytes);
    }

private:
    Bytes file_;
    const std::string& where_;
    std::uint64_t at_ = 0;
};

Type type_of(std::uint32_t number, const std::string& key, const std::string& where) {
    if (number > static_cast<std::uint32_t>(Type::f64))
        refuse(where,
               fmt::format("{}: unknown type {} of metadata; must be 0 to 12", in_quotes(key), number));
    return static_cast<Type>(number);
}

void skip_array(Cursor& in, const std::string& key, const std::string& where) {
    const auto type = type_of(in.number<std::uint32_t>(), key, where);
    const auto count = in.number<std::uint64_t>();
    if (type == Type::array)
        refuse(where, fmt::format("{}: arrays of arrays are not supported", in_quotes(key)));
    if (type != Type::text) {
        in.skip(type, count);
        return;
    }
    for (std::uint64_t k = 0; k < count; ++k)
        in.text("a text");  // each takes eight bytes of the file at least
}

/// A number of metadata; the sign is that of its type.
std::int64_t integer_of(Cursor& in, Type type) {
    switch (type) {
        case Type::u8:
            return in.number<std::uint8_t>();
        case Type::i8:
            return static_cast<std::int8_t>(in.number<std::uint8_t>());
        case Type::u16:
            return in.number<std::uint16_t>();
        case Type::i16:
            return static_cast<std::int16_t>(in.number<std::uint16_t>());
        case Type::u32:
            return in.number<std::uint32_t>();
        case Type::i32:
            return static_cast<std::int32_t>(in.number<std::uint32_t>());
        default:
            return static_cast<std::int64_t>(in.number<std::uint64_t>());
    }
}

/// Nothing for an array.
std::optional<Object> value_of(Cursor& in, const std::string& key, const std::string& where) {
    const auto type = type_of(in.number<std::uint32_t>(), key, where);
    if (type == Type::array) {
        skip_array(in, key, where);
        return std::nullopt;
    }
    if (type == Type::text) return Object(in.text("a text"));
    if (type == Type::boolean) return Object(in.number<std::uint8_t>() != 0);
    if (type == Type::f32) return Object(double{std::bit_cast<float>(in.number<std::uint32_t>())});
    if (type == Type::f64) return Object(std::bit_cast<double>(in.number<std::uint64_t>()));
    return Object(integer_of(in, type));
}

Objects read_metadata(Cursor& in, std::uint64_t count, const std::string& where) {
    Objects objects;
    objects.all.emplace_back(Dict{});
    Dict dict;
    for (std::uint64_t k = 0; k < count; ++k) {
        auto key = in.text("a key");
        auto value = value_of(in, key, where);
        if (!value) continue;
        objects.all.emplace_back(std::move(key));
        objects.all.push_back(std::move(*value));
        const auto last = static_cast<ObjectId>(objects.all.size() - 1);
        dict.items.emplace_back(last - 1, last);
    }
    objects.all.front() = std::move(dict);
    return objects;
}

std::uint64_t alignment_of(const Objects& objects, const std::string& where) {
    const auto given = Value(objects, 0).find("general.alignment");
    const auto alignment = given ? given->integer().value_or(0) : 32;
    if (alignment < 1 || alignment > 1 << 20)
        refuse(where, fmt::format("'general.alignment' is {}; must be 1 to 1048576", alignment));
    return static_cast<std::uint64_t>(alignment);
}

/// A tensor and the number of bytes from the begin of the data to its own.
std::pair<Tensor, std::uint64_t> read_tensor(Cursor& in, const std::string& where) {
    Tensor tensor;
    tensor.key = in.text("a tensor's name");
    const auto sizes = in.number<std::uint32_t>();
    if (sizes > most_sizes)
        refuse(where, fmt::format("{} has {} dimensions; must have at most {}", in_quotes(tensor.key), sizes,
                                  most_sizes));
    for (std::uint32_t k = 0; k < sizes; ++k)
        tensor.shape.insert(tensor.shape.begin(), in.number<std::uint64_t>());
    tensor.dtype = dtype_of(in.number<std::uint32_t>()).value_or(Dtype::quantised);
    if (!element_count(tensor.shape)) refuse(where, fmt::format("{} is too large", in_quotes(tensor.key)));
    tensor.strides = row_major(tensor.shape);
    return {std::move(tensor), in.number<std::uint64_t>()};
}

/// Blocks have no size here: they are not read.
std::uint64_t byte_count(const Tensor& tensor, const std::string& where) {
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(element_count(tensor.shape).value(), bits(tensor.dtype) / 8, &bytes))
        refuse(where, fmt::format("{} is too large", in_quotes(tensor.key)));
    return bytes;
}

}  // namespace

bool looks_like_gguf(Bytes file) {
    return file.size() > magic.size() && as_text(file.first(magic.size())) == magic;
}

Contents read_gguf(Bytes file, const std::string& where) {
    Cursor in(file, where);
    in.take(magic.size());
    const auto version = in.number<std::uint32_t>();
    if (version != 2 && version != 3)
        refuse(where, fmt::format("is a GGUF file of version {}; must be 2 or 3, little-endian", version));
    const auto tensors = in.number<std::uint64_t>(), entries = in.number<std::uint64_t>();
    if (tensors > most_entries || entries > most_entries)
        refuse(where, fmt::format("has {} tensors and {} metadata; must have at most {} each", tensors,
                                  entries, most_entries));
    Contents contents;
    contents.objects = read_metadata(in, entries, where);
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t k = 0; k < tensors; ++k) {
        auto [tensor, offset] = read_tensor(in, where);
        contents.tensors.push_back(std::move(tensor));
        offsets.push_back(offset);
    }
    const auto alignment = alignment_of(contents.objects, where);
    const std::uint64_t begin = (in.place() + alignment - 1) / alignment * alignment;
    for (std::size_t k = 0; k < offsets.size(); ++k) {
        auto& tensor = contents.tensors[k];
        const std::uint64_t size = byte_count(tensor, where);
        if (begin > file.size() || offsets[k] > file.size() - begin ||
            size > file.size() - begin - offsets[k])
            refuse(where, fmt::format("{} lies outside the file, which has {} bytes", in_quotes(tensor.key),
                                      file.size()));
        tensor.storage = contents.storages.size();
        contents.storages.push_back({"", size, begin + offsets[k]});
    }
    return contents;
}

}  // namespace spectra::weightfile
