#include "montecarlo/module.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>
#include <vector>

namespace spectra::montecarlo {
namespace {

std::vector<std::string> places(const std::string& file_name, const std::string& built) {
    std::vector<std::string> out;
    std::error_code none;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
    if (!program.empty()) {
        out.push_back(program / file_name);
        out.push_back(program.parent_path() / "lib" / "jacobian_spectra" / file_name);
    }
    if (!built.empty()) out.push_back(built);
    out.push_back(file_name);
    return out;
}

}  // namespace

void* load_module(const std::string& file_name, const std::string& built, const char* symbol, bool global,
                  std::string& why_not) {
    why_not = "the module " + file_name.substr(0, file_name.rfind('.')) + " was not found";
    for (const auto& place : places(file_name, built)) {
        const bool path = place.find('/') != std::string::npos;
        std::error_code none;
        if (path && !std::filesystem::exists(place, none)) continue;
        void* const handle = dlopen(place.c_str(), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
        if (handle == nullptr) {
            if (path) why_not = dlerror();  // it is there, and lacks something
            continue;
        }
        if (void* const out = dlsym(handle, symbol)) return out;
        why_not = place + " has no " + symbol;
    }
    return nullptr;
}

}  // namespace spectra::montecarlo
