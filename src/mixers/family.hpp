#pragma once

#include <Eigen/Core>

#include <optional>

namespace spectra {

/// An n×n mixer A: the skip connection between n residual streams acts as x ↦ (A ⊗ I_p) x.
using Mixer = Eigen::MatrixXd;

namespace mixers {

enum class Family {
    identity,
    bistochastic,
    orthogonal,
    cayley,
    cayley_hybrid,
    spectral_sphere,
    grassmann,
    permutation,
    householder,
    gaussian,
};

/// How the mixers of a family are drawn. Each field says which family reads it.
struct Recipe {
    Family family = Family::identity;
    double logit_scale = 1.0;                  ///< bistochastic, cayley: logits N(0, logit_scale²)
    std::optional<int> sinkhorn_iterations;    ///< bistochastic: this many sweeps; none: to tolerance
    std::optional<int> cayley_iterations = 2;  ///< cayley: this many fixed-point steps; none: exact
    double cayley_step = 0.1;                  ///< cayley: α
    double gate = 0.95;                        ///< cayley-hybrid: γ
    double beta = 1.0;                         ///< cayley-hybrid, householder
    std::optional<int> rank;                   ///< grassmann: none means ⌈n/2⌉
    int permutations = 6;                      ///< permutation: K
};

}  // namespace mixers
}  // namespace spectra
