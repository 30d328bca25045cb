#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spectra {

/// A message between processes of one program, as bytes.
class ByteWriter {
public:
    template <class T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        append(&value, sizeof value);
    }
    void put(const std::string& text) {
        put(text.size());
        append(text.data(), text.size());
    }
    template <class T>
    void put_values(std::span<const T> values) {
        static_assert(std::is_trivially_copyable_v<T>);
        put(values.size());
        append(values.data(), values.size_bytes());
    }

    std::size_t size() const { return bytes_.size(); }
    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    void append(const void* data, std::size_t size) {
        const std::size_t before = bytes_.size();
        bytes_.resize(before + size);
        if (size > 0) std::memcpy(bytes_.data() + before, data, size);
    }

    std::vector<std::byte> bytes_;
};

/// Reads what a ByteWriter wrote, in the same order.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    T get() {
        T out;
        read(&out, sizeof out);
        return out;
    }
    std::string text() {
        std::string out(get<std::size_t>(), ' ');
        read(out.data(), out.size());
        return out;
    }
    template <class T>
    std::vector<T> values() {
        std::vector<T> out(get<std::size_t>());
        read(out.data(), out.size() * sizeof(T));
        return out;
    }
    bool at_end() const { return bytes_.empty(); }

private:
    void read(void* to, std::size_t size) {
        if (size > bytes_.size()) throw std::logic_error("truncated message between processes");
        if (size > 0) std::memcpy(to, bytes_.data(), size);
        bytes_ = bytes_.subspan(size);
    }

    std::span<const std::byte> bytes_;
};

}  // namespace spectra
