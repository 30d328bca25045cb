#pragma once

/// \file
/// The operators of the reflection task, without a branch.

#include <memory>
#include <string>

#include "jacobian/torch.hpp"
#include "train/modules/mixer_options.hpp"

namespace spectra::train {

/// The operators of the reflection task, without a branch: y = A(x) x on vectors of d numbers, with A made
/// from x by networks d → hidden → …. Architectures ddl (I − β k kᵀ), jpmhc (two steps of the iterative
/// Cayley map from Y₀ = I) and edelta (γ Q + (1 − γ) H₂, u and v orthonormalised).
class ReflectionModel : public torch::nn::Module {
public:
    /// What forward() gives.
    struct Output {
        torch::Tensor prediction;  ///< y, (B, d)
        torch::Tensor penalty;     ///< λ · mean f(γ) of the gate's regulariser f, undefined without a gate
        torch::Tensor gate;        ///< γ, (B, 1), or undefined
        torch::Tensor beta;        ///< β, (B, 1), or undefined
    };
    /// y = A(x) x of rows x, (B, d).
    virtual Output forward(const torch::Tensor& x) = 0;
};

/// The operator of an architecture. gate_weight: λ of the regulariser; gate_bias: where γ starts.
std::shared_ptr<ReflectionModel> make_reflection_model(
    const std::string& architecture, int64_t dimension, int64_t hidden = 128, double gate_weight = 0.5,
    double gate_bias = -1.5, MixerOptions::Regulariser regulariser = MixerOptions::Regulariser::quadratic);

}  // namespace spectra::train
