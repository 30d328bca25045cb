#include "base/module.hpp"

#include "base/program.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>
#include <vector>

namespace spectra {
namespace {

/// Absolute paths only: the loader would search for a bare name in its own places, the current folder
/// included.
std::vector<std::filesystem::path> places(const std::string& file_name) {
    std::vector<std::filesystem::path> out;
    const auto program = program_folder();
    if (program.is_absolute()) {
        out.push_back(program / file_name);
        out.push_back(program.parent_path() / "lib" / "jacobian_spectra" / file_name);
    }
    out.push_back(std::filesystem::path(SPECTRA_MODULE_DIR) / file_name);
    return out;
}

}  // namespace

void* load_module(const std::string& file_name, const char* symbol, bool global, std::string& why_not) {
    why_not = "the module " + file_name.substr(0, file_name.rfind('.')) + " was not found";
    for (const auto& place : places(file_name)) {
        std::error_code none;
        if (!std::filesystem::exists(place, none)) continue;
        void* const handle = dlopen(place.c_str(), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
        if (handle == nullptr) {
            why_not = dlerror();  // the file exists, but something that it needs is missing
            continue;
        }
        if (void* const out = dlsym(handle, symbol)) return out;
        why_not = place.string() + " has no " + symbol;
    }
    return nullptr;
}

bool has_module(const std::string& file_name) {
    for (const auto& place : places(file_name)) {
        std::error_code none;
        if (std::filesystem::exists(place, none)) return true;
    }
    return false;
}

}  // namespace spectra
