#pragma once

/// \file
/// The result file: HDF5, format 1.
///
///     / attributes            format = "jacobian-spectra", format_version = 1, program_version, git,
///                             command, created, seed
///     /network                attributes streams, width, depth, mixer, branch, activation, title; `mixers`
///                             (L,n,n), `sigma2` (L), and the fields of branch_fields.hpp that apply
///     /theory/<method>        `s`, `log_s`, `density`, `density_log` (K), `g`, `omega` (K,2), `residual`,
///                             `iterations`, `certified` (K), `support` (m,2) and `atoms` (a,2: place, mass)
///                             in s; `log_support` and `log_atoms`, the same in ln s; attributes mass,
///                             mean_square, mass_below_range, eta, seconds and the rest of dyson::Summary;
///                             aligned branches: `outliers` (k,3: position, spread, number of values), where there are;
///                             if the points are the law's own grid: `weight`, `cumulative` (K), with Σ
///                             weight·density_log·f = ∫ f dF; otherwise (a user's grid, eta > 0): group
///                             `law` with `log_s`, `density_log`, `weight`, `cumulative` of the law itself
///     /theory/ov/sensitivity/<metric>   `sigma2` (L), `mixers` (L,n,n): derivatives with respect to them;
///                             attributes total_noise, certified
///     /theory/ov/sensitivity/largest    of aligned branches: `layer`, `triplet`, `value`, `elasticity` (one entry per
///                             kept triplet); attributes log_s, certified
///     /theory/ov/average      `log_s`, `density_log_mean`, `density_log_std` (cells in ln s); attributes
///                             draws, certified, mass_below_range; groups `mean` and `std` with the metrics
///     /depth_limit            `depth`, `share`, `certified` (K), `draws` (limits of other draws); attributes
///                             limit, reached, certified, keep, above, max_depth, title, mixer, streams
///     /green                  `omega`, `g` (K,2), `certified`, `residual`, `iterations` (K)
///     /montecarlo             `singular_values`, `log_singular_values` (S,N), or `edges`, `counts` in ln s;
///                             attributes
///     /metrics/<source>, /metrics/agreement   attributes
///     /runs/<name>, /summary  many networks (runs_file.hpp)
///
/// Numbers are IEEE doubles: −∞ and NaN are stored as such, and a singular value below 1e-308 is 0 in
/// `s` (its density then +∞) but ordinary in the log datasets.

#include "report/report.hpp"
#include "report/result_format.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace spectra::h5 {
class File;
}

namespace spectra::report {

/// Writes all of the report, and what `more` adds to the open file (for this library's own additions:
/// h5::File is not public). A reader never sees half a file, and on failure (std::runtime_error) an earlier
/// file of that name is untouched.
void write_result_file(const Report& report, const std::filesystem::path& path,
                       const std::function<void(h5::File&)>& more = {});

/// Writes what a search for the deepest network found, in the same way.
void write_result_file(const DepthReport& report, const std::filesystem::path& path);

/// Where a result came from. Throws as describe_result_file does.
Provenance read_provenance(const std::filesystem::path& path);

/// What the file holds, as a page for a person. Throws std::invalid_argument, in one line, where it is
/// missing, not HDF5, not written by spectra, or of a newer format.
std::string describe_result_file(const std::filesystem::path& path);

/// \cond INTERNAL
/// The same of an open file; `name` stands for it on the page and in messages.
std::string describe_result_file(const h5::File& file, const std::string& name);
/// The attributes of the root.
void write_provenance(h5::File& file, const Provenance& provenance);
/// L matrices of one size as a dataset (L,n,n).
void write_matrices(h5::File& file, const std::string& path, const std::vector<Eigen::MatrixXd>& matrices);
/// Rows as a dataset; shorter ones are padded with NaN.
void write_table(h5::File& file, const std::string& path, const std::vector<std::vector<double>>& rows);
/// Outliers of an aligned law as a dataset `outliers` (k,3) of the group: position, spread, number of values.
void write_outliers(h5::File& file, const std::string& group, const std::vector<dyson::Outlier>& outliers);
/// \endcond

}  // namespace spectra::report
