#pragma once

/// \file
/// Descent that keeps orthonormal frames orthonormal.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "jacobian/torch.hpp"

namespace spectra::train {

/// The numbers of CayleyAdam.
struct CayleyAdamOptions {
    double learning_rate = 0.01;  ///< α
    double beta1 = 0.9;           ///< β₁, of the momentum
    double beta2 = 0.999;         ///< β₂, of the second moment
    double epsilon = 1e-8;        ///< ε
    /// Divide by the running root mean square of each entry. Then the path depends on the basis of the frame.
    bool adaptive = false;
    /// Fixed-point steps of the retraction (published: 2, which needs α‖W‖ < 2); 0: exact.
    int retraction_iterations = 0;
};

/// Descent for functions of the subspace spanned by an orthonormal frame U (n×p), the Cayley ADAM of JPmHC's
/// Appendix J. With G = ∂L/∂U a step is
///     g = G − U(UᵀG)                        the horizontal gradient, which moves the subspace
///     m ← β₁(m − U(Uᵀm)) + (1 − β₁) g       momentum, carried into the present tangent space
///     d = m, or adaptive m/(1 − β₁ᵗ) / √(v/(1 − β₂ᵗ) + ε), v ← β₂v + (1 − β₂) g∘g, made horizontal
///     W = U dᵀ − d Uᵀ,  U ← (I − (α/2)W)⁻¹(I + (α/2)W) U,  U ← Q of QR with R's diagonal positive.
/// Two differences from the printed algorithm: that has W = dUᵀ − Udᵀ, which climbs; and its m keeps a
/// component that only rotates the basis. The exact retraction keeps the frame orthonormal, so that QR
/// removes only rounding and the path of UUᵀ does not depend on the basis: U → UO gives the same subspaces.
/// With two fixed-point steps QR corrects more, and this holds to O(α³).
class CayleyAdam {
public:
    /// Before the first step.
    explicit CayleyAdam(CayleyAdamOptions options = {}) : options_(options) {}

    /// Moves every frame (…, n, p) in place, without a graph. The first call sets the number and shapes of
    /// the frames; throws std::invalid_argument if a later call differs.
    void step(const std::vector<torch::Tensor>& frames, const std::vector<torch::Tensor>& gradients);

    /// May be changed between steps.
    CayleyAdamOptions& options() { return options_; }

    /// "step", "momentum.0", "second.0", …, for a checkpoint. Empty before the first step.
    std::vector<std::pair<std::string, torch::Tensor>> state() const;
    /// Restores the result of state(); throws std::invalid_argument if an entry is missing.
    void set_state(const std::vector<std::pair<std::string, torch::Tensor>>& state);

private:
    void move(const torch::Tensor& frame, const torch::Tensor& gradient, torch::Tensor& momentum,
              torch::Tensor& second) const;

    CayleyAdamOptions options_;
    int64_t steps_ = 0;
    std::vector<torch::Tensor> momentum_;
    std::vector<torch::Tensor> second_;
};

}  // namespace spectra::train
