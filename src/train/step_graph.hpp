#pragma once

#include <functional>
#include <memory>

#include "jacobian/torch.hpp"

namespace spectra::train {

/// Kernels of a GPU, recorded once and replayed with one launch. A training step of a small model is thousands of kernels
/// of microseconds each; launched one by one they take longer to launch than to run.
class StepGraph {
public:
    /// Whether this Torch can record on this device.
    static bool possible(torch::Device device);

    StepGraph();
    ~StepGraph();
    StepGraph(const StepGraph&) = delete;
    StepGraph& operator=(const StepGraph&) = delete;

    /// Records what `work` launches, which does not run. Everything it reads must stay where it is, and everything it
    /// launches must have run before on this stream. False, with nothing recorded, if `work` waits for the device.
    bool record(const std::function<void()>& work);
    /// Runs what was recorded.
    void replay();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// While it exists, work on a GPU goes to a stream of its own, as recording requires. Does nothing on a CPU.
class OwnStream {
public:
    explicit OwnStream(torch::Device device);
    ~OwnStream();
    OwnStream(const OwnStream&) = delete;
    OwnStream& operator=(const OwnStream&) = delete;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace spectra::train
