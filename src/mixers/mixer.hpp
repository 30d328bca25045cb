#pragma once

#include "random/stream.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// All families, in the order shown to users.
const std::vector<Family>& all_families();

/// The name users type: "cayley-hybrid".
std::string_view name(Family family);

/// The family of that name, or nothing.
std::optional<Family> find_family(std::string_view name);

/// How the mixers of a family are drawn. The comment of each field names the families that read it.
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

/// Throws std::invalid_argument, naming the option, if a recipe cannot be drawn at size n.
void check(const Recipe& recipe, int n);

/// One mixer of size n ≥ 1.
Mixer draw(const Recipe& recipe, int n, random::Stream& stream);

/// `depth` mixers; layer l of draw number `sample` reads its own stream. With shared = true all
/// layers have the mixer of layer 0.
std::vector<Mixer> draw_layers(const Recipe& recipe, int n, int depth, bool shared, std::uint64_t seed,
                               std::uint32_t sample = 0);

}  // namespace mixers
}  // namespace spectra
