#pragma once

/// \file
/// What a weight file holds beside its tensors: dicts, lists, numbers and texts.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace spectra::weightfile {

/// \cond INTERNAL
struct Objects;  // objects.hpp
/// \endcond

/// What a file says beside its tensors: a look at one of its objects, good as long as the file is open.
class Value {
public:
    /// What an object can be.
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

    /// Object number `id` of a file; TensorFile::value() gives the first.
    Value(const Objects& objects, std::uint32_t id) : objects_(&objects), id_(id) {}

    /// What it is.
    Kind kind() const;

    /// Its value where it is a boolean, else nothing.
    std::optional<bool> boolean() const;
    /// Its value where it is an integer, else nothing.
    std::optional<std::int64_t> integer() const;
    /// Its value where it is a floating-point number or an integer, else nothing. Integers of more than 64
    /// bits are floating-point here.
    std::optional<double> number() const;
    /// Its value where it is a text, else nothing.
    std::optional<std::string_view> text() const;
    /// A dict's item by a key that is text; nothing where there is none.
    std::optional<Value> find(std::string_view key) const;

    /// Number of items of a list, tuple, set or dict; 0 for others.
    std::size_t size() const;
    /// Item k < size(); for a dict its value.
    Value item(std::size_t k) const;
    /// Key k < size() of a dict.
    Value key(std::size_t k) const;

    /// Its number in the file: equal for one object in two places.
    std::uint32_t id() const { return id_; }

private:
    const Objects* objects_;
    std::uint32_t id_;
};

/// "list", "text", … for messages.
std::string_view name(Value::Kind kind);

}  // namespace spectra::weightfile
