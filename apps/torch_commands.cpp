#include "torch_commands.hpp"

#include "base/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace spectra::cli {

bool torch_is_probed() {
    const char* const state = std::getenv("SPECTRA_TORCH");
    return state != nullptr && std::string_view(state) == "probe";
}

std::optional<std::filesystem::path> torch_program() {
    const auto here = program_folder();
    std::error_code none;
    if (auto place = here / "spectra-torch"; here.is_absolute() && std::filesystem::exists(place, none)) return place;
    return {};
}

void start_torch_program(char** arguments) {
    if (const auto place = torch_program()) {
        execv(place->c_str(), arguments);
        throw std::runtime_error(fmt::format("{} cannot be started: {}", place->string(), std::strerror(errno)));
    }
    throw std::runtime_error(
        "this command needs the program spectra-torch, which is built if CMake finds LibTorch (Debian's "
        "libtorch-dev); ./spectra installs and builds it by itself");
}

}  // namespace spectra::cli
