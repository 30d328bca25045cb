#pragma once

#include <optional>
#include <string>

namespace spectra::parallel {

/// Whether the module spectra_mpi is there, whatever it needs.
bool has_mpi_module();

/// Loads the module spectra_mpi, connects nothing, and asks for the version of its MPI: "Open MPI v4.1.4".
/// Nothing if it cannot be loaded; why_not then gives the reason in one line.
std::optional<std::string> mpi_version(std::string& why_not);

/// The function that the module exports: what MPI reports of itself.
using MpiVersion = void (*)(std::string& version);
inline constexpr char mpi_version_name[] = "spectra_mpi_version";

}  // namespace spectra::parallel
