#pragma once

/// \file
/// The law of singular values of a Torch function's Jacobian, with or without its matrix.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "linalg/golub_kahan.hpp"
#include "spectrum/spectrum.hpp"
#include "jacobian/jacobian.hpp"

namespace spectra::jacobian {

/// Bidiagonalisations (golub_kahan.hpp) whose vectors stay on the device of x, in double: a step sends the
/// norms of its vectors to the host and nothing else. From the rows of `probes`, rank() numbers each; room is
/// made for `steps` at first. Memory: (k + m)·steps doubles per probe.
std::unique_ptr<linalg::Bidiagonalisation> device_bidiagonalisation(JacobianOperator& jacobian,
                                                            const torch::Tensor& probes, int steps);

/// When the Jacobian is formed, and how accurately its law is found where it is not.
struct JacobianLawOptions : JacobianOptions {
    int64_t most_exact = 4096;  ///< J is formed where neither side is longer
    int probes = 40;            ///< at most
    int steps = 100;            ///< of each probe, at least
    /// Wanted of the mass in the window and of what is collapsed. As many probes as give it by chance, four
    /// at least and `probes` at most: probes are uniform on a sphere, so that of a mass F one of them sees a
    /// Beta variable of variance 2F(1 − F)/(min(k, m) + 2). And as many steps as resolve it: those whose last
    /// half changed it by no more, what may be hidden below all nodes included, and the mean of ln s by no
    /// more than five times that; no more than about 4000 over all probes, or `steps` each where that is
    /// more. 0: all probes and steps.
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
    int64_t inputs = 0;              ///< m
    int64_t outputs = 0;             ///< k
    bool exact = false;              ///< J was formed; else by its products
    std::vector<double> log_values;  ///< ln s, ascending; quantiles of the probes' law where not exact
    Spectrum law;                    ///< the law of these values
    Metrics metrics;                 ///< of the law; where not exact, by the probes
    /// 0 where exact. Else of window, collapsed and log_mean: chance and resolution together, as error above
    /// says; of mean square and effective rank: standard errors over the probes; of smallest and largest:
    /// residual bounds. NaN of a log_mean that is an upper bound only.
    Metrics error;
    bool largest_converged = true;  ///< the largest value's bound met what was wanted
    /// The smallest value's bound met what was wanted. Where it did not, the value is an upper bound only.
    bool smallest_converged = true;
    double adjoint_defect = 0;    ///< JacobianOperator::adjoint_defect
    int probes = 0;               ///< taken
    int steps = 0;                ///< taken
    JacobianOperator::Work work;  ///< products it took
    double seconds = 0;           ///< that all of it took
};

/// Forms J or, above most_exact, runs stochastic Golub-Kahan quadrature on its products.
JacobianLaw jacobian_law(const BatchFunction& f, const torch::Tensor& x,
                         const JacobianLawOptions& options = {});

}  // namespace spectra::jacobian
