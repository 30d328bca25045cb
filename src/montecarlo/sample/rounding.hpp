#pragma once

#include "montecarlo/sample/layer.hpp"

#include <vector>

namespace spectra::montecarlo {

/// Properties of a stack of layers that are known before anything is drawn.
struct Expectation {
    /// ln E s² by the recursion of T_l = E tr_p Y_l ··· Y_1 Y_1ᵀ ··· Y_lᵀ, T_0 = I,
    ///
    ///     T_l = A_l T_{l−1} A_lᵀ + σ_l² tr_n(T_{l−1}) I
    ///
    /// with σ_l² (preᵀ T_{l−1} pre) post postᵀ in the last term for hyper-connections. Exact at every width,
    /// except for tied layers: their recursion (network/tied_moments.hpp) is that of infinite width, and takes O(L² n³)
    /// operations. −∞ if J = 0.
    double log_mean_square = 0;
    /// Rounding of the product and of its singular values, relative to u‖J‖_F (see log_floor).
    double rounding = 1;
};

Expectation expectation(const std::vector<Layer>& layers);

/// ln of the value below which singular values of a product formed in double precision are only rounding.
///
/// Forming B_l = Y_l B_{l−1} adds to every entry c a rounding error of about 0.4 √N u|c| (N roundings of
/// partial sums, each u/√3 of the sum so far, u = 2^{−53}). As a random matrix this is an error
/// of spectral norm 0.8 u‖B_l‖_F. The later layers propagate it like any random matrix, by the
/// recursion of the mean square, from R_1 = 0:
///
///     R_l = A_l R_{l−1} A_lᵀ + σ_l² tr_n(R_{l−1}) I + E_l,   E_l = diag T_l.
///
/// The error of LAPACK is about that of one more product. Together
///
///     ε = u ‖J‖_F √(1 + tr R_L / tr T_L),
///
/// √L u‖J‖_F for mixers near an isometry. A singular value s of J moves by about ε/√N to first order and to
/// √(s² + f ε²/4) by repulsion from the share f of values below it. At s = 4 ε it is accurate to a few per
/// cent, and that is the floor. Values below it are only rounding, but their number is correct.
///
/// The other branches differ in E_l and in its propagation:
/// * a hyper-connection acts on p×N matrices and is then written to all streams, so its rounding is along
///   post: E_l = diag(A_l T_{l−1} A_lᵀ) + σ_l² (preᵀ T_{l−1} pre) post postᵀ, a bound;
/// * a branch with a given law is rounded by two sets of reflections, in the first layer too: E_l
///   includes the branch's share of T_l twice more;
/// * tied layers propagate an error by the same X that caused it: tr R_L = Σ_l tr(U_l E_l) with
///   U_l = E tr_p (Y_L ··· Y_{l+1})ᵀ (Y_L ··· Y_{l+1}), the recursion of T run from the last layer. The
///   diagonal of E_l is the larger of T_l and the sum of its two terms, which may cancel.
double log_floor(double log_frobenius_norm, double rounding);

}  // namespace spectra::montecarlo
