#include "train/modules/gate_regulariser.hpp"

#include <numbers>
#include <stdexcept>

namespace spectra::train {

torch::Tensor gate_regulariser(MixerOptions::Regulariser which, const torch::Tensor& x) {
    using Regulariser = MixerOptions::Regulariser;
    const auto product = 4 * x.sigmoid() * (-x).sigmoid();  // 4γ(1 − γ) without the rounding of 1 − γ
    switch (which) {
        case Regulariser::quadratic:
            return product;
        case Regulariser::quartic:
            return product.square();
        case Regulariser::sine:  // of the smaller of γ and 1 − γ
            return torch::sin(std::numbers::pi * (-x.abs()).sigmoid());
        case Regulariser::entropy: {
            constexpr double exact = 40;  // beyond it softplus(x) is x to rounding
            const auto nats =
                x.sigmoid() * torch::softplus(-x, 1, exact) + (-x).sigmoid() * torch::softplus(x, 1, exact);
            return nats / std::numbers::ln2;
        }
        case Regulariser::flat:  // with q = 4γ(1 − γ): 1 − (1 − q)²
            return product * (2 - product);
    }
    throw std::logic_error("unknown regulariser");
}

}  // namespace spectra::train
