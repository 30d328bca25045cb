#pragma once

#include "montecarlo/sampler.hpp"

#include <vector>

namespace spectra::montecarlo {

/// What is known of a stack of layers before anything is drawn.
struct Expectation {
    /// ln E s² by the exact recursion T_l = A_l T_{l−1} A_lᵀ + σ_l² tr_n(T_{l−1}) I; −∞ if J = 0.
    double log_mean_square = 0;
    /// Rounding of the product and of its singular values, relative to u‖J‖_F (see log_floor).
    double rounding = 1;
};

Expectation expectation(const std::vector<Layer>& layers);

/// ln of the value below which singular values of a product formed in double precision are rounding.
///
/// Forming B_l = Y_l B_{l−1} adds to every entry c a rounding error of about 0.4 √N u|c| (N roundings of
/// partial sums, each u/√3 of what is summed by then, u = 2^{−53}). As a random matrix that is an error
/// of spectral norm 0.8 u‖B_l‖_F. The later layers carry it on as they carry any random matrix, by the
/// recursion of the mean square: R_l = A_l R_{l−1} A_lᵀ + σ_l² tr_n(R_{l−1}) I + diag T_l, R_1 = 0. LAPACK's
/// own error is of the size of one more product. Together
///
///     ε = u ‖J‖_F √(1 + tr R_L / tr T_L),
///
/// √L u‖J‖_F for mixers near an isometry. A singular value s of J moves by about ε/√N to first order and to
/// √(s² + f ε²/4) by repulsion from the share f of values below it, so at s = 4 ε it is right to a few per
/// cent, and that is the floor. Values below it are rounding; there are as many of them as there should be.
double log_floor(double log_frobenius_norm, double rounding);

}  // namespace spectra::montecarlo
