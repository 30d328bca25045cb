#include "montecarlo/cuda/module.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>
#include <vector>

namespace spectra::montecarlo::cuda {
namespace {

constexpr char file_name[] = "spectra_cuda.so";

std::vector<std::string> places() {
    std::vector<std::string> out;
    std::error_code none;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
    if (!program.empty()) {
        out.push_back(program / file_name);
        out.push_back(program.parent_path() / "lib" / "jacobian_spectra" / file_name);
    }
#ifdef SPECTRA_CUDA_MODULE
    out.emplace_back(SPECTRA_CUDA_MODULE);
#endif
    out.emplace_back(file_name);
    return out;
}

struct Module {
    OpenBackend open = nullptr;
    std::string why_not = "the module spectra_cuda was not found";
};

/// Stays loaded: CUDA does not survive being unloaded.
Module load() {
    Module out;
    for (const auto& place : places()) {
        const bool path = place.find('/') != std::string::npos;
        std::error_code none;
        if (path && !std::filesystem::exists(place, none)) continue;
        void* const handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) {
            if (path) out.why_not = dlerror();  // it is there, and lacks something
            continue;
        }
        out.open = reinterpret_cast<OpenBackend>(dlsym(handle, open_backend_name));
        if (out.open != nullptr) return out;
        out.why_not = place + " has no " + open_backend_name;
    }
    return out;
}

}  // namespace

std::unique_ptr<Backend> open_backend(int streams, int width, Precision precision, std::string& why_not) {
    static const Module module = load();
    if (module.open != nullptr)
        return std::unique_ptr<Backend>(module.open(streams, width, precision, why_not));
    why_not = module.why_not;
    return nullptr;
}

}  // namespace spectra::montecarlo::cuda
