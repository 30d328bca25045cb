#pragma once

#include "weightfile/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spectra::weightfile {

/// Place in Objects. Objects hold each other by place and not by pointer: a list may contain itself, and
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
/// In the order of the file. A later item of the same key counts.
struct Dict {
    std::vector<std::pair<ObjectId, ObjectId>> items;
};
/// Number of a tensor.
struct TensorPlace {
    std::size_t tensor = 0;
};
/// Number of a storage, and the dtype of its elements where it has one.
struct StoragePlace {
    std::size_t storage = 0;
    std::optional<Dtype> dtype;
};
/// A class of storages.
struct StorageType {
    std::optional<Dtype> dtype;
};
/// A function or class that a file may name; nothing of it is ever run, we know what its results are.
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

}  // namespace spectra::weightfile
