#pragma once

/// \file
/// What a mixer is, the families of mixers, and how each is drawn.

#include <Eigen/Core>

#include <optional>

namespace spectra {

/// An n×n mixer A: the skip connection between n residual streams acts as x ↦ (A ⊗ I_p) x.
using Mixer = Eigen::MatrixXd;

namespace mixers {

/// The built-in families. docs/mixers.md compares them.
enum class Family {
    identity,         ///< A = I
    bistochastic,     ///< Sinkhorn of Gaussian logits (sinkhorn.hpp)
    orthogonal,       ///< uniform on O(n) (orthogonal.hpp)
    cayley,           ///< nearly orthogonal, by a fixed-point iteration (cayley.hpp)
    cayley_hybrid,    ///< a rotation and a reflection (cayley_hybrid.hpp)
    spectral_sphere,  ///< sums 1 and norm 1, entries of either sign (spectral_sphere.hpp)
    grassmann,        ///< a projection (grassmann.hpp)
    permutation,      ///< a mixture of permutations (permutation.hpp)
    householder,      ///< I less a multiple of one direction (householder.hpp)
    gaussian,         ///< independent Gaussian entries (gaussian.hpp)
};

/// How the mixers of a family are drawn. Each field names the families that use it.
struct Recipe {
    Family family = Family::identity;          ///< which family
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
