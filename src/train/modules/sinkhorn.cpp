#include "train/modules/sinkhorn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "train/modules/recording.hpp"

namespace spectra::train {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Largest error of row and column sums; 4nε if that is larger. Near a permutation matrix with couplings e
/// the potentials are known only to tolerance/e, so this is close to the limit of double.
constexpr double tolerance = 1e-14;
/// Logits with a wider spread are halved until they fit, balanced roughly, and doubled back.
constexpr double largest_spread = 40;
constexpr double coarse_tolerance = 1e-4;
constexpr int coarse_sweeps = 20;
/// Newton steps allowed per stage. Trials with N(0, s²) logits, s from 1 to 1000, took 2 to 23 in total over
/// all stages.
constexpr int most_steps = 200;
/// Sweeps and Newton steps where nothing may wait for their result.
constexpr int recorded_sweeps = 6, recorded_steps = 8;
/// A Newton step longer than this (in ln P) leaves the region where its model is valid.
constexpr double longest_step = 2.0;

Tensor sweeps_in_log_space(Tensor log_p, int64_t sweeps) {
    for (int64_t t = 0; t < sweeps; ++t) {
        log_p = log_p - log_p.logsumexp(-1, true);
        log_p = log_p - log_p.logsumexp(-2, true);
    }
    return log_p.exp();
}

/// I − PᵀP for a bistochastic P (B, n, n): a graph Laplacian. Its diagonal is the sum of the rest of the row,
/// which is free of cancellation.
Tensor laplacian(const Tensor& p) {
    Tensor gram = torch::matmul(p.mT(), p);
    gram.diagonal(0, -2, -1).zero_();
    return torch::diag_embed(gram.sum(-1)) - gram;
}

Tensor solution(const Tensor& matrices, const Tensor& right) {
    return std::get<0>(torch::linalg_solve_ex(matrices, right));  // unchecked: NaN stays NaN
}

// Balancing works on (n, n, B), the batch last: sums over streams are then sums of long vectors.

void normalise_rows(Tensor& p) {
    p.div_(p.sum(1, true));
}

void normalise_columns(Tensor& p) {
    p.div_(p.sum(0, true));
}

/// (B): the largest |column sum − 1|.
Tensor column_defect(const Tensor& p) {
    return (p.sum(0) - 1).abs().amax(0);
}

/// Newton step for Σ_i ln Σ_j exp(Z_ij + v_j) − Σ_j v_j with normalised rows of P, kept only if it
/// shrinks the defect.
Tensor newton_step(const Tensor& p, const Tensor& defect, double target) {
    Tensor matrices = laplacian(p.permute({2, 0, 1}));
    matrices.diagonal(0, -2, -1).add_(0.1 * target);  // keeps rounding from moving decoupled streams
    const Tensor rest = (1 - p.sum(0)).t().unsqueeze(-1);
    Tensor step = solution(matrices, rest);
    step = step * (longest_step / step.abs().amax(1, true)).clamp_max(1);
    Tensor trial = p * step.squeeze(-1).t().exp().unsqueeze(0);
    normalise_rows(trial);
    return torch::where(column_defect(trial) < 0.9 * defect, trial, p);
}

/// Balances P > 0 in place: rows to rounding, columns to `target`.
void balance(Tensor& p, double target, int64_t plain_sweeps) {
    for (int64_t sweep = 0; sweep < plain_sweeps; ++sweep) {
        normalise_rows(p);
        normalise_columns(p);
    }
    normalise_rows(p);
    for (int step = 0; step < most_steps; ++step) {
        const Tensor defect = column_defect(p);
        const Tensor open = (defect > target).nonzero().squeeze(-1);
        if (open.numel() == 0) return;
        Tensor part = newton_step(p.index_select(2, open), defect.index_select(0, open), target);
        normalise_columns(part);
        normalise_rows(part);
        p.index_copy_(2, open, part);
    }
}

/// balanced() by a fixed number of steps for all matrices, reporting whether they reached the target.
Tensor balanced_without_waiting(const Tensor& logits, double target, Recording& recording) {
    Tensor p = (logits - logits.amax({1, 2}, true)).exp().permute({1, 2, 0}).contiguous();
    for (int sweep = 0; sweep < recorded_sweeps; ++sweep) {
        normalise_rows(p);
        normalise_columns(p);
    }
    normalise_rows(p);
    for (int step = 0; step < recorded_steps; ++step) {
        p = newton_step(p, column_defect(p), target);
        normalise_columns(p);
        normalise_rows(p);
    }
    recording.report((column_defect(p) <= target).all().logical_not());  // NaN fails too
    return p.permute({2, 0, 1}).contiguous();
}

/// The limit of Sinkhorn's sweeps for logits (B, n, n) in double.
Tensor balanced(const Tensor& logits, int64_t plain_sweeps) {
    if (logits.numel() == 0) return logits.clone();
    const double rounding = 4 * static_cast<double>(logits.size(1)) * std::numeric_limits<double>::epsilon();
    const double target = std::max(tolerance, rounding);
    if (auto* const recording = Recording::current())
        return balanced_without_waiting(logits, target, *recording);
    const double spread = (logits.amax({1, 2}) - logits.amin({1, 2})).max().item<double>();
    int doublings = 0;
    while (std::isfinite(spread) && std::ldexp(spread, -doublings) > largest_spread) ++doublings;
    Tensor p = (std::ldexp(1.0, -doublings) * (logits - logits.amax({1, 2}, true)))
                   .exp()
                   .permute({1, 2, 0})
                   .contiguous();
    for (; doublings > 0; --doublings) {
        balance(p, coarse_tolerance, coarse_sweeps);
        p.square_();  // doubles logits and potentials alike
    }
    balance(p, target, plain_sweeps);
    return p.permute({2, 0, 1}).contiguous();
}

/// The gradient at a bistochastic P from G = ∂L/∂P; sweeps < 0 solves directly.
Tensor implicit_gradient(const Tensor& p, const Tensor& g, int64_t sweeps) {
    const Tensor h = p * g;
    const Tensor row = h.sum(-1, true);
    const Tensor column = h.sum(-2).unsqueeze(-1);
    Tensor u;
    Tensor v = torch::zeros_like(column);
    if (sweeps < 0) {
        Tensor matrices = laplacian(p) + 1.0 / static_cast<double>(p.size(-1));
        // Couplings below rounding have right sides below rounding: without this, their quotient would be
        // arbitrary.
        matrices.diagonal(0, -2, -1).add_(std::numeric_limits<double>::epsilon());
        v = solution(matrices, column - torch::matmul(p.mT(), row));
        u = row - torch::matmul(p, v);
    }
    for (int64_t sweep = 0; sweep < sweeps; ++sweep) {
        u = row - torch::matmul(p, v);
        v = column - torch::matmul(p.mT(), u);
    }
    return p * (g - u - v.mT());
}

/// Passes a gradient on, and refuses to be differentiated with respect to the logits. It is linear in the
/// incoming gradient; products with a Jacobian need that derivative.
class OnceDifferentiable : public torch::autograd::Function<OnceDifferentiable> {
public:
    static Tensor forward(AutogradContext* /*context*/, const Tensor& gradient, const Tensor& /*logits*/) {
        return gradient.clone();
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        if (context->needs_input_grad(1))
            throw std::logic_error(
                "sinkhorn: the implicit gradient has no derivative; use Backward::unrolled");
        return {gradients[0], Tensor()};
    }
};

class ImplicitSinkhorn : public torch::autograd::Function<ImplicitSinkhorn> {
public:
    /// backward_sweeps < 0: the direct solve.
    static Tensor forward(AutogradContext* context, const Tensor& logits, int64_t sweeps, bool to_limit,
                          int64_t backward_sweeps) {
        const int64_t n = logits.size(-1);
        const Tensor wide = logits.to(torch::kDouble).reshape({-1, n, n});
        const Tensor p = to_limit ? balanced(wide, sweeps) : sweeps_in_log_space(wide, sweeps);
        context->save_for_backward({logits, p});
        context->saved_data["sweeps"] = backward_sweeps;
        return p.reshape(logits.sizes()).to(logits.scalar_type());
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const variable_list saved = context->get_saved_variables();
        const Tensor& logits = saved[0];
        Tensor gradient;
        {
            const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
            const Tensor p = saved[1].detach();
            const Tensor upstream = gradients[0].to(torch::kDouble).reshape(p.sizes());
            gradient = implicit_gradient(p, upstream, context->saved_data["sweeps"].toInt())
                           .reshape(logits.sizes())
                           .to(logits.scalar_type());
        }
        if (torch::GradMode::is_enabled()) gradient = OnceDifferentiable::apply(gradient, logits);
        return {gradient, Tensor(), Tensor(), Tensor()};
    }
};

}  // namespace

Tensor sinkhorn(const Tensor& logits, const MixerOptions& options) {
    const int64_t sweeps = options.sinkhorn_iterations;
    const Tensor scaled = options.temperature == 1.0 ? logits : logits / options.temperature;
    switch (options.sinkhorn_backward) {
        case MixerOptions::Backward::direct:
            return ImplicitSinkhorn::apply(scaled, sweeps == 0 ? coarse_sweeps : sweeps, true, int64_t{-1});
        case MixerOptions::Backward::gauss_seidel:
            return ImplicitSinkhorn::apply(scaled, sweeps == 0 ? coarse_sweeps : sweeps, sweeps == 0,
                                           static_cast<int64_t>(options.gauss_seidel_sweeps));
        case MixerOptions::Backward::unrolled:
            break;
    }
    if (sweeps == 0)
        throw std::invalid_argument(
            "sinkhorn_iterations 0 (to tolerance) with the unrolled gradient: must be ≥ 1");
    return sweeps_in_log_space(scaled, sweeps);
}

}  // namespace spectra::train
