#include "train/recorded_step.hpp"

#include "train/modules/recording.hpp"

namespace spectra::train {

using torch::Tensor;

std::unique_ptr<RecordedStep> RecordedStep::record(const Batch& batch, const Compute& compute) {
    auto step = std::make_unique<RecordedStep>();
    step->batch_ = {batch.x.clone(), batch.y.clone()};
    if (batch.least_steps.defined()) step->batch_.least_steps = batch.least_steps.clone();
    const bool done = step->graph_.record([&] {
        const Recording recording;
        const auto [loss, all] = compute(step->batch_);
        const auto number = [](const Tensor& t) { return t.to(torch::kDouble).reshape({}); };
        step->gradient_ = all.gradient;
        step->summary_ =
            torch::stack({number(loss), number(all.norm), number(recording.failed(batch.x.device()))});
    });
    return done ? std::move(step) : nullptr;
}

std::optional<Gradients> RecordedStep::replay(const Batch& batch) {
    if (!batch.x.sizes().equals(batch_.x.sizes())) return {};
    batch_.x.copy_(batch.x);
    batch_.y.copy_(batch.y);
    if (batch.least_steps.defined()) batch_.least_steps.copy_(batch.least_steps);
    graph_.replay();
    const auto summary = summary_.cpu();
    const auto* const numbers = summary.data_ptr<double>();
    if (numbers[2] != 0) return {};
    return Gradients{gradient_, numbers[0], numbers[1]};
}

}  // namespace spectra::train
