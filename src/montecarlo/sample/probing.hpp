#pragma once

#include "linalg/golub_kahan.hpp"
#include "spectrum/spectrum.hpp"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

namespace spectra::montecarlo {

/// How accurately random probes find the law of a matrix that is known by its products.
struct ProbingOptions {
    int probes = 40;  ///< at most
    int steps = 100;  ///< of each probe, at least
    /// Wanted of the mass in the window and of what is collapsed. As many probes as give it by chance, four
    /// at least and `probes` at most: probes are uniform on a sphere, so that of a mass F one of them sees a
    /// Beta variable of variance 2F(1 − F)/(rank + 2). And as many steps as resolve it: those whose last
    /// half changed it by no more, what may be hidden below all nodes included, and the mean of ln s by no
    /// more than five times that; no more than about 4000 over all probes, or `steps` each where that is
    /// more. 0: all probes and steps.
    double error = 3e-3;
    /// Requested error of the largest and smallest singular value, relative to the largest. 0: neither is looked for
    /// beyond `steps`.
    double extremes = 1e-6;
    int most_steps = 1000;    ///< most steps for them; stops once that many would not suffice
    std::uint64_t seed = 1;   ///< of the probes
    std::uint32_t input = 0;  ///< number of the input; every input has its own probes
    int threads = 1;          ///< for orthogonalising
    /// Called after every step with the number of steps done over all probes, and the total as far as it is
    /// known. An exception from it ends the run.
    std::function<void(std::int64_t, std::int64_t)> progress = {};
};

/// A matrix to probe. Its larger side is `size`, and probes live on the first `rank` coordinates of the smaller one.
struct ProbedMatrix {
    int rank = 0;     ///< the smaller side
    int size = 0;     ///< the larger side
    int columns = 0;  ///< vectors of `size` numbers that memory has room for, both bases of all probes together
    double rounding = 1;  ///< of its products, in units of 2^−53
    /// Golub and Kahan's quadratures from `count` probes, `rank` numbers each. May throw OutOfMemory.
    std::function<std::vector<linalg::GaussQuadrature>(const std::vector<double>& probes, int count,
                                                       const linalg::GolubKahanOptions& how)>
        bidiagonalise;
    /// Called before another attempt with fewer columns, to free what can be freed. May be empty.
    std::function<void()> start_over = {};
};

/// Thrown by ProbedMatrix::bidiagonalise where the bases do not fit: it is called again with less, as long as that helps.
struct OutOfMemory : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What probes found of the law of `rank` singular values.
struct ProbedLaw {
    std::vector<double> log_values;  ///< quantiles of the law: ln s, ascending
    Spectrum law;                    ///< the law of these values
    Metrics metrics;                 ///< by the probes
    /// Of window, collapsed and log_mean: chance and resolution together, as ProbingOptions::error says; of mean
    /// square and effective rank: standard errors over the probes; of smallest and largest: residual bounds. NaN of a
    /// log_mean that is an upper bound only.
    Metrics error;
    bool largest_converged = true;  ///< the largest value's bound met what was wanted
    /// The smallest value's bound met what was wanted. Where it did not, the value is an upper bound only.
    bool smallest_converged = true;
    int probes = 0;  ///< taken
    int steps = 0;   ///< taken, by the last probe
};

/// The normal numbers of probe `number` of an input, the same in every run.
std::vector<double> probe_vector(int size, std::uint64_t seed, std::uint32_t number, std::uint32_t input = 0);

/// The law of a matrix by as many probes and steps as its options ask for.
ProbedLaw probe(const ProbedMatrix& matrix, const ProbingOptions& options = {});

}  // namespace spectra::montecarlo
