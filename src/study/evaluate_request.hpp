#pragma once

#include <optional>
#include <string>

namespace spectra::study {

/// The evaluation of a trained model on a text.
struct EvaluateRequest {
    std::string checkpoint, text;
    std::string device = "auto";
    std::optional<int> threads;
    bool json = false, quiet = false;
};

}  // namespace spectra::study
