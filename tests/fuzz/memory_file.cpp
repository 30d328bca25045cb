#include "h5/file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>

/// h5::File without the C library: a tree in memory that behaves as h5/file.cpp does for what its own functions wrote
/// (the test fuzz.memory_file compares the two). libFuzzer's targets are linked with it, because our readers, not the library,
/// are what they test, and creating an HDF5 file takes a hundred times as long as reading what it holds.
namespace spectra::h5 {
namespace {

using Numbers = std::variant<std::vector<double>, std::vector<int>, std::vector<std::uint8_t>>;
using Attribute = std::variant<std::string, double, std::int64_t, std::uint64_t>;

struct Node {
    std::optional<Numbers> numbers;  ///< of a dataset; a group has none
    Shape shape;
    std::map<std::string, Attribute> attributes;
};

/// Paths have no slash at either end; the root is the empty one.
using Tree = std::map<std::string, Node>;

std::map<std::int64_t, Tree>& trees() {
    static std::map<std::int64_t, Tree> all;
    return all;
}

int forget(std::int64_t id) {
    return trees().erase(id) == 1 ? 0 : -1;
}

/// C strings end at the first zero.
std::string c_string(std::string_view text) {
    return std::string(text.substr(0, text.find('\0')));
}

/// As the library reads a path: repeated slashes are one, and a dot is the group itself.
std::string clean(const std::string& text) {
    const std::string path = c_string(text);
    std::string out;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const auto name = path.substr(begin, end - begin);
        if (!name.empty() && name != ".") out += (out.empty() ? "" : "/") + name;
        begin = end + 1;
    }
    return out;
}

std::string parent(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

const Node* find(std::int64_t id, const std::string& path) {
    const auto& tree = trees().at(id);
    const auto found = tree.find(clean(path));
    return found == tree.end() ? nullptr : &found->second;
}

/// As the library converts: to the nearest number that the type has.
template <class To, class From>
To converted(From value) {
    if constexpr (std::is_floating_point_v<To>) {
        return static_cast<To>(value);
    } else if constexpr (std::is_floating_point_v<From>) {
        if (std::isnan(value)) return 0;
        if (value >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
        if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
        return static_cast<To>(value);
    } else {
        if (std::cmp_greater(value, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
        if (std::cmp_less(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
        return static_cast<To>(value);
    }
}

template <class T>
std::optional<T> integer(const Node* node, const std::string& name) {
    if (node == nullptr || !node->attributes.contains(name)) return std::nullopt;
    const auto& value = node->attributes.at(name);
    if (const auto* found = std::get_if<std::int64_t>(&value)) return converted<T>(*found);
    if (const auto* found = std::get_if<std::uint64_t>(&value)) return converted<T>(*found);
    return std::nullopt;
}

}  // namespace

bool is_hdf5(const std::filesystem::path&) {
    return false;
}

File File::open_read(const std::filesystem::path& path) {
    throw std::invalid_argument(path.string() + ": only files in memory can be read here");
}

File File::from_image(std::span<const std::byte>, const std::filesystem::path& name) {
    return open_read(name);
}

File File::create(const std::filesystem::path& path) {
    static std::int64_t next = 0;
    trees()[++next][""] = {};
    return {path, Handle(next, forget), true};
}

std::vector<char> File::image() const {
    throw std::logic_error("a file in memory has no image here");
}

void File::close() {
    handle_.reset();
}

bool File::exists(const std::string& path) const {
    return find(handle_.get(), path) != nullptr;
}

bool File::is_group(const std::string& path) const {
    const auto* node = find(handle_.get(), path);
    return node != nullptr && !node->numbers;
}

bool File::is_dataset(const std::string& path) const {
    const auto* node = find(handle_.get(), path);
    return node != nullptr && node->numbers;
}

std::vector<std::string> File::children(const std::string& group) const {
    std::vector<std::string> names;
    if (!is_group(group)) return names;
    const auto inside = clean(group);
    for (const auto& [path, node] : trees().at(handle_.get())) {
        if (!path.empty() && parent(path) == inside)
            names.push_back(inside.empty() ? path : path.substr(inside.size() + 1));
    }
    return names;
}

Shape File::shape(const std::string& path) const {
    if (!exists(path)) refuse(path, "no such dataset");
    if (!is_dataset(path)) refuse(path, "not a dataset");
    return find(handle_.get(), path)->shape;
}

template <class T>
std::vector<T> File::read_as(const std::string& path, Shape& shape_out, std::size_t max_elements,
                             std::int64_t) const {
    shape_out = shape(path);
    return std::visit(
        [&](const auto& stored) {
            if (stored.size() > max_elements)
                refuse(path, "too large to read: more than " + std::to_string(max_elements) + " numbers");
            std::vector<T> values;
            for (const auto value : stored) values.push_back(converted<T>(value));
            return values;
        },
        *find(handle_.get(), path)->numbers);
}

std::vector<double> File::read_doubles(const std::string& path, Shape& shape_out,
                                       std::size_t max_elements) const {
    return read_as<double>(path, shape_out, max_elements, 0);
}

std::vector<std::int64_t> File::read_integers(const std::string& path, Shape& shape_out,
                                              std::size_t max_elements) const {
    return read_as<std::int64_t>(path, shape_out, max_elements, 0);
}

std::vector<std::uint8_t> File::read_bytes(const std::string& path, Shape& shape_out,
                                           std::size_t max_elements) const {
    return read_as<std::uint8_t>(path, shape_out, max_elements, 0);
}

std::vector<std::string> File::columns(const std::string& path) const {
    (void)shape(path);
    refuse(path, "not a table");
}

std::vector<double> File::read_column(const std::string& path, const std::string&) const {
    (void)columns(path);
    return {};
}

std::vector<std::string> File::read_texts(const std::string& path, const std::string&) const {
    return columns(path);
}

std::optional<std::string> File::string_attribute(const std::string& owner, const std::string& name) const {
    const auto* node = find(handle_.get(), owner);
    if (node == nullptr || !node->attributes.contains(name)) return std::nullopt;
    const auto* text = std::get_if<std::string>(&node->attributes.at(name));
    return text == nullptr ? std::nullopt : std::optional(*text);
}

std::optional<double> File::double_attribute(const std::string& owner, const std::string& name) const {
    const auto* node = find(handle_.get(), owner);
    if (node == nullptr || !node->attributes.contains(name)) return std::nullopt;
    return std::visit(
        [](const auto& value) -> std::optional<double> {
            if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) return converted<double>(value);
            return std::nullopt;
        },
        node->attributes.at(name));
}

std::optional<std::int64_t> File::integer_attribute(const std::string& owner, const std::string& name) const {
    return integer<std::int64_t>(find(handle_.get(), owner), name);
}

std::optional<std::uint64_t> File::unsigned_attribute(const std::string& owner, const std::string& name) const {
    return integer<std::uint64_t>(find(handle_.get(), owner), name);
}

std::vector<std::string> File::attributes(const std::string& owner) const {
    std::vector<std::string> names;
    if (const auto* node = find(handle_.get(), owner))
        for (const auto& [name, value] : node->attributes) names.push_back(name);
    return names;
}

void File::make_group(const std::string& path) {
    const auto whole = clean(path);
    if (is_group(whole)) return;
    if (exists(whole)) fail(path, "group cannot be created");
    make_group(parent(whole));
    trees().at(handle_.get())[whole] = {};
}

void File::write(const std::string& path, std::span<const double> values, const Shape& shape) {
    const auto whole = clean(path);
    if (exists(whole)) fail(path, "dataset cannot be created");
    make_group(parent(whole));
    trees().at(handle_.get())[whole] = {std::vector<double>(values.begin(), values.end()), shape, {}};
}

void File::write(const std::string& path, std::span<const int> values, const Shape& shape) {
    write(path, std::span<const double>{}, shape);
    trees().at(handle_.get())[clean(path)].numbers = std::vector<int>(values.begin(), values.end());
}

void File::write(const std::string& path, std::span<const std::uint8_t> values, const Shape& shape) {
    write(path, std::span<const double>{}, shape);
    trees().at(handle_.get())[clean(path)].numbers = std::vector<std::uint8_t>(values.begin(), values.end());
}

void File::write_table(const std::string& path, const std::vector<Column>&) {
    fail(path, "tables cannot be written here");
}

void File::copy(const File&, const std::string& path, const std::string&) {
    fail(path, "objects cannot be copied here");
}

void File::write_scalar(const std::string& owner, const std::string& name, std::int64_t, std::int64_t,
                        const void* value) {
    auto& tree = trees().at(handle_.get());
    const auto found = tree.find(clean(owner));
    if (found == tree.end() || c_string(name).empty()) fail(owner + " @" + name, "attribute cannot be written");
    found->second.attributes[c_string(name)] = *static_cast<const Attribute*>(value);
}

void File::write_attribute(const std::string& owner, const std::string& name, std::string_view value) {
    const Attribute text = c_string(value);
    write_scalar(owner, name, 0, 0, &text);
}

void File::write_attribute(const std::string& owner, const std::string& name, double value) {
    const Attribute number = value;
    write_scalar(owner, name, 0, 0, &number);
}

void File::write_signed(const std::string& owner, const std::string& name, std::int64_t value) {
    const Attribute number = value;
    write_scalar(owner, name, 0, 0, &number);
}

void File::write_unsigned(const std::string& owner, const std::string& name, std::uint64_t value) {
    const Attribute number = value;
    write_scalar(owner, name, 0, 0, &number);
}

void File::fail(const std::string& path, const std::string& what) const {
    throw std::runtime_error(path_.string() + ": " + (path.empty() ? "/" : path) + ": " + what);
}

void File::refuse(const std::string& path, const std::string& what) const {
    throw std::invalid_argument(path_.string() + ": " + (path.empty() ? "/" : path) + ": " + what);
}

}  // namespace spectra::h5
