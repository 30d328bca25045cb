#pragma once

#include "validation/conform.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace spectra::validation {

/// The comparison of two implementations as a text page: what was compared, the differences, the findings, the verdict.
std::string conformity_page(const Conformity& conformity, const std::string& reference,
                            const std::string& candidate, int columns, bool colour, bool unicode);

/// The same as JSON: reference, candidate, conforms, scheme (null where it is none known), findings, notes, differences.
nlohmann::ordered_json conformity_json(const Conformity& conformity, const std::string& reference,
                                       const std::string& candidate);

}  // namespace spectra::validation
