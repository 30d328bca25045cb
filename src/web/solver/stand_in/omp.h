#pragma once

// OpenMP's functions for one thread: WebAssembly has no more here.

inline int omp_get_max_threads() {
    return 1;
}

inline int omp_get_thread_num() {
    return 0;
}
