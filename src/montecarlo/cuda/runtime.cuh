#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace spectra::montecarlo::cuda {

/// Throws std::runtime_error naming the call; std::bad_alloc if the device's memory was not enough.
inline void check(cudaError_t status, const char* call) {
    if (status == cudaSuccess) return;
    (void)cudaGetLastError();  // clears the error, if it is not sticky
    if (status == cudaErrorMemoryAllocation) throw std::bad_alloc();
    throw std::runtime_error(std::string("CUDA: ") + call + ": " + cudaGetErrorString(status));
}

/// Device memory of `size()` elements, all zero, so that the padding of columns is defined.
template <class T>
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(std::size_t size) : size_(size) {
        void* memory = nullptr;
        if (size == 0) return;
        check(cudaMalloc(&memory, size * sizeof(T)), "cudaMalloc");
        data_ = static_cast<T*>(memory);
        // Other streams do not wait for this one.
        check(cudaMemset(memory, 0, size * sizeof(T)), "cudaMemset");
        check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
    }
    ~Buffer() { (void)cudaFree(data_); }
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    T* data() const { return data_; }
    std::size_t size() const { return size_; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

class Stream {
public:
    Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
    ~Stream() { (void)cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    operator cudaStream_t() const { return stream_; }
    void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

private:
    cudaStream_t stream_ = nullptr;
};

/// Square matrices of one size, one after the other in device memory, column-major.
template <class Real>
struct Matrices {
    Real* data = nullptr;
    int size = 0;
    int leading = 0;         ///< rows between columns
    std::size_t stride = 0;  ///< elements between matrices
    int count = 0;
};

/// Columns begin at 64 bytes (double), so that copies of 16 bytes are aligned.
inline int leading_dimension(int size) {
    return (size + 7) / 8 * 8;
}

}  // namespace spectra::montecarlo::cuda
