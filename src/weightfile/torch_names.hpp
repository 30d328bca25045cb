#pragma once

#include "weightfile/unpickled.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace spectra::weightfile {

/// What `module.name` stands for; nothing where it is not a name that a pickle may ask for.
std::optional<Object> known_name(std::string_view module, std::string_view name);

/// What calling `function` with `arguments` (a tuple) gives, added to the objects where it is new.
ObjectId call(Unpickled& made, Function function, ObjectId arguments, const std::string& where);

/// The storage of a persistent id: ('storage', class, key, location, number of elements).
Object storage_of(Unpickled& made, ObjectId persistent_id, const std::string& where);

}  // namespace spectra::weightfile
