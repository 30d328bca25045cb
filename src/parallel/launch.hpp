#pragma once

#include "parallel/ranks.hpp"

#include <memory>

namespace spectra::parallel {

/// What the environment says of how this process was started (mpirun of Open MPI and MPICH, srun).
struct Launch {
    int rank = 0;
    int size = 1;
};
Launch launch();

/// The ranks of this run, by MPI, from the module spectra_mpi, which is loaded here: programs need no MPI.
/// Null where the process was started alone. Throws std::runtime_error where it was not and the processes
/// cannot be brought together: they would all write the same files.
std::unique_ptr<Ranks> open_ranks();

}  // namespace spectra::parallel
