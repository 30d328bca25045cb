#pragma once

#include "h5/file.hpp"
#include "montecarlo/simulate.hpp"

#include <filesystem>
#include <optional>

namespace spectra::report {

/// The group /montecarlo of a result file, with all that going on takes (docs/result-file.md).
void write_simulation(h5::File& file, const montecarlo::Simulation& simulation);

/// What the file holds of a simulation, to go on from (montecarlo::Options::resume); nothing where it has no
/// samples. Throws std::invalid_argument where the file is missing, not ours, or made by a version that did
/// not keep enough.
std::optional<montecarlo::Simulation> read_simulation(const std::filesystem::path& path);

}  // namespace spectra::report
