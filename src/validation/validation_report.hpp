#pragma once

#include "report/figure.hpp"
#include "report/report.hpp"
#include "validation/validation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace spectra::validation {

/// STEM.h5: a result file (report/result_file.hpp) with the network of the full prediction at the first
/// input, its theory, metrics `measured` and `ov` and their agreement, and
///
///     /trained            attributes file, layout, model, step, verdict, reasons, requirements, inputs
///         jacobian_singular_values, jacobian_log_singular_values   (inputs, N)
///         mixers (L,n,n), row_sums, column_sums (L,n), spectral_norms, orthogonality_defects,
///         identity_distances (L), pre, post (L,n)
///         branch_variance, branch_mixer_share, branch_core_variance, layer_wasserstein1 (L)
///         branch_singular_values (L,·), layer_singular_values (L,N): F_l and Y_l at the first input
///         composite_products (L,n,n), composite_column_sums (L,2: least, largest),
///         composite_spectral_norms (L)
///         predictions/<part>   attributes: metrics, wasserstein1, certified, doubt
void write_validation_file(const Validation& validation, const report::Provenance& provenance,
                           const std::filesystem::path& path);

/// Measured histogram and prediction on both scales; below them defects along the connections and singular
/// values of the mixers' product along the depth, where there are mixers.
report::Figure validation_figure(const Validation& validation);
/// Several checkpoints: metrics over their steps (or in the order given).
report::Figure evolution_figure(const std::vector<Validation>& validations);

nlohmann::ordered_json validation_json(const Validation& validation);

std::string validation_page(const Validation& validation, int columns, bool colour, bool unicode);
/// A line a checkpoint.
std::string evolution_table(const std::vector<Validation>& validations);

}  // namespace spectra::validation
