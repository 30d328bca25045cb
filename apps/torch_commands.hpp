#pragma once

#include "study/cost_request.hpp"
#include "study/evaluate_request.hpp"
#include "study/invocation.hpp"
#include "study/train_request.hpp"
#include "validate.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace spectra::cli {

/// The commands that need Torch. The program spectra does not include them: it checks the command line and replaces
/// itself with spectra-torch, which does.
struct TorchCommands {
    std::function<int(const study::TrainRequest&, const study::Invocation& invocation)> train;
    std::function<int(const study::CostRequest&, const study::Invocation& invocation)> cost;
    std::function<int(const study::EvaluateRequest&)> evaluate;
    study::Measurer measure;  ///< of the command validate
    std::function<std::string()> version;  ///< "Torch 1.13.1, no GPU"; the last line of the program's version
};

/// The script ./spectra only wants to know whether the command needs spectra-torch (ExitStatus::needs_torch): nothing is
/// asked or done.
bool torch_is_probed();

/// The program spectra-torch, which must be in the same folder as this one. Nothing if it is not there.
std::optional<std::filesystem::path> torch_program();

/// Replaces this program with spectra-torch, with the same arguments. Its threads sleep while they wait, unless the
/// environment sets how they wait. Throws
/// std::runtime_error with instructions to build it if it is missing.
[[noreturn]] void start_torch_program(char** arguments);

}  // namespace spectra::cli
