#include "weightfile/npy.hpp"

#include "base/text.hpp"
#include "weightfile/zip.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>

namespace spectra::weightfile {
namespace {

constexpr std::string_view numpy_magic = "\x93NUMPY";
constexpr std::string_view npy_extension = ".npy";  // of an array in an archive
constexpr std::string_view accepted_types =
    "float16, float32, float64, integers and bool of up to 64 bits, complex64 or complex128";

/// What a header declares.
struct Header {
    std::optional<std::string> type;
    std::optional<bool> fortran_order;
    std::optional<Shape> shape;
};

/// Reads the header: a Python dict of a text, a truth value and a tuple of integers. Nothing is evaluated.
class HeaderParser {
public:
    HeaderParser(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

    Header parse() {
        Header header;
        expect('{');
        while (!take('}')) {
            const std::string key = quoted();
            expect(':');
            if (key == "descr") {
                set(header.type, key, type());
            } else if (key == "fortran_order") {
                set(header.fortran_order, key, truth());
            } else if (key == "shape") {
                set(header.shape, key, tuple());
            } else {
                refuse(where_, fmt::format("unknown key {} in the NumPy header; must be descr, fortran_order "
                                           "and shape",
                                           in_quotes(key)));
            }
            if (!take(',')) {
                expect('}');
                break;
            }
        }
        skip_blanks();
        if (!rest_.empty()) damaged("text after the closing brace");
        if (!header.type || !header.fortran_order || !header.shape)
            damaged("descr, fortran_order and shape must all be present");
        return header;
    }

private:
    [[noreturn]] void damaged(const std::string& what) const {
        refuse(where_, "damaged NumPy header: " + what);
    }
    void skip_blanks() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t'))
            rest_.remove_prefix(1);
    }
    bool take(char c) {
        skip_blanks();
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char c) {
        if (!take(c)) damaged(fmt::format("expected '{}' at {}", c, in_quotes(rest_.substr(0, 20))));
    }
    template <class T>
    void set(std::optional<T>& target, const std::string& key, T value) const {
        if (target) damaged("duplicate key " + in_quotes(key));
        target = std::move(value);
    }
    std::string quoted() {
        const char quote = take('\'') ? '\'' : '"';
        if (quote == '"') expect('"');
        const auto end = rest_.find(quote);
        if (end == rest_.npos) damaged("a text has no closing quote");
        std::string text(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        return text;
    }
    std::string type() {
        skip_blanks();
        if (rest_.starts_with('['))
            refuse(where_, fmt::format("is a structured array; must be {}", accepted_types));
        return quoted();
    }
    bool truth() {
        skip_blanks();
        for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
            if (!rest_.starts_with(word)) continue;
            rest_.remove_prefix(std::string_view(word).size());
            return value;
        }
        damaged("fortran_order must be True or False");
    }
    Shape tuple() {
        Shape shape;
        expect('(');
        while (!take(')')) {
            skip_blanks();
            std::uint64_t size = 0;
            const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
            if (error != std::errc{}) damaged("shape must be a tuple of sizes of up to 64 bits");
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            if (rest_.starts_with('L')) rest_.remove_prefix(1);  // a long of Python 2
            if (shape.size() == most_dimensions)
                refuse(where_, fmt::format("has more than {} dimensions", most_dimensions));
            shape.push_back(size);
            if (!take(',')) {
                expect(')');
                break;
            }
        }
        return shape;
    }

