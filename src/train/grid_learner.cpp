#include "train/grid_learner.hpp"

#include "random/stream.hpp"
#include "tasks/pass_at_k.hpp"
#include "train/modules/stablemax.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace spectra::train {

using torch::Tensor;

namespace {

using Named = std::vector<std::pair<std::string, Tensor>>;

/// (B) with a dimension of size 1 for each further one of `like`.
Tensor shaped_like(const Tensor& per_place, const Tensor& like) {
    std::vector<int64_t> shape(static_cast<std::size_t>(like.dim()), 1);
    shape.front() = per_place.size(0);
    return per_place.view(shape);
}

/// The scored cells that are right, (B, cells).
Tensor right_cells(const Tensor& logits, const Tensor& targets) {
    return logits.argmax(-1).eq(targets).logical_and(targets.ge(0));
}

/// (B): every scored cell is right.
Tensor exactly_right(const Tensor& logits, const Tensor& targets) {
    return right_cells(logits, targets).logical_or(targets.lt(0)).all(-1);
}

/// Of `samples` grids drawn cell by cell from p (cells, kinds), on the host: how many are exactly right. The numbers
/// depend on `grid` only.
int right_samples(const Tensor& p, const Tensor& target, int samples, std::uint32_t grid) {
    constexpr std::uint32_t layer = 2;  // of Purpose::batch: 0 batches, 1 halting
    random::Stream stream(0, random::Purpose::batch, layer, grid);
    const auto cumulative = p.cumsum(-1).contiguous();
    const auto cells = p.size(0), kinds = p.size(1);
    const auto* const sums = cumulative.data_ptr<double>();
    const auto* const wanted = target.data_ptr<int64_t>();
    int right = 0;
    for (int k = 0; k < samples; ++k) {
        bool all = true;
        for (int64_t cell = 0; cell < cells && all; ++cell) {
            if (wanted[cell] < 0) continue;
            const auto* const row = sums + cell * kinds;
            const double u = stream.uniform() * row[kinds - 1];
            const auto w = wanted[cell];
            all = u <= row[w] && (w == 0 || u > row[w - 1]);
        }
        right += all ? 1 : 0;
    }
    return right;
}

class GridLearner final : public Learner {
public:
    GridLearner(const tasks::Dataset& data, ModelConfig config, double gate_weight)
        : gate_weight_(gate_weight) {
        if (data.puzzles == 0)
            throw std::invalid_argument(fmt::format(
                "architecture trm learns grids; the task must be grid or arc, not {}", data.task));
        config.tokens = true;
        config.dimension = data.dimension - data.puzzles;
        config.puzzles = data.puzzles;
        config.context = data.steps + config.puzzle_tokens;
        model_ = std::make_shared<TinyRecursive>(config);
    }
    torch::nn::Module& module() override { return *model_; }
    Transformer* transformer() override { return model_.get(); }
    std::vector<Tensor> moved_by_sign() const override {
        const auto& table = model_->puzzle_table();
        return table.defined() ? std::vector<Tensor>{table} : std::vector<Tensor>{};
    }

    Loss loss(const Batch& batch) override {
        const auto first = model_->first_states(batch.x);
        if (!now_.x.defined() || now_.x.size(0) != batch.x.size(0)) begin(first, batch);
        auto here = refilled(now_, first, batch);
        const auto targets = here.y.slice(1, 1);
        const auto step = model_->step(here.x, here.states);
        const auto right = exactly_right(step.logits, targets);
        Loss out;
        out.task = stablemax_loss(step.logits, targets);
        constexpr double halting_weight = 0.5;
        out.penalty = halting_weight *
                      torch::binary_cross_entropy_with_logits(step.halt, right.to(step.halt.scalar_type()));
        if (step.penalty.defined() && gate_weight_ != 0)
            out.penalty = out.penalty + gate_weight_ * step.penalty;

        const torch::NoGradGuard no_grad;
        here.states = step.states;
        here.steps = here.steps + 1;
        here.halted = halts(step.halt, here.steps, batch.least_steps, model_->config().supervision_steps);
        put(here, next_);
        return out;
    }
    void advance() override { put(next_, now_); }

    Named carried() const override {
        Named out;
        if (!now_.x.defined()) return out;
        for (const auto& [name, tensor] : parts(now_)) out.emplace_back(name, tensor.to(torch::kFloat));
        return out;
    }
    void carry(const Named& before) override {
        if (before.empty()) return;
        const auto device = model_->parameters().front().device();
        auto to = parts(now_);
        for (auto& [name, tensor] : to)
            for (const auto& [stored, value] : before)
                if (stored == name) tensor = value.to(device, type_of(name));
        now_ = from_parts(to);
        next_ = copy(now_);
    }

    Judged judge(const Batch& batch) override { return judged(batch, nullptr); }

