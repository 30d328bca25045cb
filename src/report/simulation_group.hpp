#pragma once

#include "h5/file.hpp"
#include "montecarlo/run/simulate.hpp"

#include <filesystem>
#include <optional>

namespace spectra::report {

/// The group /montecarlo of a result file, with everything needed to resume (docs/result-file.md).
void write_simulation(h5::File& file, const montecarlo::Simulation& simulation);

/// The saved samples of a simulation, to resume from (montecarlo::Options::resume); nothing if the file has
/// no samples. At most `most_values` singular values are read. Throws std::invalid_argument if the file is
/// missing, not a result file, or from a version that did not store enough. The result is not yet trusted:
/// montecarlo::simulate checks its consistency, also with the run (Tally::restore).
std::optional<montecarlo::Simulation> read_simulation(const std::filesystem::path& path,
                                                      std::size_t most_values = std::size_t{1} << 28);
/// The same for an open file; `name` stands for it in messages.
std::optional<montecarlo::Simulation> read_simulation(const h5::File& file, const std::string& name,
                                                      std::size_t most_values = std::size_t{1} << 28);

}  // namespace spectra::report
