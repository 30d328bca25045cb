#pragma once

#include "report/report.hpp"
#include "validation/validation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace spectra::validation {

/// STEM.h5: a result file (report/result_file.hpp) with the network of the full prediction at the first
/// input, its theory, metrics `measured` and `ov` and their agreement, and the group `trained`
/// (docs/result-file.md).
void write_validation_file(const Validation& validation, const report::Provenance& provenance,
                           const std::filesystem::path& path);

nlohmann::ordered_json validation_json(const Validation& validation);

std::string validation_page(const Validation& validation, int columns, bool colour, bool unicode);
/// One line per checkpoint.
std::string evolution_table(const std::vector<Validation>& validations);

}  // namespace spectra::validation
