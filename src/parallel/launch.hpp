#pragma once

#include "parallel/ranks.hpp"

#include <memory>

namespace spectra::parallel {

/// How this process was started, according to the environment (mpirun of Open MPI and MPICH, srun; torchrun where it is
/// heeded).
struct Launch {
    int rank = 0;
    int size = 1;
    int local_rank = 0;  ///< among the processes of this machine
};
Launch launch();

/// From now on torchrun's variables count. Training alone understands them: other commands may run in a process that
/// torchrun has started for something else.
void heed_torchrun();

/// The ranks of this run, by MPI. Loads the module spectra_mpi, so programs do not link MPI. Null if the
/// process was started alone. Throws std::runtime_error if it was not and the processes cannot be connected:
/// they would all write the same files.
std::unique_ptr<Ranks> open_ranks();

}  // namespace spectra::parallel
