#include "command_line.hpp"
#include "torch_program/commands.hpp"
#include "train/validate_model.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <string>

namespace {

std::string torch_version() {
    const auto gpus = torch::cuda::device_count();
    return fmt::format("Torch {}, {}", TORCH_VERSION,
                       gpus == 0 ? "no GPU" : fmt::format("{} GPU{}", gpus, gpus == 1 ? "" : "s"));
}

}  // namespace

// The program that runs the commands of spectra that need Torch.
int main(int argc, char** argv) {
    // Every step allocates and frees tensors: memory returned to the system would cost page faults again.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    return spectra::cli::run(argc, argv,
                             {.train = spectra::cli::train_model,
                              .cost = spectra::cli::cost_models,
                              .evaluate = spectra::cli::evaluate,
                              .measure = spectra::train::validate_model,
                              .version = torch_version});
}
