#pragma once

#include "train_request.hpp"
#include "validate.hpp"

#include <functional>
#include <string>

namespace spectra::cli {

/// The commands that need Torch. The program spectra has none of them: it checks what was typed and starts
/// spectra-torch, which has, in its place.
struct TorchCommands {
    std::function<int(const TrainRequest&, const std::string& command)> train;
    study::Measurer measure;  ///< of the command validate
};

/// Replaces this program by spectra-torch with the same arguments, which must lie beside it. Throws std::runtime_error, saying how to get it, where there is none.
[[noreturn]] void start_torch_program(char** arguments);

}  // namespace spectra::cli
