#include "parallel/launch.hpp"

#include "base/module.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace spectra::parallel {
namespace {

std::optional<int> number(const char* variable) {
    const char* const text = std::getenv(variable);
    if (text == nullptr) return {};
    int out = 0;
    const char* const end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, out);
    if (error != std::errc() || stop != end) return {};
    return out;
}

struct Launcher {
    const char *rank, *size, *local_rank;
    const char* also;  ///< must be set too
};
// torchrun, which may itself be started by the others; Open MPI's mpirun; MPICH's and Intel's; srun (a batch script
// itself is a step of one task).
constexpr std::array launchers = {
    Launcher{"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR"},
    Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", nullptr},
    Launcher{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", nullptr},
    Launcher{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr},
};

std::string tasks(int count) {
    return std::to_string(count) + " tasks were started";
}

}  // namespace

Launch launch() {
    for (const auto& [rank, size, local_rank, also] : launchers) {
        if (also != nullptr && std::getenv(also) == nullptr) continue;
        const auto own = number(rank), all = number(size);
        if (own && all && *all > 1) return {*own, *all, number(local_rank).value_or(0)};
    }
    return {};
}

std::unique_ptr<Ranks> open_ranks() {
    const int size = launch().size;
    if (size < 2) return nullptr;
    std::string why_not;
    std::unique_ptr<Ranks> out;
    // Global: the plugins of Open MPI look up its symbols.
    if (void* const open = load_module("spectra_mpi.so", open_ranks_name, true, why_not))
        out.reset(reinterpret_cast<OpenRanks>(open)(why_not));
    if (!out) throw std::runtime_error(tasks(size) + ", but they cannot work together: " + why_not);
    if (out->size() == 1) {
        out.reset();
        throw std::runtime_error(
            tasks(size) +
            ", but MPI does not connect them: start them with the mpirun of the MPI that "
            "spectra was built with, or with srun --mpi=pmix");
    }
    return out;
}

}  // namespace spectra::parallel
