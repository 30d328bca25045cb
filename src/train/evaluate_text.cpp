#include "train/evaluate_text.hpp"

#include "report/json_number.hpp"
#include "train/host_threads.hpp"
#include "train/model_description.hpp"
#include "train/trainer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <numbers>
#include <numeric>
#include <vector>

namespace spectra::train {

namespace {

/// −ln p of the targets, summed over each window.
std::vector<double> window_losses(Transformer& model, const Batch& all, study::Observer& observer) {
    const torch::NoGradGuard no_grad;
    const auto count = all.x.size(0), steps = all.x.size(1);
    const auto batch = evaluation_batch(steps, parameter_count(model), all.x.device());
    std::vector<double> losses;
    for (int64_t from = 0; from < count; from += batch) {
        study::throw_if_stopped(observer);
        observer.update(static_cast<int>(from), static_cast<int>(count));
        const auto size = std::min(batch, count - from);
        const auto prediction = model.forward(all.x.narrow(0, from, size)).prediction;
        const auto each =
            torch::cross_entropy_loss(prediction.flatten(0, 1).to(torch::kFloat),
                                      all.y.narrow(0, from, size).flatten(), {}, at::Reduction::None);
        const auto sums = each.view({size, steps}).to(torch::kDouble).sum(1).cpu();
        losses.insert(losses.end(), sums.data_ptr<double>(), sums.data_ptr<double>() + size);
    }
    return losses;
}

struct Ratio {
    double value, error;
};

/// Σ above / Σ below, with its standard error over independent terms.
Ratio ratio(const std::vector<double>& above, const std::vector<double>& below) {
    const double whole = std::accumulate(below.begin(), below.end(), 0.0);
    const double value = std::accumulate(above.begin(), above.end(), 0.0) / whole;
    double square = 0;
    for (std::size_t k = 0; k < above.size(); ++k) square += std::pow(above[k] - value * below[k], 2);
    const auto count = static_cast<double>(above.size());
    return {value, count > 1 ? std::sqrt(count / (count - 1) * square) / whole : NAN};
}

bool same_file(const std::string& a, const std::string& b) {
    std::error_code missing;
    return std::filesystem::equivalent(a, b, missing);
}

}  // namespace

TextEvaluation evaluate_text(const study::EvaluateRequest& r, study::Observer& observer) {
    const auto device = chosen_device(r.device);
    use_threads(r.threads, device);
    const auto checkpoint = load_checkpoint(r.checkpoint);
    auto trained = trained_model(checkpoint, r.checkpoint, r.text);
    auto& model = *trained.learner->transformer();
    model.to(device);
    observer.stage("evaluating");
    const auto& data = trained.data;
    auto losses = window_losses(model, tensors_of(data, data.validation, device), observer);

    TextEvaluation e{
        .checkpoint = r.checkpoint, .text = r.text, .model = trained.words, .device = device_words(device)};
    const auto own = Description::parse(checkpoint.config).at("text").get<std::string>();
    e.own_text = same_file(own, r.text);
    e.vocabulary = data.dimension;
    e.windows = data.validation.count;
    e.context = data.steps;
    e.tokens = e.windows * e.context;
    std::vector<double> bytes;
    for (const auto count : tasks::window_bytes(data)) bytes.push_back(static_cast<double>(count));
    e.bytes = static_cast<std::int64_t>(std::accumulate(bytes.begin(), bytes.end(), 0.0));
    const auto per_token = ratio(losses, std::vector<double>(losses.size(), static_cast<double>(e.context)));
    e.loss = per_token.value;
    e.loss_error = per_token.error;
    e.perplexity = std::exp(e.loss);
    for (auto& loss : losses) loss /= std::numbers::ln2;
    const auto per_byte = ratio(losses, bytes);
    e.bits_per_byte = per_byte.value;
    e.bits_per_byte_error = per_byte.error;
    return e;
}

nlohmann::ordered_json evaluation_json(const TextEvaluation& e) {
    using report::number;
    return {{"checkpoint", e.checkpoint},
            {"text", e.text},
            {"model", e.model},
            {"device", e.device},
            {"own_text", e.own_text},
            {"vocabulary", e.vocabulary},
            {"windows", e.windows},
            {"context", e.context},
            {"tokens", e.tokens},
            {"bytes", e.bytes},
            {"loss", number(e.loss)},
            {"loss_error", number(e.loss_error)},
            {"perplexity", number(e.perplexity)},
            {"bits_per_byte", number(e.bits_per_byte)},
            {"bits_per_byte_error", number(e.bits_per_byte_error)}};
}

std::string evaluation_page(const TextEvaluation& e) {
    std::string page = fmt::format("{}: {}\n", e.checkpoint, e.model);
    page +=
        fmt::format("{}: {} tokens ({} bytes) in {} window{} of {}, vocabulary {} ({})\n\n", e.text, e.tokens,
                    e.bytes, e.windows, e.windows == 1 ? "" : "s", e.context, e.vocabulary, e.device);
    const auto line = [&](const char* name, double value, double error) {
        page += fmt::format("  {:<34}{:>12.4f}", name, value);
        page += std::isfinite(error) ? fmt::format(" ± {:.2g}\n", error) : "\n";
    };
    line("cross-entropy, nats per token", e.loss, e.loss_error);
    line("perplexity, per token", e.perplexity, e.perplexity * e.loss_error);
    line("bits per byte", e.bits_per_byte, e.bits_per_byte_error);
    page += "  ±: standard error over windows\n";
    if (e.own_text) page += "\nThe model learned this text, except its last tenth.\n";
    return page;
}

}  // namespace spectra::train
