#pragma once

#include <memory>
#include <string>

#include "jacobian/torch.hpp"

namespace spectra::train {

/// The operators of the reflection task, without a branch: y = A(x) x on vectors of d numbers, with A made
/// from x by networks d → hidden → …. Architectures ddl (I − β k kᵀ), jpmhc (two steps of the iterative
/// Cayley map from Y₀ = I) and edelta (γ Q + (1 − γ) H₂, u and v orthonormalised).
class ReflectionModel : public torch::nn::Module {
public:
    struct Output {
        torch::Tensor prediction, penalty;  ///< penalty: λ · mean 4γ(1−γ), undefined without a gate
        torch::Tensor gate, beta;           ///< (B, 1), or undefined
    };
    virtual Output forward(const torch::Tensor& x) = 0;
};

/// gate_weight: λ of the regulariser; gate_bias: initial value of the raw γ.
std::shared_ptr<ReflectionModel> make_reflection_model(const std::string& architecture, int64_t dimension,
                                                       int64_t hidden = 128, double gate_weight = 0.5,
                                                       double gate_bias = -1.5);

}  // namespace spectra::train
