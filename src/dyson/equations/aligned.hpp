#pragma once

#include "dyson/solve/equation.hpp"
#include "network/network.hpp"

#include <memory>

namespace spectra::dyson {

/// The operator-valued Dyson equation of a network with aligned branches: the chain of chain.hpp with N×N blocks, D_l =
/// A_l ⊗ 1 + kept triplets + Δ_l in place of A_l, and a free rest on what the kept vectors leave (aligned_chain.hpp).
///
///     a_l = tr[(pre preᵀ ⊗ Π_v) M(w_l)]/(m − r),     b_l = tr[(post postᵀ ⊗ Π_u) M(v_l)]/(m − r),
///     Y⟨1/(Y − t²)⟩² = a_l b_l over the values t of the rest,     T(Y) = ⟨t²/(Y − t²)⟩,
///     Σ(v_l) = T/b_l (post postᵀ ⊗ Π_u),             Σ(w_l) = T/a_l (pre preᵀ ⊗ Π_v),
///
/// layers counted from 0, m the rows of F_l and r its kept triplets: three unknowns a layer, a_0, b_0, a_1, …, then Y_0
/// …, whatever N. With r = 0 this is the chain with a given law. Nothing is taken to a limit: an outlier is a narrow band
/// of mass 1/N, as wide as the random rest makes it.
///
/// Unknowns of a layer without a rest are 1 and stay 1.
std::unique_ptr<Equation> make_aligned(const Network& network);

}  // namespace spectra::dyson
