#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <vector>

namespace spectra {

/// `wanted`, or all threads of this machine if it is 0.
inline int threads_or_all(int wanted) {
    return wanted > 0 ? wanted : omp_get_max_threads();
}

/// Calls body(state, k) for k = 0 … count − 1 on one thread per state. Indices go to threads as they become
/// free; each thread uses its own state. The first exception ends the loop and is rethrown; if several occur
/// at once, the one with the smallest k.
template <class State, class Body>
void parallel_for(std::size_t count, std::vector<State>& states, const Body& body) {
    std::exception_ptr failure;
    std::size_t failed_at = count;
    std::atomic<bool> failed = false;
#pragma omp parallel for schedule(dynamic) num_threads(static_cast<int>(states.size()))
    for (std::size_t k = 0; k < count; ++k) {
        if (failed) continue;
        try {
            body(states[static_cast<std::size_t>(omp_get_thread_num())], k);
        } catch (...) {
#pragma omp critical(spectra_parallel_for)
            if (k < failed_at) {
                failed_at = k;
                failure = std::current_exception();
                failed = true;
            }
        }
    }
    if (failure) std::rethrow_exception(failure);
}

/// Calls body(k) for k = 0 … count − 1 on at most `threads` threads.
template <class Body>
void parallel_for(std::size_t count, int threads, const Body& body) {
    struct Nothing {};
    const auto most = std::min(static_cast<std::size_t>(threads_or_all(threads)), std::max<std::size_t>(count, 1));
    std::vector<Nothing> none(most);
    parallel_for(count, none, [&](Nothing&, std::size_t k) { body(k); });
}

}  // namespace spectra
