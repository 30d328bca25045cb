#include "base/module.hpp"

#include "base/program.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <system_error>
#include <vector>

namespace spectra {
namespace {

/// The folder of the shared library that this code was linked into; empty in a program, whose name is what its caller
/// says it is.
std::filesystem::path own_folder() {
    Dl_info info{};
    link_map* map = nullptr;
    if (dladdr1(reinterpret_cast<const void*>(&own_folder), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) ==
            0 ||
        map == nullptr || map->l_name == nullptr)
        return {};
    const std::filesystem::path file = map->l_name;
    return file.is_absolute() ? file.parent_path() : std::filesystem::path{};
}

/// Absolute paths only: the loader would search for a bare name in its own places, the current folder
/// included.
std::vector<std::filesystem::path> places(const std::string& file_name) {
    std::vector<std::filesystem::path> out;
    const auto program = program_folder();
    if (program.is_absolute()) {
        out.push_back(program / file_name);
        out.push_back(program.parent_path() / "lib" / "jacobian_spectra" / file_name);
    }
    const auto own = own_folder();
    if (!own.empty()) {
        out.push_back(own / file_name);
        out.push_back(own.parent_path().parent_path() / "lib" / "jacobian_spectra" / file_name);
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
