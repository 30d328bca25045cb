#include "train/models/tiny_recursive.hpp"

#include <cmath>

namespace spectra::train {

using torch::Tensor;
namespace nn = torch::nn;

TinyRecursive::TinyRecursive(const ModelConfig& config) : Transformer(config) {
    const auto channels = config.channels;
    answer_start_ = register_parameter("answer_start", torch::randn({channels}));
    latent_start_ = register_parameter("latent_start", torch::randn({channels}));
    if (config.puzzles > 0 && config.puzzle_tokens > 0)
        puzzle_table_ = register_parameter(
            "puzzles", torch::zeros({config.puzzles, config.puzzle_tokens, channels / config.streams}));
    head_ = register_module("head", nn::Linear(nn::LinearOptions(channels, config.dimension).bias(false)));
    halt_ = register_module("halt", nn::Linear(channels, 1));

    const torch::NoGradGuard no_grad;
    const double scale = 1 / std::sqrt(static_cast<double>(channels));
    auto table = token_table();
    table.normal_(0, scale);
    head_->weight.normal_(0, scale);
    halt_->weight.zero_();
    constexpr double rarely = -5;  // at first no answer is right
    halt_->bias.fill_(rarely);
}

Tensor TinyRecursive::embed_grid(const Tensor& x) const {
    const auto cells = torch::embedding(token_table(), x.slice(1, 1));
    const double scale = std::sqrt(static_cast<double>(config().channels));
    if (!puzzle_table_.defined()) return scale * cells;
    const auto puzzle = x.select(1, 0) - config().dimension;
    const auto tokens = puzzle_table_.index_select(0, puzzle).repeat({1, 1, config().streams});
    return scale * torch::cat({tokens, cells}, 1);
}

TinyRecursive::States TinyRecursive::first_states(const Tensor& x) const {
    const auto tokens = x.size(1) - 1 + (puzzle_table_.defined() ? config().puzzle_tokens : 0);
    const auto everywhere = [&](const Tensor& start) {
        return start.expand({x.size(0), tokens, config().channels});
    };
    return {everywhere(answer_start_), everywhere(latent_start_)};
}

Tensor TinyRecursive::cycle(const Tensor& embedded, States& states) {
    const auto added = embedded + states.answer;
    const auto latent = propagate({added + states.latent, added});
    states.latent = normalised(latent.state);
    const auto answer = pass(states.answer + states.latent);
    states.answer = normalised(answer.state);
    return latent.penalty.defined() ? latent.penalty + answer.penalty : Tensor{};
}

TinyRecursive::Step TinyRecursive::step(const Tensor& x, const States& before) {
    Step out;
    auto states = before;
    {
        const torch::NoGradGuard no_grad;
        const auto embedded = embed_grid(x);
        for (int64_t k = 1; k < config().answer_cycles; ++k) cycle(embedded, states);
    }
    out.penalty = cycle(embed_grid(x), states);
    out.logits = head_->forward(states.answer.slice(1, states.answer.size(1) - (x.size(1) - 1)));
    out.halt = halt_->forward(states.answer.select(1, 0)).squeeze(-1);
    out.states = {states.answer.detach(), states.latent.detach()};
    return out;
}

Transformer::Start TinyRecursive::start(const Tensor& x) {
    const torch::NoGradGuard no_grad;
    const auto embedded = embed_grid(x);
    auto states = first_states(x);
    for (int64_t k = 1; k < config().answer_cycles; ++k) cycle(embedded, states);
    const auto added = embedded + states.answer;
    return {added + states.latent, added};
}

}  // namespace spectra::train
