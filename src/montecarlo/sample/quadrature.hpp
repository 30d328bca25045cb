#pragma once

#include "montecarlo/sample/layer.hpp"
#include "linalg/golub_kahan.hpp"
#include "spectrum/spectrum.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace spectra::montecarlo {

struct QuadratureOptions {
    int samples = 1;
    int probes = 8;  ///< random vectors a sample
    int steps = 100;
    double extremes = 0;  ///< see linalg::GolubKahanOptions; 0: after `steps`, known or not
    std::uint64_t seed = 1;
    int threads = 1;
    std::size_t memory =
        std::numeric_limits<std::size_t>::max();  ///< bytes that layers may take (product.hpp)
    /// Called after every sample, with (done, requested).
    std::function<void(int, int)> progress;
    /// Set it and the run ends with the samples that are done.
    const std::atomic<bool>* stop = nullptr;
};

/// What probes say of one sample, J = 2^exponent times what was probed.
struct ProbedSample {
    std::vector<linalg::GaussQuadrature> probes;
    long exponent = 0;
    double log_floor = 0;  ///< below it places are rounding, or only the mass is known
    double seconds = 0;
};

ProbedSample probe_sample(const std::vector<Layer>& layers, int streams, int width, std::uint32_t sample,
                          const QuadratureOptions& options);

/// A law of singular values by Golub-Kahan quadrature: O(N²) operations a layer, step and probe instead of
/// O(N³) a layer, and no N×N matrix where layers are made again. Same Jacobians as Sampler's.
///
/// A probe sees the law with an error of about N^{−1/2}, which falls with the root of samples·probes; the
/// step from one Jacobian to another is only about 1/N.
struct Quadrature {
    /// S·N values, N a sample: quantiles of what its probes saw (linalg::log_quantiles), not singular values. Above
    /// its log_floor places are known in ln s too.
    Spectrum law;
    std::vector<double> log_values;  ///< S×N, ascending within a sample
    /// Means over samples and probes, of smooth functions by the quadrature itself.
    Metrics metrics;
    /// Standard errors over samples and probes, 0 where there is but one of each. NaN for log_mean where the
    /// law comes so near 0 that it is not resolved: Gauss quadrature of ln s then is an upper bound and no
    /// more. Of collapsed: with what may be hidden below all nodes. Of smallest and largest: how well those
    /// nodes converged (linalg::GaussQuadrature::error); the smallest may be an upper bound only.
    Metrics error;
    int samples = 0, probes = 0;
    double seconds = 0;
};

/// What probes of several Jacobians say together, `values` singular values each.
Quadrature summary(const std::vector<ProbedSample>& samples, int values);

/// `layers_of` gives the layers of a sample.
Quadrature quadrature(const std::function<std::vector<Layer>(std::uint32_t)>& layers_of, int streams,
                      int width, const QuadratureOptions& options);

/// Standard error of the mean of values[sample][probe], equally many a sample. Probes of a sample share its
/// Jacobian, so with M_b, M_w the mean squares between and within samples of an analysis of variance it is
/// √(max(M_b, M_w)/count).
double standard_error(const std::vector<std::vector<double>>& values);

/// Bytes that a run takes beside the layers: the probes' bases.
std::size_t basis_bytes(int size, const QuadratureOptions& options);

}  // namespace spectra::montecarlo
