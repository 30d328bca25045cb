#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "linalg/golub_kahan.hpp"
#include "spectrum/spectrum.hpp"
#include "jacobian/jacobian.hpp"

namespace spectra::jacobian {

/// Bidiagonalisations (golub_kahan.hpp) with vectors on the device of x, in double: a step transfers only the
/// norms of its vectors to the host. They start from the rows of `probes`, rank() numbers each, with room for
/// `steps` at first. Memory: (k + m)·steps doubles per probe.
std::unique_ptr<linalg::Bidiagonalisation> device_bidiagonalisation(JacobianOperator& jacobian,
                                                            const torch::Tensor& probes, int steps);

struct JacobianLawOptions : JacobianOptions {
    int64_t most_exact = 4096;  ///< J is formed if neither side is longer
    int probes = 40, steps = 100;
    /// Requested error of the window and collapsed masses; 0: all probes and steps. Probes: as many as give
    /// this statistical error, at least four and at most `probes`. Probes are uniform on a sphere, so the
    /// estimate of a mass F by one probe is a Beta variable of variance 2F(1 − F)/(min(k, m) + 2). Steps: as
    /// many as resolve it, that is, until the last half of the steps changes the masses by no more (mass that
    /// may be hidden below all nodes included) and the mean of ln s by no more than five times that. At most
    /// about 4000 over all probes, or `steps` each if that is more.
    double error = 3e-3;
    /// Requested error of the largest and smallest singular value, relative to the largest.
    double extremes = 1e-6;
    int most_steps = 1000;  ///< most steps for them; stops once that many would not suffice
    /// Bytes for the bases of the probes; if they need more, fewer probes run at a time. 0: 2 GiB on a CPU,
    /// 16 GiB on a GPU (halved until they fit).
    std::size_t basis_memory = 0;
    std::uint64_t seed = 1;   ///< of the probes
    std::uint32_t input = 0;  ///< number of the input; every input has its own probes
    /// Called after every step with the number of steps done over all probes, and the total as far as it is
    /// known. An exception from it ends the run.
    std::function<void(int64_t, int64_t)> progress;
};

/// The law of the min(k, m) singular values of a Jacobian.
struct JacobianLaw {
    int64_t inputs = 0, outputs = 0;
    bool exact = false;              ///< J was formed; otherwise by its products
    std::vector<double> log_values;  ///< ln s, ascending; quantiles of the probes' law if not exact
    Spectrum law;
    Metrics metrics;
    /// 0 if exact. Otherwise, for window, collapsed and log_mean: statistical error and resolution together
    /// (see JacobianLawOptions::error); for mean square and effective rank: standard errors over the probes;
    /// for smallest and largest: residual bounds. NaN for a log_mean that is only an upper bound.
    Metrics error;
    /// Whether those bounds met the request. If the smallest value did not, it is only an upper bound.
    bool largest_converged = true, smallest_converged = true;
    double adjoint_defect = 0;
    int probes = 0, steps = 0;  ///< taken
    JacobianOperator::Work work;
    double seconds = 0;
};

/// Forms J or, above most_exact, runs stochastic Golub-Kahan quadrature on its products.
JacobianLaw jacobian_law(const BatchFunction& f, const torch::Tensor& x,
                         const JacobianLawOptions& options = {});

}  // namespace spectra::jacobian
