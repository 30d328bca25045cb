#pragma once

/// \file
/// What a branch does to all channels alike: a multiple of the identity, which belongs to the mixer.

#include "layouts/measurement.hpp"

namespace spectra::validation {

/// A measurement whose branches have no common part left, and that part.
struct WithoutCommonPart {
    layouts::Measurement measurement;  ///< mixers A + T, triplets of the branches without it
    std::vector<double> common;        ///< of each branch, t, or the mean of T's diagonal
};

/// Splits every branch into tI and the rest: F = tI + F′ gives A ⊗ I + post preᵀ ⊗ F = (A + t post preᵀ) ⊗ I +
/// post preᵀ ⊗ F′, and a branch that reads all channels X = T ⊗ I + X′ likewise, with an n×n matrix T. The Jacobians of
/// the connections are the same. The triplets are those of F′ or X′: what is left has no mean, as a branch that is turned
/// at random has none.
///
/// Few large singular values say nothing of what happens to all channels, and move the mean t₀ of the diagonal. The largest
/// eighth of the triplets of F − t₀I is therefore set aside, and what is left of it, R = Π_u(F − t₀I)Π_v, corrects the mean:
/// t = t₀ + tr R / tr Π_uΠ_v. Leaving out the largest triplets of F itself would not do: with t > 0 the identity has its
/// share in them.
WithoutCommonPart without_common_part(const layouts::Measurement& measurement);

}  // namespace spectra::validation
