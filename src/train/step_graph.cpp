#include "train/step_graph.hpp"

#if SPECTRA_TORCH_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace spectra::train {

#if SPECTRA_TORCH_CUDA

bool StepGraph::possible(torch::Device device) {
    return device.is_cuda();
}

struct StepGraph::State {
    at::cuda::CUDAGraph graph;
};

bool StepGraph::record(const std::function<void()>& work) {
    auto state = std::make_unique<State>();
    torch::cuda::synchronize();
    // What single launches used; the recording has memory of its own.
    c10::cuda::CUDACachingAllocator::emptyCache();
    bool done = false;
    state->graph.capture_begin();
    try {
        work();
        done = true;
    } catch (const c10::Error&) {
        // It waited. The recording is ended all the same.
    }
    try {
        state->graph.capture_end();
    } catch (const c10::Error&) {
        done = false;
    }
    if (done) state_ = std::move(state);
    return done;
}

void StepGraph::replay() {
    state_->graph.replay();
}

struct OwnStream::State {
    explicit State(torch::Device device) : guard(c10::cuda::getStreamFromPool(false, device.index())) {}
    c10::cuda::CUDAStreamGuard guard;
};

OwnStream::OwnStream(torch::Device device) {
    if (!device.is_cuda()) return;
    torch::cuda::synchronize();
    state_ = std::make_unique<State>(device);
}

OwnStream::~OwnStream() {
    if (state_) torch::cuda::synchronize();
}

#else

bool StepGraph::possible(torch::Device) {
    return false;
}
struct StepGraph::State {};
bool StepGraph::record(const std::function<void()>&) {
    return false;
}
void StepGraph::replay() {}

struct OwnStream::State {};
OwnStream::OwnStream(torch::Device) {}
OwnStream::~OwnStream() = default;

#endif

StepGraph::StepGraph() = default;
StepGraph::~StepGraph() = default;

}  // namespace spectra::train
