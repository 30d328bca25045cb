#pragma once

/// \file
/// How the raw numbers of a trained model become a mixer, family by family.

#include "mixers/mixer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spectra::layouts {

/// How raw numbers of a trained model become a mixer. Each field says which family reads it.
struct FamilyOptions {
    std::optional<int> sweeps;   ///< bistochastic: this many of Sinkhorn's sweeps; none: to tolerance
    bool columns_first = false;  ///< bistochastic: a sweep normalises columns, then rows
    double temperature = 1;      ///< bistochastic, permutation: logits are divided by it
    std::optional<int> cayley_iterations = 2;  ///< cayley: fixed-point steps; none: exact
    double cayley_step = 0.1;                  ///< cayley: α
};

/// The families that raw numbers can be read as, in the order users see them: those of `spectra train
/// --mixer` (train/modules/mixer.hpp has each one's numbers in their order), with "matrix" for "hyper": the
/// numbers themselves.
const std::vector<std::string>& family_names();

/// n, from how many raw numbers there are. Nothing where no n has so many; for grassmann, whose rank is free,
/// n is the number of rows that the frame's tensor has, and this is nothing.
std::optional<int> streams_of(std::string_view family, std::uint64_t raw_count);

/// The mixer of `streams` streams from its raw numbers. raw.size() must fit the family (streams_of).
Mixer mixer_of(std::string_view family, const Eigen::VectorXd& raw, int streams,
               const FamilyOptions& options = {});

/// 1/(1 + e^{−x}).
double sigmoid(double x);
/// The same of every entry.
Eigen::VectorXd sigmoid(const Eigen::VectorXd& x);
/// ln(1 + e^x).
double softplus(double x);
/// raw, laid out by rows.
Eigen::MatrixXd by_rows(const Eigen::VectorXd& raw, int rows, int columns);
/// The k×k skew matrix with these entries above its diagonal, by rows.
Eigen::MatrixXd skew_of(const Eigen::VectorXd& upper, int k);
/// γQ + (1 − γ)(I − 2kkᵀ) of u, v, β, k; k is normalised, and k = 0 gives I in place of the reflection.
Mixer hybrid(const Eigen::VectorXd& u, const Eigen::VectorXd& v, double beta, const Eigen::VectorXd& k,
             double gate);

}  // namespace spectra::layouts
