#pragma once

#include <array>
#include <utility>

#include "jacobian/torch.hpp"
#include "train/modules/mixer_options.hpp"

namespace spectra::train {

/// The regularisers of gates by their names on the command line: functions of γ that are 0 at 0 and 1, 1 at ½ and
/// symmetric, so that each has slope 0 at ½.
inline constexpr std::array gate_regularisers{
    std::pair{"quadratic", MixerOptions::Regulariser::quadratic},  // 4γ(1 − γ), the published one
    std::pair{"quartic", MixerOptions::Regulariser::quartic},  // 16γ²(1 − γ)²: slope 0 at 0 and 1 as well
    std::pair{"sine", MixerOptions::Regulariser::sine},        // sin πγ
    std::pair{"entropy",
              MixerOptions::Regulariser::entropy},  // −γ log₂ γ − (1 − γ) log₂(1 − γ): slope ∞ at 0
    std::pair{"flat", MixerOptions::Regulariser::flat}};  // 1 − (2γ − 1)⁴: curvature 0 at ½

/// f(γ) with γ = sigmoid(logit), exact to rounding for every logit.
torch::Tensor gate_regulariser(MixerOptions::Regulariser which, const torch::Tensor& logit);

}  // namespace spectra::train
