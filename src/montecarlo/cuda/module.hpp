#pragma once

#include "montecarlo/cuda/backend.hpp"

#include <memory>
#include <string>

namespace spectra::montecarlo::cuda {

/// The GPU backend for n streams of width p, from the module spectra_cuda, which is loaded at the first call:
/// programs need neither CUDA nor its start-up time until then. Returns null, with the reason in one line in
/// why_not, if there is no module, no device, or too little memory. The ranks of a machine take its devices
/// in turn.
std::unique_ptr<Backend> open_backend(int streams, int width, Precision precision, std::string& why_not,
                                      int local_rank = 0);

/// Whether the module spectra_cuda is there, whatever it needs.
bool has_cuda_module();

}  // namespace spectra::montecarlo::cuda
