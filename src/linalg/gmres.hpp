#pragma once

#include <Eigen/Core>

#include <complex>
#include <functional>

namespace spectra::linalg {

/// How a linear solve ended; the defaults mean failure.
struct GmresSummary {
    bool converged = false;
    int iterations = 0;
    double residual = 1;  ///< relative to the right-hand side
};

/// Solves A x = b for an operator given by its action (GMRES, restarted every `restart` steps,
/// modified Gram–Schmidt applied twice). Starts from x = 0.
GmresSummary gmres(const std::function<void(const Eigen::VectorXcd&, Eigen::VectorXcd&)>& apply,
                   const Eigen::VectorXcd& b, Eigen::VectorXcd& x, double tolerance, int max_iterations,
                   int restart = 60);

}  // namespace spectra::linalg
