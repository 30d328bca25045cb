#include "train/host_threads.hpp"

#include "base/parallel.hpp"
#include "linalg/blas.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace spectra::train {

int use_threads(std::optional<int> wanted, torch::Device device) {
    // Asked once: Torch changes what OpenMP answers.
    static const int all = threads_or_all(0);
    const int threads = wanted.value_or(device.is_cuda() ? std::min(2, all) : all);
    at::set_num_threads(threads);
    linalg::use_blas_threads(threads);
    return threads;
}

void sleep_while_gpu_works() {
    // Found at run time: this library is also built with a Torch that has no CUDA.
    using SetFlags = int (*)(unsigned);
    using LastError = int (*)();
    constexpr unsigned blocking = 4;  // cudaDeviceScheduleBlockingSync
    const auto set_flags = reinterpret_cast<SetFlags>(dlsym(RTLD_DEFAULT, "cudaSetDeviceFlags"));
    const auto last_error = reinterpret_cast<LastError>(dlsym(RTLD_DEFAULT, "cudaGetLastError"));
    // An error that is left there would be taken for that of the next kernel.
    if (set_flags != nullptr && set_flags(blocking) != 0 && last_error != nullptr) last_error();
}

}  // namespace spectra::train