    std::vector<std::pair<std::string, double>> measures(const Batch& validation, const Tick& tick) override {
        const torch::NoGradGuard no_grad;
        const int64_t at_once = validation.x.is_cuda() ? 256 : 32;
        constexpr int samples = 100;
        constexpr std::array ks{1, 2, 5, 10, 100};
        const auto count = validation.x.size(0);
        std::vector<std::pair<std::string, double>> sums;
        std::array<double, ks.size()> passed{};
        for (int64_t from = 0; from < count; from += at_once) {
            if (tick) tick(from, count);
            const auto size = std::min(at_once, count - from);
            const Batch part{validation.x.narrow(0, from, size), validation.y.narrow(0, from, size)};
            Tensor logits;
            const auto result = judged(part, &logits);
            if (sums.empty())
                for (const auto& [name, value] : result.means) sums.emplace_back(name, 0.0);
            for (std::size_t k = 0; k < sums.size(); ++k)
                sums[k].second +=
                    result.means[k].second * static_cast<double>(size) / static_cast<double>(count);
            const auto p = log_stablemax(logits).exp().cpu();
            const auto targets = part.y.slice(1, 1).cpu().contiguous();
            for (int64_t i = 0; i < size; ++i) {
                const int right =
                    right_samples(p[i], targets[i], samples, static_cast<std::uint32_t>(from + i));
                for (std::size_t k = 0; k < ks.size(); ++k)
                    passed[k] += tasks::pass_at_k(samples, right, ks[k]) / static_cast<double>(count);
            }
        }
        for (std::size_t k = 0; k < ks.size(); ++k)
            sums.emplace_back(fmt::format("pass_at_{}", ks[k]), passed[k]);
        return sums;
    }

private:
    static torch::ScalarType type_of(const std::string& name) {
        return name == "answer" || name == "latent" ? torch::kFloat
               : name == "halted"                   ? torch::kBool
                                                    : torch::kLong;
    }
    static Named parts(const Carry& c) {
        return {{"answer", c.states.answer}, {"latent", c.states.latent}, {"x", c.x}, {"y", c.y},
                {"steps", c.steps},          {"halted", c.halted}};
    }
    static Carry from_parts(const Named& p) {
        return {{p[0].second, p[1].second}, p[2].second, p[3].second, p[4].second, p[5].second};
    }
    static Carry copy(const Carry& c) {
        auto all = parts(c);
        for (auto& [name, tensor] : all) tensor = tensor.clone();
        return from_parts(all);
    }
    /// Into the tensors that are there, which a recorded step reads and writes.
    static void put(const Carry& from, const Carry& to) {
        const torch::NoGradGuard no_grad;
        const auto source = parts(from), target = parts(to);
        for (std::size_t k = 0; k < source.size(); ++k) target[k].second.copy_(source[k].second);
    }
    void begin(const TinyRecursive::States& first, const Batch& batch) {
        const torch::NoGradGuard no_grad;
        const auto steps = torch::zeros({batch.x.size(0)}, batch.x.options());
        now_ = copy({{first.answer.detach(), first.latent.detach()}, batch.x, batch.y, steps, steps.eq(0)});
        next_ = copy(now_);
    }

    Judged judged(const Batch& batch, Tensor* last_logits) {
        const torch::NoGradGuard no_grad;
        const auto targets = batch.y.slice(1, 1);
        const auto most = model_->config().supervision_steps;
        TinyRecursive::Step step;
        step.states = model_->first_states(batch.x);
        auto halting = torch::full({batch.x.size(0)}, most, batch.x.options());
        for (int64_t k = 1; k <= most; ++k) {
            step = model_->step(batch.x, step.states);
            halting = torch::where(step.halt.gt(0), halting.clamp_max(k), halting);
        }
        if (last_logits != nullptr) *last_logits = step.logits;
        const auto right = exactly_right(step.logits, targets);
        const auto cells = right_cells(step.logits, targets).sum(-1).to(torch::kDouble);
        return {stablemax_loss(step.logits, targets).item<double>(),
                {{"cell_accuracy", mean_of(cells / targets.ge(0).sum(-1))},
                 {"exact_accuracy", mean_of(right)},
                 {"halting_step", mean_of(halting)},
                 {"halt_accuracy", mean_of(step.halt.gt(0).eq(right))}}};
    }

    double gate_weight_;
    std::shared_ptr<TinyRecursive> model_;
    Carry now_, next_;  ///< before and after the last loss()
};

}  // namespace

Carry refilled(const Carry& carry, const TinyRecursive::States& first, const Batch& batch) {
    const auto chosen = [&](const Tensor& fresh, const Tensor& kept) {
        return torch::where(shaped_like(carry.halted, kept), fresh, kept);
    };
    return {{chosen(first.answer, carry.states.answer), chosen(first.latent, carry.states.latent)},
            chosen(batch.x, carry.x),
            chosen(batch.y, carry.y),
            carry.steps.masked_fill(carry.halted, 0),
            carry.halted};
}

Tensor halts(const Tensor& halt_logits, const Tensor& steps, const Tensor& least_steps, int64_t most) {
    return steps.ge(most).logical_or(halt_logits.gt(0).logical_and(steps.ge(least_steps)));
}

std::unique_ptr<Learner> make_grid_learner(const tasks::Dataset& data, ModelConfig config,
                                           double gate_weight) {
    return std::make_unique<GridLearner>(data, std::move(config), gate_weight);
}

}  // namespace spectra::train
