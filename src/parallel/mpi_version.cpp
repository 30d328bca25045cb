#include "parallel/mpi_version.hpp"

#include "base/module.hpp"

#include <algorithm>

namespace spectra::parallel {
namespace {

constexpr const char* module_file = "spectra_mpi.so";

}  // namespace

bool has_mpi_module() {
    return has_module(module_file);
}

std::optional<std::string> mpi_version(std::string& why_not) {
    // Global: the plugins of Open MPI look up its symbols.
    void* const ask = load_module(module_file, mpi_version_name, true, why_not);
    if (ask == nullptr) return {};
    std::string version;
    reinterpret_cast<MpiVersion>(ask)(version);
    // "Open MPI v4.1.4, package: …", "MPICH Version:\t4.0.2\nMPICH Release date: …"
    version.resize(std::min(version.find_first_of(",\n"), version.size()));
    std::replace(version.begin(), version.end(), '\t', ' ');
    return version;
}

}  // namespace spectra::parallel
