#include "study/memory.hpp"

#include "linalg/blas_library.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace spectra::study {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

/// The buffer that OpenBLAS takes for every thread (BUFFER_SIZE of its common_*.h).
#ifdef __x86_64__
constexpr std::size_t blas_buffer = 128 * MiB;
#else
constexpr std::size_t blas_buffer = 32 * MiB;
#endif

std::size_t page_size() {
    return static_cast<std::size_t>(std::max(sysconf(_SC_PAGESIZE), 1L));
}

/// Bytes of address space in use now.
std::size_t mapped() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * page_size();
}

std::size_t stack_size() {
    constexpr std::size_t usual = 8 * MiB;
    rlimit limit{};
    return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : usual;
}

/// What the threads of OpenMP and OpenBLAS take.
std::size_t memory_of_threads() {
    const int threads = omp_get_max_threads() + std::max(linalg::blas_library().threads, 1) - 1;
    return static_cast<std::size_t>(threads) * (stack_size() + blas_buffer);
}

std::string size_text(double bytes) {
    const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
    return fmt::format("{:.3g} {}", bytes, units[unit]);
}

}  // namespace

std::size_t physical_memory() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? static_cast<std::size_t>(pages) * page_size() : 0;
}

std::optional<std::size_t> address_space_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
    return limit.rlim_cur;
}

void check_address_space() {
    constexpr std::size_t small_network = 32 * MiB;
    const auto limit = address_space_limit();
    if (!limit) return;
    mallopt(M_ARENA_MAX, 1);  // every further one would reserve 64 MiB
    const std::size_t needed = mapped() + memory_of_threads() + small_network;
    if (needed <= *limit) return;
    throw std::runtime_error(fmt::format(
        "the memory limit of {} (ulimit -v) is too small: with {} threads the program needs {}; raise the limit, or set "
        "OMP_NUM_THREADS and OPENBLAS_NUM_THREADS to fewer",
        size_text(static_cast<double>(*limit)), omp_get_max_threads(),
        size_text(static_cast<double>(needed))));
}

void check_memory(const std::string& what, double bytes, const std::string& remedy) {
    const auto all = static_cast<double>(physical_memory());
    if (all > 0 && bytes > all)
        throw std::invalid_argument(fmt::format("{} would need {} of memory, this machine has {}; try {}",
                                                what, size_text(bytes), size_text(all), remedy));
    const auto limit = address_space_limit();
    if (!limit) return;
    const double left = static_cast<double>(*limit) - static_cast<double>(mapped() + memory_of_threads());
    if (bytes > left)
        throw std::invalid_argument(
            fmt::format("{} would need {} of memory, the memory limit (ulimit -v) leaves {}; try {}", what,
                        size_text(bytes), size_text(std::max(left, 0.0)), remedy));
}

}  // namespace spectra::study
