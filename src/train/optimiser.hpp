#pragma once

/// \file
/// AdamW, AdamAtan2 and SignSGD on all parameters at once, and the learning rate's schedule.

#include <string>
#include <utility>
#include <vector>

#include "train/modules/cayley_adam.hpp"
#include "jacobian/torch.hpp"

namespace spectra::train {

/// Which optimiser, and its numbers.
struct OptimiserOptions {
    /// How a step follows from the moments.
    enum class Rule { adamw, adam_atan2, sign_sgd };
    Rule rule = Rule::adamw;     ///< which
    double beta1 = 0.9;          ///< of the first moment
    double beta2 = 0.95;         ///< of the second moment
    double epsilon = 1e-8;       ///< of AdamW
    double weight_decay = 0.1;   ///< per step, times the learning rate
    bool decay_vectors = false;  ///< else matrices (two dimensions and more) only
    double sign_rate = 1;        ///< learning rate of parameters moved by signs, times that of the others
};

/// AdamW, AdamAtan2 (m̂/(√v̂ + ε) replaced by atan2(m̂, √v̂), no ε) or SignSGD (replaced by the sign of the gradient; its
/// moments stay 0), with the same decay, on all parameters at once: they
/// become views of one vector, so that a step is a dozen operations whatever their number. Orthonormal frames
/// among them are moved by CayleyAdam instead, with the same learning rate, and do not decay.
class Optimiser {
public:
    /// Tensors with their names.
    using Named = std::vector<std::pair<std::string, torch::Tensor>>;

    /// Uses only parameters that require gradients. They must not be moved. `frames`: views (n×rank) of the
    /// orthonormal frames among them. `by_sign`: those that SignSGD moves instead, with the same decay for numbers that
    /// have a gradient (rows of a table that the batch does not read stay).
    Optimiser(const Named& parameters, const OptimiserOptions& options,
              const std::vector<torch::Tensor>& frames = {}, const std::vector<torch::Tensor>& by_sign = {});

    /// Sets all gradients to zero.
    void zero_grad();
    /// All gradients as one vector, and its norm; both on the device.
    struct Gathered {
        torch::Tensor gradient;  ///< in the order of the vector of parameters
        torch::Tensor norm;      ///< one number
    };
    /// Gathers the gradients, without waiting for them.
    Gathered gathered() const;
    /// Takes gathered gradients for the next step, scaled in place so that their norm is at most max_norm (0: no
    /// scaling). If the norm is not finite, nothing is changed; first_bad_gradient() names the parameter.
    void take(const torch::Tensor& gradient, double norm, double max_norm);
    /// Both, and returns the norm before scaling.
    double gather(double max_norm);
    /// One step with the gradients taken.
    void step(double learning_rate);

    /// Steps done.
    int64_t steps() const { return steps_; }
    /// The first parameter with NaN or infinity in its gradient, or "".
    std::string first_bad_gradient() const;
    /// Gradient norm of each parameter, in order, of the gradients taken last.
    std::vector<std::pair<std::string, double>> gradient_norms() const;

    /// First and second moments, for checkpoints, with the number of steps.
    std::pair<torch::Tensor, torch::Tensor> moments() const;
    /// Continues from moments() after so many steps.
    void restore(const torch::Tensor& m, const torch::Tensor& v, int64_t steps);

private:
    /// Those taken last, flat, by parameter.
    Named gradients() const;
    void step_by_sign(double rate);

    OptimiserOptions options_;
    Named parameters_;
    int64_t decayed_ = 0;  ///< count of leading numbers of the vector that decay
    int64_t free_ = 0;     ///< count of leading numbers that belong to no frame
    int64_t signed_ = 0;   ///< count of the last of these, which SignSGD moves
    torch::Tensor flat_, gradient_;
    torch::Tensor m_, v_;                ///< of the free numbers
    std::vector<torch::Tensor> frames_;  ///< views of the rest
    CayleyAdam frame_rule_;
    int64_t steps_ = 0;
};

/// Learning rate by step: linear warm-up from 0, then cosine to the floor at the horizon, a drop by a
/// factor at regular intervals, or two drops late: to 0.316 of the peak at 80 % of the horizon and to 0.1 at 90 %.
struct Schedule {
    /// How the rate goes on after the warm-up.
    enum class Shape { constant, cosine, steps, late_drops };
    Shape shape = Shape::cosine;  ///< which
    double peak = 1e-3;           ///< rate after the warm-up
    double floor = 1e-4;          ///< of cosine: rate at the horizon
    int64_t warm_up = 100;        ///< steps
    int64_t horizon = 2000;       ///< of cosine and late drops: steps
    int64_t every = 500;          ///< of steps: how often the rate falls
    double factor = 0.5;          ///< of steps: by how much

    /// The rate at a step, from 0.
    double operator()(int64_t step) const;
};

}  // namespace spectra::train
