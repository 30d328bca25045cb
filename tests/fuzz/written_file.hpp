#pragma once

#include "h5/file.hpp"
#include "target.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <vector>

/// HDF5 from an input in one of two forms: an image, which tests the C library more than us; or lines that say what a
/// sound file holds, which reach what our readers make of it:
///
///     d theory/ov/log_s 2x1 -0.5 inf     a dataset of doubles (i: of ints, b: of bytes) of that shape
///     D theory/ov eta 0.1                an attribute, a double (I: signed, U: unsigned); / is the root
///     S network title any words          an attribute of text
///     g metrics                          a group
///
/// Lines that say nothing are skipped. Numbers that are missing are the last one again.
namespace spectra::fuzz {

inline bool is_image(const std::string& input) {
    return input.starts_with("\x89HDF\r\n\x1a\n");
}

/// Writes a line at a time.
class Writer {
public:
    explicit Writer(h5::File& file) : file_(file) {}

    void add(const std::string& line) {
        std::istringstream in(line);
        std::string kind, path, name, word;
        in >> kind >> path;
        if (path == "/") path.clear();
        if (kind == "g") file_.make_group(path);
        if (kind == "d") add_dataset<double>(path, in);
        if (kind == "i") add_dataset<int>(path, in);
        if (kind == "b") add_dataset<std::uint8_t>(path, in);
        in >> name;
        if (kind == "S" && std::getline(in >> std::ws, word)) file_.write_attribute(path, name, word);
        in >> word;
        if (kind == "D") add_attribute<double>(path, name, word);
        if (kind == "I") add_attribute<std::int64_t>(path, name, word);
        if (kind == "U") add_attribute<std::uint64_t>(path, name, word);
    }

private:
    template <class T>
    static std::optional<T> number(const std::string& word) {
        T value{};
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        return error == std::errc{} ? std::optional<T>(value) : std::nullopt;
    }

    template <class T>
    void add_attribute(const std::string& path, const std::string& name, const std::string& word) {
        if (const auto value = number<T>(word)) file_.write_attribute(path, name, *value);
    }

    template <class T>
    void add_dataset(const std::string& path, std::istringstream& in) {
        constexpr std::size_t most = 4096;
        std::string word;
        in >> word;
        std::replace(word.begin(), word.end(), 'x', ' ');
        h5::Shape shape;
        std::size_t count = 1;
        for (std::istringstream sizes(word); sizes >> word;) {
            shape.push_back(number<std::size_t>(word).value_or(0));
            if (shape.back() > most || (count *= shape.back()) > most) return;
        }
        std::vector<T> values;
        while (values.size() < count && in >> word) values.push_back(number<T>(word).value_or(T{}));
        values.resize(count, values.empty() ? T{} : values.back());
        file_.write(path, std::span<const T>(values), shape);
    }

    h5::File& file_;
};

/// What the lines say, in memory.
inline h5::File written_file(const std::string& lines) {
    auto file = h5::File::create("input");
    Writer writer(file);
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) {
        try {
            writer.add(line);
        } catch (const std::exception&) {  // what cannot be written will not be read
        }
    }
    return file;
}

inline h5::File open_hdf5(const std::uint8_t* data, std::size_t size) {
    const auto input = text(data, size);
    return is_image(input) ? h5::File::from_image(bytes(data, size), "input") : written_file(input);
}

}  // namespace spectra::fuzz
