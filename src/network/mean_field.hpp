#pragma once

/// \file
/// The variance of pre-activations in an infinitely wide network, layer by layer.
///
/// The pre-activations of an infinitely wide network x_{l+1} = (A_l ⊗ I) x_l + φ(W_l x_l), W_l with
/// independent entries N(0, σ_w,l²/N): h = W_l x_l has independent entries N(0, q_l). With m the mean of each
/// stream, C the n×n second moment of the streams, μ = E φ(h), ν = E φ(h)²,
///
///     q_l = σ_w,l² tr_n C,
///     m ← A_l m + μ1,
///     C ← A_l C A_lᵀ + μ (A_l m 1ᵀ + 1 (A_l m)ᵀ) + μ² (11ᵀ − I) + ν I,
///
/// from m = 0, C = I at the input: an input of independent entries of mean 0 and variance 1.

#include "mixers/mixer.hpp"
#include "network/activation.hpp"

#include <vector>

namespace spectra {

/// q_l of every layer, from the state before the layer. One σ_w² per layer. Throws std::invalid_argument
/// if a variance overflows, and for bernoulli, which has no values to propagate.
std::vector<double> propagated_variances(const std::vector<Mixer>& mixers,
                                         const std::vector<double>& sigma_w2, const Activation& activation);

/// Weights that give branches of a given variance.
struct TunedWeights {
    std::vector<double> sigma_w2;                ///< σ_w,l², one per layer
    std::vector<double> preactivation_variance;  ///< q_l
};

/// The σ_w,l² with σ_w,l² E φ'(h)² = sigma2[l] at h ~ N(0, σ_w,l² tr_n C), layer by layer. There is exactly
/// one: q E φ'(h)² = ∫ φ'(h)² √(q/2π) e^{−h²/2q} dh rises in q, from 0 and without bound. Throws as above.
TunedWeights tuned_weights(const std::vector<Mixer>& mixers, const std::vector<double>& sigma2,
                           const Activation& activation);

}  // namespace spectra
