#pragma once

#include "montecarlo/sample/layer.hpp"
#include "montecarlo/sample/precision.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace spectra::montecarlo::cuda {

/// One sample's J = 2^exponent · matrix.
struct Drawn {
    double norm2 = 0;  ///< ‖matrix‖_F²
    long exponent = 0;
    int info = -1;  ///< 0: has its singular values; 1: the matrix was not finite; −1: not computed;
                    ///< 2: (draw_graded) they did not converge, or may have relative errors above 1e-3
};

/// Draws samples and their singular values on a GPU in batches, like sampler.hpp and
/// singular_values.hpp on the CPU, from the same random numbers. Holds the device's memory.
///
/// The numbers of a sample do not depend on its batch or its position there; on one model of GPU they are the
/// same to the last bit. They differ from those of the CPU by rounding: products and reflections sum in a
/// different order.
class Backend {
public:
    virtual ~Backend() = default;

    /// "NVIDIA H200"
    virtual std::string device() const = 0;

    /// Samples computed at once, from the free memory; a run requests this many at a time. It shrinks
    /// if allocation fails; throws std::bad_alloc if not even one sample fits.
    virtual int batch() const = 0;

    /// Draws the samples first, first + 1, …, one per entry of `drawn`, in batches. `layers` has one stack
    /// for all samples, or one per sample (redrawn mixers: stacks may differ only in mixers, sigma and
    /// exponents). log_values: ln s, ascending within a sample, N per sample. Throws std::runtime_error if
    /// the device fails.
    virtual void draw(std::span<const std::vector<Layer>> layers, std::uint64_t seed, std::uint32_t first,
                      std::span<Drawn> drawn, std::span<double> log_values) = 0;

    /// The same for any samples, in any order, with every value to nearly full relative accuracy however
    /// small it is (linalg/graded.hpp), at many times the cost; fastest when indices are consecutive.
    /// `layers` has one stack for all samples, or one per sample. norm2 and exponent are those of the values.
    /// In f32, and for sizes above 1024, nothing is computed: info is −1.
    virtual void draw_graded(std::span<const std::vector<Layer>> layers, std::uint64_t seed,
                             std::span<const std::uint32_t> samples, std::span<Drawn> drawn,
                             std::span<double> log_values) = 0;

    /// The matrices, N×N column-major each, for tests and other algorithms on the host.
    virtual void draw_matrices(std::span<const std::vector<Layer>> layers, std::uint64_t seed,
                               std::uint32_t first, std::span<Drawn> drawn, std::span<double> matrices) = 0;
};

/// The function that the module exports: returns null and a one-line reason if there is no usable device, or
/// the network is too large for it. The device index is local_rank modulo the number of devices. The caller
/// owns the memory of the strings.
using OpenBackend = Backend* (*)(int streams, int width, Precision precision, std::string& why_not,
                                 int local_rank);
inline constexpr char open_backend_name[] = "spectra_open_cuda_backend";

}  // namespace spectra::montecarlo::cuda
