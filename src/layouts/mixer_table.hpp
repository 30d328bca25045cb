#pragma once

/// \file
/// The properties of a trained model's mixers, one by one and of their products.

#include "layouts/stack.hpp"

#include <string>
#include <vector>

namespace spectra::layouts {

/// Properties of a trained mixer A as it acts: x ↦ A x.
struct MixerRow {
    std::string name;                 ///< of the connection
    Eigen::VectorXd row_sums;         ///< n numbers
    Eigen::VectorXd column_sums;      ///< n numbers
    double spectral_norm = 0;         ///< largest singular value
    double orthogonality_defect = 0;  ///< largest |(AᵀA − I)_ij|
    double identity_distance = 0;     ///< largest |(A − I)_ij|
    /// Share of rows in which the diagonal entry is the largest (by value, not by magnitude), ties included.
    double diagonal_dominant_share = 0;
    double smallest_entry = 0;  ///< below 0 where the mixer is not bistochastic
};

/// The product A_l ··· A_1 of the mixers up to connection l, and A_L ··· A_l of those from it on.
struct CompositeRow {
    double column_sum_min = 0;  ///< smallest column sum of A_l ··· A_1
    double column_sum_max = 0;  ///< largest column sum of A_l ··· A_1
    double spectral_norm = 0;   ///< largest singular value of A_l ··· A_1
    /// max_i Σ_j |(A_l ··· A_1)_ij|, the largest absolute row sum: how far the signal can have grown after connection l.
    double forward_gain = 0;
    /// max_j Σ_i |(A_L ··· A_l)_ij|, the largest absolute column sum: how far the gradient can have grown before
    /// connection l, on its way back from the last.
    double backward_gain = 0;
};

/// The mixers of a stack one by one, over all of them, and their products. NaN takes precedence over numbers.
struct MixerTable {
    std::vector<MixerRow> layers;        ///< one per connection
    double row_sum_defect = 0;           ///< largest |row sum − 1| of all layers
    double column_sum_defect = 0;        ///< largest |column sum − 1| of all layers
    double orthogonality_defect = 0;     ///< largest of all layers
    double spectral_norm_max = 0;        ///< largest of all layers
    double identity_distance = 0;        ///< largest of all layers
    double diagonal_dominant_share = 0;  ///< mean over the layers
    double smallest_entry = 0;           ///< of all layers
    double forward_gain = 0;             ///< largest over all depths
    double backward_gain = 0;            ///< largest over all depths

    std::vector<CompositeRow> composites;  ///< after 1, …, L layers; the last is the whole stack
};

/// The table of the given mixers: at least one, all of one size.
MixerTable tabulate(const std::vector<Mixer>& mixers);
/// The same with the connections' names.
MixerTable tabulate(const Stack& stack);

/// A_l ··· A_1 for every l.
std::vector<Mixer> composites(const Stack& stack);

}  // namespace spectra::layouts
