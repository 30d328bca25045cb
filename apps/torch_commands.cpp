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

namespace {

/// The threads of OpenMP and OpenBLAS wait for each other by spinning. Where several programs share the cores, those
/// that spin keep away those that are waited for. Both libraries read the environment when they are loaded; what
/// the user has set there stays.
void let_threads_sleep() {
    const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
    if (!is_set("OMP_WAIT_POLICY") && !is_set("GOMP_SPINCOUNT") && !is_set("KMP_BLOCKTIME")) {
        setenv("OMP_WAIT_POLICY", "passive", 0);
        setenv("GOMP_SPINCOUNT", "1000", 0);  // a few microseconds: operations follow each other closely
    }
    setenv("OPENBLAS_THREAD_TIMEOUT", "14", 0);  // 2^14 cycles; its default is 2^26
}

}  // namespace

std::optional<std::filesystem::path> torch_program() {
    const auto here = program_folder();
    std::error_code none;
    if (auto place = here / "spectra-torch"; here.is_absolute() && std::filesystem::exists(place, none)) return place;
    return {};
}

void start_torch_program(char** arguments) {
    let_threads_sleep();
    if (const auto place = torch_program()) {
        execv(place->c_str(), arguments);
        throw std::runtime_error(fmt::format("{} cannot be started: {}", place->string(), std::strerror(errno)));
    }
    throw std::runtime_error(
        "this command needs the program spectra-torch, which is built if CMake finds LibTorch (Debian's "
        "libtorch-dev); ./spectra installs and builds it by itself");
}

}  // namespace spectra::cli
