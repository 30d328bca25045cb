#pragma once

#include "study/evaluate_request.hpp"
#include "study/observer.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace spectra::train {

/// How well a model predicts a text, in adjacent windows. With ℓ_w the sum of −ln p over the targets of window w, T of them
/// in all, and b_w their bytes:
///
///   loss           Σ ℓ_w / T, nats per token
///   perplexity     exp(loss)
///   bits_per_byte  B = Σ ℓ_w / (ln 2 · Σ b_w): of the text, whatever its tokens
///
/// Standard errors are those of a ratio of sums over W windows as if these were independent, for B
/// √(W/(W − 1) Σ (ℓ_w/ln 2 − B b_w)²) / Σ b_w; NaN of one window.
struct TextEvaluation {
    std::string checkpoint, text, model, device;
    bool own_text = false;  ///< the model learned it
    std::int64_t vocabulary = 0, windows = 0, context = 0, tokens = 0,
                 bytes = 0;  ///< tokens and bytes that were predicted
    double loss = 0, loss_error = 0, perplexity = 0, bits_per_byte = 0, bits_per_byte_error = 0;
};

/// Throws std::invalid_argument for a file that is no checkpoint of a model of text, a text that is too short, or one with
/// bytes that the model does not know.
TextEvaluation evaluate_text(const study::EvaluateRequest& request, study::Observer& observer);

nlohmann::ordered_json evaluation_json(const TextEvaluation& evaluation);
std::string evaluation_page(const TextEvaluation& evaluation);

}  // namespace spectra::train
