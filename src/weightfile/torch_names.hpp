#pragma once

#include "weightfile/unpickled.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace spectra::weightfile {

/// The meaning of `module.name`; nothing if a pickle may not use that name.
std::optional<Object> known_name(std::string_view module, std::string_view name);

/// The result of calling `function` with `arguments` (a tuple); a new object is added to the objects.
ObjectId call(Unpickled& made, Function function, ObjectId arguments, const std::string& where);

/// The storage of a persistent id: ('storage', class, key, location, number of elements).
Object storage_of(Unpickled& made, ObjectId persistent_id, const std::string& where);

}  // namespace spectra::weightfile
