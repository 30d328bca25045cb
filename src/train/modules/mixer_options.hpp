#pragma once

/// \file
/// The options of differentiable mixers.

namespace spectra::train {

/// How the families turn raw numbers into matrices. The comment of each field names the families that read
/// it.
struct MixerOptions {
    /// bistochastic: how the gradient passes through Sinkhorn's map (sinkhorn.hpp).
    enum class Backward { direct, gauss_seidel, unrolled };

    int sinkhorn_iterations = 20;  ///< bistochastic: sweeps; 0: to tolerance
    Backward sinkhorn_backward = Backward::direct;  ///< bistochastic: of the gradient
    int gauss_seidel_sweeps = 16;  ///< bistochastic with gauss_seidel
    double temperature = 1.0;      ///< bistochastic, permutation: logits are divided by it
    int cayley_iterations = 2;     ///< cayley: fixed-point steps; 0: exact
    double cayley_step = 0.1;      ///< cayley: α
    int rank = 0;                  ///< grassmann; 0: ⌈n/2⌉
    /// permutation: 0 uses all n! in lexicographic order (n ≤ 6). K uses the first K of the identity, the
    /// n − 1 adjacent transpositions, the n − 1 cyclic shifts, and random ones that are the same in every
    /// run.
    int permutations = 0;
    double gate_bias = 0.0;     ///< cayley-hybrid: initial value of the raw γ
    double sphere_bound = 1.0;  ///< spectral-sphere: the largest |Σ_i|
};

}  // namespace spectra::train
