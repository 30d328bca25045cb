#pragma once

/// \file
/// Several processes that train one model, each on its part of every batch.

#include <memory>
#include <stdexcept>

#include "jacobian/torch.hpp"

namespace spectra::train {

/// Another process ended, or cannot be reached.
class ProcessLost : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The processes that mpirun, srun or torchrun started, connected by the engine that Torch brings (c10d, with NCCL between
/// GPUs and gloo otherwise). All of them must make the same calls in the same order. What a call returns is the same in all of them, to the bit.
class DataParallel {
public:
    /// Null if this process was started alone. Throws std::runtime_error if it was not and they cannot be connected: they
    /// would all write the same files.
    static std::unique_ptr<DataParallel> open(bool on_gpus);

    virtual ~DataParallel() = default;
    /// Of this process, from 0.
    virtual int rank() const = 0;
    /// Processes.
    virtual int size() const = 0;
    /// Replaces a tensor by its sum over all processes.
    virtual void sum(torch::Tensor& tensor) = 0;
    /// Replaces a tensor by that of the first process.
    virtual void broadcast(torch::Tensor& tensor) = 0;

    /// Whether it is so in any process.
    bool any(bool here);
    /// The processes of a machine take its GPUs in turn.
    static torch::Device own_gpu();
};

/// Whether this process is the one that writes files: the first of several, or the only one.
inline bool is_first(const DataParallel* processes) {
    return processes == nullptr || processes->rank() == 0;
}

}  // namespace spectra::train