    std::string_view rest_;
    const std::string& where_;
};

struct ElementType {
    Dtype dtype;  ///< of the parts, where complex
    bool big_endian = false, complex = false, whole = false;
};

/// Of NumPy's name: '<f8' is a float of 8 bytes, the least significant first.
ElementType element_type(std::string_view type, const std::string& where) {
    struct Row {
        std::string_view name;
        Dtype dtype;
        bool complex = false;
    };
    constexpr std::array rows{Row{"f2", Dtype::f16},      Row{"f4", Dtype::f32},       Row{"f8", Dtype::f64},
                              Row{"i1", Dtype::i8},       Row{"i2", Dtype::i16},       Row{"i4", Dtype::i32},
                              Row{"i8", Dtype::i64},      Row{"u1", Dtype::u8},        Row{"u2", Dtype::u16},
                              Row{"u4", Dtype::u32},      Row{"u8", Dtype::u64},       Row{"b1", Dtype::boolean},
                              Row{"c8", Dtype::f32, true}, Row{"c16", Dtype::f64, true}};
    const char order = type.empty() ? '\0' : type.front();
    const bool ordered = order == '<' || order == '>' || order == '|' || order == '=';
    const std::string_view name = ordered ? type.substr(1) : type;
    if (name.starts_with('O'))
        refuse(where, fmt::format("is an object array, a pickle that would have to be executed; must be {}",
                                  accepted_types));
    const auto* const row =
        std::find_if(rows.begin(), rows.end(), [&](const Row& each) { return each.name == name; });
    if (row == rows.end() || !ordered)
        refuse(where, fmt::format("has unsupported dtype {}; must be {}", in_quotes(type), accepted_types));
    if (order == '|' && bits(row->dtype) > 8)
        refuse(where, fmt::format("dtype {} has no byte order; must begin with < or >", in_quotes(type)));
    const char kind = name.front();
    return {row->dtype, order == '>', row->complex, kind == 'i' || kind == 'u' || kind == 'b'};
}

Shape column_major(const Shape& shape) {
    Shape reversed(shape.rbegin(), shape.rend());
    Shape strides = row_major(reversed);
    std::reverse(strides.begin(), strides.end());
    return strides;
}

/// The header's text, and the bytes after it.
std::pair<std::string_view, Bytes> split_header(Bytes file, const std::string& where) {
    if (!looks_like_npy(file)) refuse(where, "is not a NumPy array: it does not begin as np.save writes it");
    const std::size_t fixed = numpy_magic.size() + 2;
    if (file.size() < fixed + 4) refuse(where, "is truncated inside the NumPy header");
    const auto major = std::to_integer<int>(file[numpy_magic.size()]),
               minor = std::to_integer<int>(file[numpy_magic.size() + 1]);
    if (major < 1 || major > 3 || minor != 0)
        refuse(where, fmt::format("has NumPy format {}.{}; must be 1.0, 2.0 or 3.0", major, minor));
    const std::size_t begin = fixed + (major == 1 ? 2 : 4);
    const std::size_t length = major == 1 ? little_endian<std::uint16_t>(file, fixed)
                                          : little_endian<std::uint32_t>(file, fixed);
    if (length > longest_numpy_header)
        refuse(where, fmt::format("has a NumPy header of {} bytes; must be at most {}", length, longest_numpy_header));
    if (length > file.size() - begin) refuse(where, "is truncated inside the NumPy header");
    return {as_text(file.subspan(begin, length)), file.subspan(begin + length)};
}

std::string array_names(const std::vector<std::string_view>& names) {
    constexpr std::size_t shown = 8;
    std::string list;
    for (std::size_t k = 0; k < std::min(shown, names.size()); ++k)
        list += (k > 0 ? ", " : "") + in_quotes(names[k]);
    return names.size() > shown ? fmt::format("{} and {} more", list, names.size() - shown) : list;
}

}  // namespace

std::string shape_text(const Shape& shape) {
    return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

bool looks_like_npy(Bytes file) {
    return as_text(file).starts_with(numpy_magic);
}

bool looks_like_npz(Bytes file) {
    if (!looks_like_zip(file)) return false;
    try {
        const ZipArchive archive(file, "");
        return std::any_of(archive.entries().begin(), archive.entries().end(),
                           [](const ZipEntry& entry) { return entry.name.ends_with(npy_extension); });
    } catch (const std::invalid_argument&) {
        return false;  // damaged
    }
}

bool is_numpy_file(const std::filesystem::path& path) {
    try {
        const MappedFile mapped(path.string());
        return looks_like_npy(mapped.bytes()) || looks_like_zip(mapped.bytes());
    } catch (const std::invalid_argument&) {
        return false;
    }
}

NumpyArray read_npy(Bytes file, const std::string& where) {
    const auto [text, content] = split_header(file, where);
    const Header header = HeaderParser(text, where).parse();
    const ElementType type = element_type(*header.type, where);
    const Shape& shape = *header.shape;
    const auto count = element_count(shape);
    const std::uint64_t parts = type.complex ? 2 : 1, width = bits(type.dtype) / 8 * parts;
    if (!count || *count > most_numpy_numbers / parts)
        refuse(where, fmt::format("has shape {}; must be at most {} elements", shape_text(shape),
                                  most_numpy_numbers / parts));
    if (content.size() != *count * width)
        refuse(where, fmt::format("has {} bytes after its NumPy header; shape {} of {} needs {}", content.size(),
                                  shape_text(shape), in_quotes(*header.type), *count * width));
    Tensor tensor;
    tensor.dtype = type.dtype;
    tensor.shape = shape;
    tensor.strides = *header.fortran_order ? column_major(shape) : row_major(shape);
    if (type.complex) {
        for (auto& stride : tensor.strides) stride *= 2;
        tensor.shape.push_back(2);
        tensor.strides.push_back(1);
    }
    NumpyArray array{shape, {}, type.complex, type.whole};
    if (*count > 0) array.values = widened<double>(tensor, content, type.big_endian);
    return array;
}

NumpyArray read_npz(Bytes file, const std::string& where, std::string_view wanted) {
    const ZipArchive archive(file, where);
    std::vector<std::string_view> names;
    for (const auto& entry : archive.entries())
        if (entry.name.ends_with(npy_extension))
            names.push_back(std::string_view(entry.name).substr(0, entry.name.size() - npy_extension.size()));
    if (names.empty())
        refuse(where, "is a zip archive without arrays; expected a .npz file of np.savez (for a weight file, use "
                      "`model`)");
    const bool present = std::find(names.begin(), names.end(), wanted) != names.end();
    if (!present && names.size() > 1)
        refuse(where, fmt::format("has {} arrays ({}), none of them called {}; name one so, or save it alone",
                                  names.size(), array_names(names), in_quotes(wanted)));
    const std::string name(present ? wanted : names.front());
    const std::uint64_t most = 8 * most_numpy_numbers + longest_numpy_header + numpy_magic.size() + 6;
    const std::string content = archive.unpacked(*archive.find(name + std::string(npy_extension)), most);
    return read_npy(as_bytes(content), where + ": " + in_quotes(name));
}

NumpyArray read_numpy(Bytes file, const std::string& where, std::string_view wanted) {
    return looks_like_zip(file) ? read_npz(file, where, wanted) : read_npy(file, where);
}

NumpyArray read_numpy_file(const std::filesystem::path& path, std::string_view wanted) {
    const MappedFile mapped(path.string());
    return read_numpy(mapped.bytes(), path.string(), wanted);
}

}  // namespace spectra::weightfile
