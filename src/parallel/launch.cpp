#include "parallel/launch.hpp"

#include "base/module.hpp"

#include <omp.h>
#include <unistd.h>

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
};
// Open MPI's mpirun; MPICH's and Intel's; srun (a batch script itself is a step of one task).
constexpr std::array launchers = {
    Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    Launcher{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    Launcher{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
};
constexpr Launcher torchrun{"RANK", "WORLD_SIZE", "LOCAL_RANK"};
bool torchrun_counts = false;

std::optional<Launch> launch_by(const Launcher& launcher) {
    const auto own = number(launcher.rank), all = number(launcher.size);
    if (!own || !all || *all < 2) return {};
    return Launch{*own, *all, number(launcher.local_rank).value_or(0)};
}

std::string tasks(int count) {
    return std::to_string(count) + " tasks were started";
}

}  // namespace

int threads_of(const Ranks& ranks) {
    const auto cores = static_cast<int>(std::clamp(sysconf(_SC_NPROCESSORS_ONLN), 1L, 1'000'000L));
    return std::clamp(omp_get_max_threads(), 1, std::max(1, cores / std::max(1, ranks.local_size())));
}

Launch launch() {
    // It may itself have been started by one of the others.
    if (torchrun_counts && std::getenv("MASTER_ADDR") != nullptr)
        if (const auto found = launch_by(torchrun)) return *found;
    for (const auto& launcher : launchers)
        if (const auto found = launch_by(launcher)) return *found;
    return {};
}

void heed_torchrun() {
    torchrun_counts = true;
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
