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
    int info = -1;  ///< 0: its singular values are there; 1: the matrix was not finite; −1: not computed;
                    ///< 2: (draw_graded) they did not converge, or may be off by more than 1e-3 of themselves
};

/// Draws samples and their singular values on a GPU, a batch at a time: what sampler.hpp and
/// singular_values.hpp do on the CPU, from the same random numbers. Holds the device's memory.
///
/// A sample's numbers depend neither on the batch it is in nor on its place there; on one model of GPU they
/// are the same to the last bit. Against the CPU they differ by rounding: products and reflections sum in
/// other orders.
class Backend {
public:
    virtual ~Backend() = default;

    /// "NVIDIA H200"
    virtual std::string device() const = 0;

    /// Samples computed at once, by the memory that is free; a run asks for as many at a time. It shrinks
    /// where allocating fails; std::bad_alloc where not even one fits.
    virtual int batch() const = 0;

    /// Samples first, first + 1, …: as many as there are in `drawn`, in batches. `layers` has one stack for
    /// all samples, or one for each (redrawn mixers: these may differ in mixers, sigma and exponents alone).
    /// log_values: ln s, ascending within a sample, N a sample. Throws std::runtime_error where the device
    /// fails.
    virtual void draw(std::span<const std::vector<Layer>> layers, std::uint64_t seed, std::uint32_t first,
                      std::span<Drawn> drawn, std::span<double> log_values) = 0;

    /// The same for any samples, in any order, with every value to nearly full relative accuracy however
    /// small it is (graded.hpp), at many times the cost; those next to each other had better have consecutive
    /// numbers. `layers` has one stack for all samples, or one for each of these. norm2 and exponent are
    /// those of the values. In f32, and for sizes above 1024, nothing is computed: info is −1.
    virtual void draw_graded(std::span<const std::vector<Layer>> layers, std::uint64_t seed,
                             std::span<const std::uint32_t> samples, std::span<Drawn> drawn,
                             std::span<double> log_values) = 0;

    /// The matrices themselves, N×N column-major each, for tests and other algorithms on the host.
    virtual void draw_matrices(std::span<const std::vector<Layer>> layers, std::uint64_t seed,
                               std::uint32_t first, std::span<Drawn> drawn, std::span<double> matrices) = 0;
};

/// What the module is asked for, by name: null and a one-line reason where there is no usable device, or the
/// network is too large for it. The device is number local_rank modulo how many there are. The strings'
/// memory is the caller's.
using OpenBackend = Backend* (*)(int streams, int width, Precision precision, std::string& why_not,
                                 int local_rank);
inline constexpr char open_backend_name[] = "spectra_open_cuda_backend";

}  // namespace spectra::montecarlo::cuda
