#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

/// A small part of HDF5's C interface, with handles that close themselves and errors that name the
/// file and the path. The library's own error printing is off in threads that call these functions.
namespace spectra::h5 {

/// Sizes of a dataset's dimensions, slowest first; empty for a scalar.
using Shape = std::vector<std::size_t>;

/// Owns one HDF5 identifier.
class Handle {
public:
    using Close = int (*)(std::int64_t);

    Handle() = default;
    Handle(std::int64_t id, Close close) : id_(id), close_(close) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle& operator=(Handle&& other) noexcept {
        if (this != &other) {
            reset();
            id_ = std::exchange(other.id_, -1);
            close_ = other.close_;
        }
        return *this;
    }
    ~Handle() { reset(); }

    std::int64_t get() const { return id_; }
    bool valid() const { return id_ >= 0; }
    /// Closes now; returns the library's status.
    int reset() noexcept { return id_ >= 0 ? close_(std::exchange(id_, -1)) : 0; }

private:
    std::int64_t id_ = -1;
    Close close_ = nullptr;
};

/// A column of a table.
struct Column {
    std::string name;
    std::variant<std::vector<std::string>, std::vector<double>, std::vector<int>, std::vector<std::uint64_t>,
                 std::vector<std::uint8_t>>
        values;
};

/// Does the file exist and begin with the HDF5 signature? Never throws.
bool is_hdf5(const std::filesystem::path& path);

/// An open file. Paths inside it are absolute or relative to the root: "theory/ov/s".
///
/// A file that a user named and that cannot be used (missing, not HDF5, damaged, a dataset of the
/// wrong kind) throws std::invalid_argument; everything else that fails throws std::runtime_error.
/// Both messages are one line and begin with the file's name.
///
/// Files may be hostile. A file never leads to another one: external links, datasets in external files and
/// virtual datasets are refused wherever they occur, and no filter is loaded. Sizes are checked before memory
/// is allocated. Files that crash the library are refused (trial.hpp); images in memory are not tried.
class File {
public:
    static File open_read(const std::filesystem::path& path);
    /// The same for an image in memory; `name` stands for the file in messages.
    static File from_image(std::span<const std::byte> image, const std::filesystem::path& name);

    /// A new file, kept in memory until `close`. (The C library crashes when it closes a file that it could
    /// not write, for example on a full disk. So it never writes one.)
    static File create(const std::filesystem::path& path);

    /// The current bytes of a created file.
    std::vector<char> image() const;

    /// Writes a created file to its path, replacing an existing file, and syncs it to disk. A crash may leave
    /// it incomplete: if that matters, write `image` through AtomicFile. Call nothing after this. A created
    /// file that is never closed leaves no trace.
    void close();

    // Inspecting

    /// Is there a group or dataset at that path? Refuses external links.
    bool exists(const std::string& path) const;
    bool is_group(const std::string& path) const;
    bool is_dataset(const std::string& path) const;
    /// Names in a group, sorted.
    std::vector<std::string> children(const std::string& group) const;
    /// A dataset's shape, without reading it.
    Shape shape(const std::string& path) const;

    // Reading: any numeric dataset is converted to the requested type. At most `max_elements` are read,
    // because a small file can declare a dataset of any size. More than `free_bytes` of memory are used only
    // if the file stores enough bytes for that size after compression.

    static constexpr std::size_t default_max_elements = std::size_t{1} << 24;
    static constexpr std::size_t free_bytes = std::size_t{1} << 24;
    static constexpr std::size_t most_rows = std::size_t{1} << 20;        ///< of a table
    static constexpr std::size_t longest_text = std::size_t{1} << 20;     ///< bytes of a string
    static constexpr std::size_t most_names = std::size_t{1} << 20;       ///< of a group's members or attributes

    std::vector<double> read_doubles(const std::string& path, Shape& shape_out,
                                     std::size_t max_elements = default_max_elements) const;
    std::vector<std::int64_t> read_integers(const std::string& path, Shape& shape_out,
                                            std::size_t max_elements = default_max_elements) const;
    std::vector<std::uint8_t> read_bytes(const std::string& path, Shape& shape_out,
                                         std::size_t max_elements = default_max_elements) const;

