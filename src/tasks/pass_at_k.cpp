#include "tasks/pass_at_k.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace spectra::tasks {

double pass_at_k(int samples, int right, int k) {
    if (k < 1 || k > samples || right < 0 || right > samples)
        throw std::invalid_argument(fmt::format("pass@{} of {} right among {} samples", k, right, samples));
    if (samples - right < k) return 1;
    double none = 1;  // C(n − c, k)/C(n, k) = Π_{i = n−c+1}^{n} (1 − k/i)
    for (int i = samples - right + 1; i <= samples; ++i) none *= 1 - static_cast<double>(k) / i;
    return 1 - none;
}

}  // namespace spectra::tasks
