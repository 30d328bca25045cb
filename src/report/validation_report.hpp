#pragma once

/// \file
/// A Validation as a result file, JSON text and a page for a person.

#include "report/report.hpp"
#include "validation/validation.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace spectra::validation {

/// STEM.h5: a result file (report/result_file.hpp) with the network of the full prediction at the first
/// input, its theory, metrics `measured` and `ov` and their agreement, and the group `trained`
/// (docs/result-file.md).
void write_validation_file(const Validation& validation, const report::Provenance& provenance,
                           const std::filesystem::path& path);

/// One JSON object, the one that `spectra validate --json` prints (docs/validation.md). What is not known is
/// null.
std::string to_json(const Validation& validation);

/// The validation as a page for a person, no line wider than `columns`. Escape codes only with `colour`,
/// characters beyond ASCII only with `unicode`.
std::string validation_page(const Validation& validation, int columns, bool colour, bool unicode);
/// Several checkpoints of one model as a table, one line per checkpoint.
std::string evolution_table(const std::vector<Validation>& validations);

}  // namespace spectra::validation
