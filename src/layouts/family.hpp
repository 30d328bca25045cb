#pragma once

#include "mixers/mixer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spectra::layouts {

/// How raw numbers of a trained model become a mixer. The comment of each field names the families that read
/// it.
struct FamilyOptions {
    std::optional<int> sweeps;   ///< bistochastic: this many Sinkhorn sweeps; none: to tolerance
    bool columns_first = false;  ///< bistochastic: a sweep normalises columns, then rows
    double temperature = 1;      ///< bistochastic, permutation: logits are divided by it
    std::optional<int> cayley_iterations = 2;  ///< cayley: fixed-point steps; none: exact
    double cayley_step = 0.1;                  ///< cayley: α
};

/// The families that raw numbers can be read as, in the order shown to users: those of `spectra train
/// --mixer` (train/modules/mixer.hpp defines the order of their numbers), but with "matrix" for "hyper",
/// where the numbers are the entries.
const std::vector<std::string>& family_names();

/// n, from the count of raw numbers; nothing if no n has this count. Also nothing for grassmann, which has a
/// free rank: there n is the number of rows of the frame's tensor.
std::optional<int> streams_of(std::string_view family, std::uint64_t raw_count);

/// The mixer of `streams` streams. raw.size() must fit.
Mixer mixer_of(std::string_view family, const Eigen::VectorXd& raw, int streams,
               const FamilyOptions& options = {});

// Maps that the layouts share.

double sigmoid(double x);
Eigen::VectorXd sigmoid(const Eigen::VectorXd& x);
double softplus(double x);
/// `raw` as a matrix, row by row.
Eigen::MatrixXd by_rows(const Eigen::VectorXd& raw, int rows, int columns);
/// The k×k skew matrix with these entries above its diagonal, by rows.
Eigen::MatrixXd skew_of(const Eigen::VectorXd& upper, int k);
/// γQ + (1 − γ)(I − 2kkᵀ) of u, v, β, k; k is normalised, and k = 0 gives I in place of the reflection.
Mixer hybrid(const Eigen::VectorXd& u, const Eigen::VectorXd& v, double beta, const Eigen::VectorXd& k,
             double gate);

}  // namespace spectra::layouts