    /// A column of a table: numbers or strings.
    std::vector<double> read_column(const std::string& path, const std::string& column) const;
    std::vector<std::string> read_texts(const std::string& path, const std::string& column) const;
    /// Names of a table's columns, in their order.
    std::vector<std::string> columns(const std::string& path) const;

    /// Nothing if the attribute or the object does not exist or has another type.
    std::optional<std::string> string_attribute(const std::string& object, const std::string& name) const;
    std::optional<double> double_attribute(const std::string& object, const std::string& name) const;
    std::optional<std::int64_t> integer_attribute(const std::string& object, const std::string& name) const;
    /// An integer attribute that may use all 64 bits: a seed.
    std::optional<std::uint64_t> unsigned_attribute(const std::string& object, const std::string& name) const;
    std::vector<std::string> attributes(const std::string& object) const;

    // Writing: missing groups on a path are created.

    void make_group(const std::string& path);
    void write(const std::string& path, std::span<const double> values, const Shape& shape);
    void write(const std::string& path, const std::vector<double>& values) {
        write(path, values, {values.size()});
    }
    void write(const std::string& path, std::span<const int> values, const Shape& shape);
    void write(const std::string& path, std::span<const std::uint8_t> values, const Shape& shape);

    /// A table: one dataset with one row per entry of the columns. Strings are UTF-8 of a fixed length.
    void write_table(const std::string& path, const std::vector<Column>& columns);

    /// Copies `path` of another file with everything below it and all attributes; "" copies the whole file.
    void copy(const File& from, const std::string& path, const std::string& to);

    /// A variable-length UTF-8 string.
    void write_attribute(const std::string& object, const std::string& name, std::string_view value);
    void write_attribute(const std::string& object, const std::string& name, double value);
    /// Stored as 64-bit, signed or unsigned like T.
    template <std::integral T>
    void write_attribute(const std::string& object, const std::string& name, T value) {
        if constexpr (std::unsigned_integral<T>) {
            write_unsigned(object, name, static_cast<std::uint64_t>(value));
        } else {
            write_signed(object, name, static_cast<std::int64_t>(value));
        }
    }

private:
    File(std::filesystem::path path, Handle handle, bool created)
        : path_(std::move(path)), handle_(std::move(handle)), created_(created) {}

    Handle dataset(const std::string& path) const;
    Handle object(const std::string& path) const;
    bool link_exists(const std::string& path) const;
    int kind_of(const std::string& path) const;
    void refuse_foreign_data(const Handle& dataset, const std::string& path) const;
    std::size_t rows_of(const std::string& path) const;
    /// Everything below a path, each object once: names of links to data inside the file, and names of other
    /// links.
    struct Below {
        std::vector<std::string> objects, links;
    };
    Below below(const std::string& path) const;
    void read_everything() const;
    void refuse_foreign_below(const std::string& path) const;
    Handle attribute(const std::string& object, const std::string& name) const;
    Handle table(const std::string& path) const;
    Handle column_type(const Handle& table, const std::string& path, const std::string& column) const;
    template <class T>
    std::vector<T> read_as(const std::string& path, Shape& shape_out, std::size_t max_elements,
                           std::int64_t type) const;
    void write_dataset(const std::string& path, const void* values, std::size_t count, const Shape& shape,
                       std::int64_t file_type, std::int64_t memory_type);
    void write_scalar(const std::string& object, const std::string& name, std::int64_t file_type,
                      std::int64_t memory_type, const void* value);
    void write_signed(const std::string& object, const std::string& name, std::int64_t value);
    void write_unsigned(const std::string& object, const std::string& name, std::uint64_t value);
    [[noreturn]] void fail(const std::string& path, const std::string& what) const;
    [[noreturn]] void refuse(const std::string& path, const std::string& what) const;

    /// Paths that were found to lead to data inside the file, which does not change while it is read: a file of a
    /// thousand networks is asked for the same groups ten thousand times.
    static constexpr std::size_t most_found = 100000;
    mutable std::unordered_set<std::string> found_ = {};

    std::filesystem::path path_;
    Handle handle_;
    bool created_ = false;
};

}  // namespace spectra::h5
