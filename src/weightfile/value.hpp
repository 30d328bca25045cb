#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace spectra::weightfile {

struct Objects;  // objects.hpp

/// What a file says beside its tensors: a look at one of its objects, good as long as the file stays
/// where it is.
class Value {
public:
    enum class Kind {
        none,
        boolean,
        integer,
        number,
        text,
        bytes,
        dtype,
        list,
        tuple,
        set,
        dict,
        tensor,
        other
    };

    Value(const Objects& objects, std::uint32_t id) : objects_(&objects), id_(id) {}

    Kind kind() const;

    // Nothing where it is of another kind.
    std::optional<bool> boolean() const;
    std::optional<std::int64_t> integer() const;
    /// A floating-point number, or an integer. Integers of more than 64 bits are floating-point here.
    std::optional<double> number() const;
    std::optional<std::string_view> text() const;
    /// Of a dict, by a key that is text.
    std::optional<Value> find(std::string_view key) const;

    /// Number of items of a list, tuple, set or dict; 0 for others.
    std::size_t size() const;
    /// Item k < size(); of a dict its value.
    Value item(std::size_t k) const;
    /// Key k < size() of a dict.
    Value key(std::size_t k) const;

    std::uint32_t id() const { return id_; }

private:
    const Objects* objects_;
    std::uint32_t id_;
};

/// "list", "text", … for messages.
std::string_view name(Value::Kind kind);

}  // namespace spectra::weightfile
