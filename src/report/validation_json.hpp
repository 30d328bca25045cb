#pragma once

#include "validation/validation.hpp"

#include <nlohmann/json_fwd.hpp>

namespace spectra::validation {

/// What to_json (validation_report.hpp) writes, before it is text. Apart from that header, which is public and must not
/// ask users for a JSON library.
nlohmann::ordered_json validation_json(const Validation& validation);

}  // namespace spectra::validation
