#include "train/modules/stablemax.hpp"

namespace spectra::train {

using torch::Tensor;

Tensor log_stablemax(const Tensor& logits) {
    const auto x = logits.to(torch::kDouble);
    // Each branch only sees its own side, so that the other's gradient stays finite.
    const auto log_s = torch::where(x.ge(0), torch::log1p(x.clamp_min(0)), -torch::log1p(-x.clamp_max(0)));
    return log_s - torch::logsumexp(log_s, -1, true);
}

Tensor stablemax_loss(const Tensor& logits, const Tensor& targets) {
    const auto scored = targets.ge(0).to(torch::kDouble);
    const auto log_p = log_stablemax(logits).gather(-1, targets.clamp_min(0).unsqueeze(-1)).squeeze(-1);
    return -((log_p * scored).sum(-1) / scored.sum(-1).clamp_min(1)).mean();
}

}  // namespace spectra::train
