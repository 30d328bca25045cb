#include "montecarlo/cuda/module.hpp"

#include "base/module.hpp"

namespace spectra::montecarlo::cuda {
namespace {

constexpr const char* module_file = "spectra_cuda.so";

/// Stays loaded, because CUDA cannot be unloaded.
struct Module {
    std::string why_not;
    OpenBackend open =
        reinterpret_cast<OpenBackend>(load_module(module_file, open_backend_name, false, why_not));
};

}  // namespace

std::unique_ptr<Backend> open_backend(int streams, int width, Precision precision, std::string& why_not,
                                      int local_rank) {
    static const Module module;
    if (module.open != nullptr)
        return std::unique_ptr<Backend>(module.open(streams, width, precision, why_not, local_rank));
    why_not = module.why_not;
    return nullptr;
}

bool has_cuda_module() {
    return has_module(module_file);
}

}  // namespace spectra::montecarlo::cuda
