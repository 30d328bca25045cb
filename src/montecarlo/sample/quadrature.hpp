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
    int probes = 8;  ///< random vectors per sample
    int steps = 100;
    double extremes = 0;  ///< see linalg::GolubKahanOptions; 0: stop after `steps`, converged or not
    std::uint64_t seed = 1;
    int threads = 1;
    std::size_t memory =
        std::numeric_limits<std::size_t>::max();  ///< bytes that layers may take (product.hpp)
    /// Called after every sample, with (done, requested).
    std::function<void(int, int)> progress;
    /// Set it to true to end the run with the finished samples.
    const std::atomic<bool>* stop = nullptr;
};

/// The probes of one sample, J = 2^exponent times the probed operator.
struct ProbedSample {
    std::vector<linalg::GaussQuadrature> probes;
    long exponent = 0;
    double log_floor = 0;  ///< below it positions are rounding, or only the mass is known
    double seconds = 0;
};

ProbedSample probe_sample(const std::vector<Layer>& layers, int streams, int width, std::uint32_t sample,
                          const QuadratureOptions& options);

/// A law of singular values by Golub-Kahan quadrature: O(N²) operations per layer, step and probe instead of
/// O(N³) per layer, and no N×N matrix if layers are recomputed. The Jacobians are those of Sampler.
///
/// A probe estimates the law with an error of about N^{−1/2}, which falls with the root of samples·probes;
/// the difference between Jacobians is only about 1/N.
struct Quadrature {
    /// S·N values, N per sample: quantiles of the law of its probes (linalg::log_quantiles), not singular
    /// values. Above its log_floor positions are known in ln s too.
    Spectrum law;
    std::vector<double> log_values;  ///< S×N, ascending within a sample
    /// Means over samples and probes; for smooth functions directly by the quadrature.
    Metrics metrics;
    /// Standard errors over samples and probes, 0 if there is only one of each. NaN for log_mean if the
    /// law is not resolved close to 0: Gauss quadrature of ln s is then only an upper bound. For collapsed:
    /// includes the mass that may be hidden below all nodes. For smallest and largest: how well those
    /// nodes converged (linalg::GaussQuadrature::error); the smallest may be only an upper bound.
    Metrics error;
    int samples = 0, probes = 0;
    double seconds = 0;
};

/// Pools the probes of several Jacobians with `values` singular values each.
Quadrature summary(const std::vector<ProbedSample>& samples, int values);

/// `layers_of` gives the layers of a sample.
Quadrature quadrature(const std::function<std::vector<Layer>(std::uint32_t)>& layers_of, int streams,
                      int width, const QuadratureOptions& options);

/// Standard error of the mean of values[sample][probe], with the same number of probes per sample. Probes of
/// a sample share its Jacobian, so with M_b, M_w the mean squares between and within samples of an analysis
/// of variance it is √(max(M_b, M_w)/count).
double standard_error(const std::vector<std::vector<double>>& values);

/// Bytes of a run beside the layers: the bases of the probes.
std::size_t basis_bytes(int size, const QuadratureOptions& options);

}  // namespace spectra::montecarlo
