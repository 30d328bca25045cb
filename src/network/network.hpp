#pragma once

#include "mixers/mixer.hpp"

#include <string>
#include <variant>
#include <vector>

namespace spectra {

/// Largest sizes a network may have: beyond them a mistyped number is likelier than a wish.
inline constexpr int max_depth = 1'000'000;
inline constexpr int max_streams = 512;
inline constexpr int max_width = 100'000;

/// X_l with independent entries N(0, σ_l²/N).
struct IsotropicBranch {
    std::vector<double> sigma2;  ///< one per layer
};

/// The random branch of every layer. Branch models differ in their covariance only.
using Branch = std::variant<IsotropicBranch>;

/// A stack J = Y_L ··· Y_1, Y_l = A_l ⊗ I_p + X_l, of n residual streams of width p (N = n·p).
struct Network {
    int streams = 0;            ///< n
    int width = 25;             ///< p; theory is the limit p → ∞, simulation uses it
    std::vector<Mixer> mixers;  ///< A_1 … A_L, each n×n
    Branch branch;
    std::string mixer_name;  ///< what the user called the mixers: a family or a file
    std::string title;       ///< one line for captions: "cayley, L = 10, n = 4, p = 25, Lσ² = 0.05"

    int depth() const { return static_cast<int>(mixers.size()); }
    int size() const { return streams * width; }
};

/// "isotropic", …
std::string branch_name(const Branch& branch);

/// σ_l² of every layer.
const std::vector<double>& sigma2(const Network& network);

/// Throws std::invalid_argument where sizes (limits above), signs or finiteness are wrong; solvers and
/// simulation take a checked network.
void check(const Network& network);

}  // namespace spectra
