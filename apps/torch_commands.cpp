#include "torch_commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace spectra::cli {

bool torch_is_probed() {
    const char* const state = std::getenv("SPECTRA_TORCH");
    return state != nullptr && std::string_view(state) == "probe";
}

void start_torch_program(char** arguments) {
    constexpr const char* name = "spectra-torch";
    std::error_code none;
    const auto here = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
    if (const auto place = here / name; here.is_absolute() && std::filesystem::exists(place, none)) {
        execv(place.c_str(), arguments);
        throw std::runtime_error(fmt::format("{} cannot be started: {}", place.string(), std::strerror(errno)));
    }
    throw std::runtime_error(
        "this command needs the program spectra-torch, which is built if CMake finds LibTorch (Debian's "
        "libtorch-dev); ./spectra installs and builds it by itself");
}

}  // namespace spectra::cli
