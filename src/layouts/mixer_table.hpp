#pragma once

#include "layouts/stack.hpp"

#include <string>
#include <vector>

namespace spectra::layouts {

/// Properties of a trained mixer A as it acts: x ↦ A x.
struct MixerRow {
    std::string name;
    Eigen::VectorXd row_sums, column_sums;
    double spectral_norm = 0;
    double orthogonality_defect = 0;  ///< largest |(AᵀA − I)_ij|
    double identity_distance = 0;     ///< largest |(A − I)_ij|
    /// Share of rows in which the diagonal entry is the largest (by value, not by magnitude), ties included.
    double diagonal_dominant_share = 0;
    double smallest_entry = 0;
};

/// The product A_l ··· A_1.
struct CompositeRow {
    double column_sum_min = 0, column_sum_max = 0;
    double spectral_norm = 0;
};

/// The mixers of a stack one by one, over all of them, and their products. NaN takes precedence over numbers.
struct MixerTable {
    std::vector<MixerRow> layers;
    // The worst over all layers; for shares the mean.
    double row_sum_defect = 0, column_sum_defect = 0;  ///< largest |sum − 1|
    double orthogonality_defect = 0, spectral_norm_max = 0, identity_distance = 0;
    double diagonal_dominant_share = 0;
    double smallest_entry = 0;

    std::vector<CompositeRow> composites;  ///< after 1, …, L layers; the last is the whole stack
};

/// At least one mixer, all of one size.
MixerTable tabulate(const std::vector<Mixer>& mixers);
/// The same with the connections' names.
MixerTable tabulate(const Stack& stack);

/// A_l ··· A_1 for every l.
std::vector<Mixer> composites(const Stack& stack);

}  // namespace spectra::layouts
