#pragma once

#include "h5/file.hpp"
#include "montecarlo/run/simulate.hpp"

#include <filesystem>
#include <optional>

namespace spectra::report {

/// The group /montecarlo of a result file, with all that going on takes (docs/result-file.md).
void write_simulation(h5::File& file, const montecarlo::Simulation& simulation);

/// What the file holds of a simulation, to go on from (montecarlo::Options::resume); nothing where it has no
/// samples. At most so many singular values are read. Throws std::invalid_argument where the file is missing, not
/// ours, or made by a version that did not keep enough. What was read is not yet believed: montecarlo::simulate
/// checks it against itself and against the run (Tally::restore).
std::optional<montecarlo::Simulation> read_simulation(const std::filesystem::path& path,
                                                      std::size_t most_values = std::size_t{1} << 28);
/// The same of an open file; `name` stands for it in messages.
std::optional<montecarlo::Simulation> read_simulation(const h5::File& file, const std::string& name,
                                                      std::size_t most_values = std::size_t{1} << 28);

}  // namespace spectra::report
