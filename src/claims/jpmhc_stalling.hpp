#pragma once

/// \file
/// A claim of JPmHC (arXiv:2602.18308) on learning: directions of small singular values stall.

#include "claims/outcome.hpp"

#include <Eigen/Core>

namespace spectra::claims::jpmhc {

/// The linear network J = (A_L ⊗ 1 + W_L) ··· (A_1 ⊗ 1 + W_1): mixers stay as they are, branches learn.
struct LinearStack {
    std::vector<Eigen::MatrixXd> skips;     ///< A ⊗ 1, the first layer's first
    std::vector<Eigen::MatrixXd> branches;  ///< W

    Eigen::MatrixXd jacobian() const;
    /// One step of gradient descent on ½‖J − target‖², that is W_l −= rate · P_lᵀ (J − target) Q_lᵀ with P_l the
    /// product of the layers above l and Q_l that of those below.
    void descend(const Eigen::MatrixXd& target, double rate);
};

/// How much of the error along some columns of `directions`, the ones from `first` to before `last`, is gone:
/// 1 − Σ‖(J − R)v‖²/Σ‖(J₀ − R)v‖².
double learned(const Eigen::MatrixXd& before, const Eigen::MatrixXd& now, const Eigen::MatrixXd& directions,
               Eigen::Index first, Eigen::Index last);

/// C32. Linear stacks with frozen bistochastic and orthogonal mixers learn an orthogonal map.
Outcome spectral_stalling();

}  // namespace spectra::claims::jpmhc
