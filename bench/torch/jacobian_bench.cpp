// What a measurement without the matrix spends its time on: products with J and Jᵀ of a gpt of 4 blocks and
// 128 channels at T tokens (N = 128 T), rows a pass; then the whole law, with the share of orthogonalising,
// and by how many of its errors window and collapsed miss those of the matrix (to N = 4096).

#include <benchmark/benchmark.h>

#include "train/measure.hpp"

namespace {

using namespace spectra::train;
using torch::Tensor;

std::shared_ptr<Transformer> model(int64_t tokens) {
    auto config = matched_config("gpt");
    config.layers = 4;
    config.context = tokens + 1;
    torch::manual_seed(1);
    auto out = std::make_shared<Transformer>(config);
    const torch::NoGradGuard no_grad;
    for (auto& p : out->parameters()) p.add_(0.02 * torch::randn_like(p));
    return out;
}

Tensor input(int64_t tokens) {
    torch::manual_seed(2);
    return torch::randn({1, tokens, 16});
}

void product(benchmark::State& state, bool forwards) {
    const auto tokens = state.range(0), rows = state.range(1);
    const auto transformer = model(tokens);
    transformer->to(torch::kDouble);
    for (auto& p : transformer->parameters()) p.requires_grad_(false);
    const spectra::jacobian::BatchFunction f = [&](const Tensor& states) {
        auto last = states;
        transformer->walk(states, [&](Connection&, const Tensor&, const Tensor& after) { last = after; });
        return last;
    };
    spectra::jacobian::JacobianOptions options;
    options.block = 2 * rows;  // the operator takes half, for the graph of the double pass
    spectra::jacobian::JacobianOperator jacobian(f, transformer->embed(input(tokens).to(torch::kDouble))[0], options);
    const auto vectors = torch::randn({rows, jacobian.inputs()}, torch::kDouble);
    for (auto _ : state) benchmark::DoNotOptimize(forwards ? jacobian.push(vectors) : jacobian.pull(vectors));
    state.counters["s/product"] =
        jacobian.work().seconds / static_cast<double>(std::max<int64_t>(jacobian.work().products, 1));
}

void push(benchmark::State& state) {
    product(state, true);
}

void pull(benchmark::State& state) {
    product(state, false);
}

void law(benchmark::State& state) {
    const auto tokens = state.range(0);
    const auto transformer = model(tokens);
    MeasureOptions options;
    options.jacobian.most_exact = 0;
    spectra::jacobian::JacobianLaw found;
    for (auto _ : state) found = measure_sequence(*transformer, input(tokens), options);
    const auto products = static_cast<double>(found.work.products);
    state.counters["probes"] = found.probes;
    state.counters["steps"] = found.steps;
    state.counters["products"] = products;
    state.counters["s/product"] = found.work.seconds / products;
    state.counters["orthogonalising"] = 1 - found.work.seconds / found.seconds;
    if (found.inputs > 4096) return;
    options.jacobian.most_exact = found.inputs;
    const auto exact = measure_sequence(*transformer, input(tokens), options);
    const auto missed = [&](double spectra::Metrics::*metric) {
        return (found.metrics.*metric - exact.metrics.*metric) / found.error.*metric;
    };
    state.counters["window"] = found.metrics.window;
    state.counters["window_missed"] = missed(&spectra::Metrics::window);
    state.counters["collapsed"] = found.metrics.collapsed;
    state.counters["collapsed_missed"] = missed(&spectra::Metrics::collapsed);
    state.counters["collapsed_error"] = found.error.collapsed;
    state.counters["largest"] = found.metrics.largest;
}

}  // namespace

BENCHMARK(push)->Args({16, 1})->Args({16, 8})->Args({64, 1})->Args({64, 8})->Unit(benchmark::kMillisecond);
BENCHMARK(pull)->Args({16, 1})->Args({16, 8})->Args({64, 1})->Args({64, 8})->Unit(benchmark::kMillisecond);
BENCHMARK(law)->Arg(8)->Arg(16)->Arg(40)->Unit(benchmark::kSecond)->Iterations(1);
