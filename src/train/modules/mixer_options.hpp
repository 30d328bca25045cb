#pragma once

/// \file
/// The options of differentiable mixers.

namespace spectra::train {

/// How the families turn raw numbers into matrices. The comment of each field names the families that read
/// it.
struct MixerOptions {
    /// bistochastic: how the gradient passes through Sinkhorn's map (sinkhorn.hpp).
    enum class Backward { direct, gauss_seidel, unrolled };
    /// cayley-hybrid: f of the gate γ that training may make small (gate_regulariser.hpp).
    enum class Regulariser { quadratic, quartic, sine, entropy, flat };
    /// permutation: which K permutations are mixed.
    enum class Basis {
        published,  ///< mixers::published_permutations
        optimal     ///< the largest spectral gap of all sets of K (mixers/generating_set.hpp)
    };

    int sinkhorn_iterations = 20;  ///< bistochastic: sweeps; 0: to tolerance
    Backward sinkhorn_backward = Backward::direct;  ///< bistochastic: of the gradient
    int gauss_seidel_sweeps = 16;  ///< bistochastic with gauss_seidel
    double sinkhorn_clamp = 0;     ///< bistochastic: logits are clamped to ± this; 0: they are not
    double temperature = 1.0;      ///< bistochastic, permutation, routes of jpmhc: logits are divided by it
    int cayley_iterations = 2;     ///< cayley: fixed-point steps; 0: exact
    double cayley_step = 0.1;      ///< cayley: α
    int rank = 0;                  ///< grassmann; 0: ⌈n/2⌉
    int permutations =
        0;  ///< permutation: 0 uses all n! in lexicographic order (n ≤ 8), K those of the basis
    Basis basis = Basis::published;  ///< permutation: of K permutations
    double gate_bias = 0.0;     ///< cayley-hybrid: initial value of the raw γ
    Regulariser regulariser = Regulariser::quadratic;  ///< cayley-hybrid
    double sphere_bound = 1.0;  ///< spectral-sphere: the largest |Σ_i|
};

}  // namespace spectra::train
