#pragma once

/// \file
/// How the raw numbers of a trained model become a mixer, family by family.

#include "mixers/family.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spectra::mixers {

/// How raw numbers of a trained model become a mixer. Each field names the families that use it.
struct RawOptions {
    std::optional<int> sweeps;   ///< bistochastic: this many of Sinkhorn's sweeps; none: to tolerance
    bool columns_first = false;  ///< bistochastic: a sweep normalises columns, then rows
    double temperature = 1;      ///< bistochastic, permutation: logits are divided by it
    std::optional<int> cayley_iterations = 2;  ///< cayley: fixed-point steps; none: exact
    double cayley_step = 0.1;                  ///< cayley: α
};

// One per family (registry.hpp): the mixer of n streams from its raw numbers, as many as the family has for n
// (train/modules/mixer.hpp lists them in their order).
/// \cond INTERNAL
Mixer raw_identity(const Eigen::VectorXd& raw, int n, const RawOptions& options);
Mixer raw_matrix(const Eigen::VectorXd& raw, int n, const RawOptions& options);
Mixer raw_bistochastic(const Eigen::VectorXd& raw, int n, const RawOptions& options);
Mixer raw_permutation(const Eigen::VectorXd& raw, int n, const RawOptions& options);
Mixer raw_orthogonal(const Eigen::VectorXd& raw, int n, const RawOptions& options);
Mixer raw_cayley(const Eigen::VectorXd& raw, int n, const RawOptions& options);
Mixer raw_cayley_hybrid(const Eigen::VectorXd& raw, int n, const RawOptions& options);
Mixer raw_rotation(const Eigen::VectorXd& raw, int n, const RawOptions& options);
Mixer raw_spectral_sphere(const Eigen::VectorXd& raw, int n, const RawOptions& options);
Mixer raw_householder(const Eigen::VectorXd& raw, int n, const RawOptions& options);
Mixer raw_grassmann(const Eigen::VectorXd& raw, int n, const RawOptions& options);
/// \endcond

// Maps that layouts of weight files share.

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

}  // namespace spectra::mixers
