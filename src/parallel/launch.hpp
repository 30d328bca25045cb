#pragma once

#include "parallel/ranks.hpp"

#include <memory>

namespace spectra::parallel {

/// How this process was started, according to the environment (torchrun, mpirun of Open MPI and MPICH, srun).
struct Launch {
    int rank = 0;
    int size = 1;
    int local_rank = 0;  ///< among the processes of this machine
};
Launch launch();

/// The ranks of this run, by MPI. Loads the module spectra_mpi, so programs do not link MPI. Null if the
/// process was started alone. Throws std::runtime_error if it was not and the processes cannot be connected:
/// they would all write the same files.
std::unique_ptr<Ranks> open_ranks();

}  // namespace spectra::parallel
