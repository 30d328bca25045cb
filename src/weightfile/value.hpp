#pragma once

#include "weightfile/dtype.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace spectra::weightfile {

/// Index in Objects. Objects refer to each other by index, not by pointer: a list may contain itself, and
/// nothing here recurses.
using ObjectId = std::uint32_t;

struct None {};
struct ByteText {
    std::string bytes;
};
struct Sequence {
    enum class Kind : std::uint8_t { list, tuple, set } kind = Kind::list;
    std::vector<ObjectId> items;
};
/// In the order of the file. Of items with the same key the last one counts.
struct Dict {
    std::vector<std::pair<ObjectId, ObjectId>> items;
};
/// Number of a tensor.
struct TensorPlace {
    std::size_t tensor = 0;
};
/// Number of a storage, and the dtype of its elements if it has one.
struct StoragePlace {
    std::size_t storage = 0;
    std::optional<Dtype> dtype;
};
/// A class of storages.
struct StorageType {
    std::optional<Dtype> dtype;
};
/// A function or class that a file may name. It is never run; its results are known.
enum class Function : std::uint8_t {
    ordered_dict,
    set,
    bytes,
    encode,
    size,
    device,
    tensor_class,
    rebuild_tensor,
    rebuild_tensor_v2,
    rebuild_tensor_v3,
    rebuild_parameter,
    rebuild_parameter_with_state,
    rebuild_from_type,
    restore_type_tag,  ///< a value and the name of its type, from C++
};

using Object = std::variant<None, bool, std::int64_t, double, std::string, ByteText, Dtype, Sequence, Dict,
                            TensorPlace, StoragePlace, StorageType, Function>;

struct Objects {
    std::vector<Object> all;
    ObjectId root = 0;
};

/// A view of one object of a file, beside its tensors; valid as long as the file object exists and is not
/// moved.
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

    Value(const Objects& objects, ObjectId id) : objects_(&objects), id_(id) {}

    Kind kind() const;

    // Nothing if the object has another kind.
    std::optional<bool> boolean() const;
    std::optional<std::int64_t> integer() const;
    /// A floating-point number, or an integer. Integers of more than 64 bits are floating-point here.
    std::optional<double> number() const;
    std::optional<std::string_view> text() const;
    /// The item of a dict with a string key.
    std::optional<Value> find(std::string_view key) const;

    /// Number of items of a list, tuple, set or dict; 0 for others.
    std::size_t size() const;
    /// Item k < size(); for a dict its value.
    Value item(std::size_t k) const;
    /// Key k < size() of a dict.
    Value key(std::size_t k) const;

    ObjectId id() const { return id_; }

private:
    const Object& object() const { return objects_->all[id_]; }

    const Objects* objects_;
    ObjectId id_;
};

/// "list", "text", … for messages.
std::string_view name(Value::Kind kind);

}  // namespace spectra::weightfile
