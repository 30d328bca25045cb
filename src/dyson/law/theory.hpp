#pragma once

#include "dyson/law/unresolved_mass.hpp"
#include "network/network.hpp"
#include "spectrum/spectrum.hpp"

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spectra::dyson {

/// The theories of a network's singular values.
enum class Method {
    operator_valued,  ///< "ov": the chain, exact at every depth (docs/theory.md)
    scalar,           ///< "scalar": one-layer equations multiplied as if they were free scalars
    s_transform,      ///< "s-transform": a second method, if it is exact (s_transform.hpp)
    printed,          ///< "printed": the paper's equation (7) as printed, for comparison (as_printed.hpp)
};

/// "ov", "scalar", "s-transform", "printed".
std::string name(Method method);

/// Throws std::invalid_argument, one line with the reason, if a method does not support a network: all
/// methods except ov require isotropic Gaussian branches, s-transform also orthogonal mixers, and ov a
/// limited size with tied weights.
void check(const Network& network, Method method);

/// Points chosen by the user instead of the adaptive grid.
struct Grid {
    double min = 0;  ///< in s
    double max = 0;
    int points = 0;
    bool logarithmic = false;
};

struct Options {
    double eta = 0;            ///< 0: the exact density; > 0: smoothed at Im ω = eta
    std::optional<Grid> grid;  ///< none: adaptive
    int points = 400;          ///< least number of points of the adaptive grid
    double tolerance = 1e-8;   ///< of the mass, for the adaptive grid's refinement
    int threads = 0;           ///< 0: all
};

/// The points that are drawn and written.
struct Curve {
    std::vector<double> log_s;
    std::vector<double> density_log;  ///< with respect to ln s
    std::vector<std::complex<double>> omega;
    std::vector<std::complex<double>> g;
    std::vector<double> residual;  ///< last Newton step relative to the unknowns
    std::vector<double> floor;     ///< limit of that step by rounding, if above 1e-10; otherwise 0
    std::vector<int> iterations;   ///< Newton steps spent on the point
    std::vector<std::uint8_t> certified;

    std::size_t size() const { return log_s.size(); }
};

/// How a solve ended. The defaults mean that nothing was solved.
struct Summary {
    bool certified = false;              ///< every point is certified, and the checks below pass
    std::string message = "not solved";  ///< one line: the reason if not certified, or "certified"
    int points = 0;
    int uncertified = 0;
    long newton_steps = 0;  ///< over the whole solve, searches for edges included
    long passes = 0;        ///< elimination passes, other work counted by its time
    int descents = 0;       ///< points that needed the descent from the companion line
    double mass = 0;
    double mean_square = 0;        ///< of the solved law
    double mean_square_exact = 0;  ///< by the moment recursion (for this method)
    double log_mean = 0;
    std::optional<double> log_mean_exact = {};       ///< if a formula is known
    std::optional<double> mean_fourth_exact = {};    ///< E s⁴, if a formula is known
    double mean_fourth = 0;                          ///< of the solved law
    std::optional<double> tail_exponent_exact = {};  ///< of the density per ln s at small s: 2/(1 + κ)
    double tail_exponent = 0;                        ///< of the law below the solved points; 0: none there
    /// The lowest part of the law if only its mass is known (unresolved.hpp); the rest is certified.
    std::optional<Unresolved> unresolved = {};
    std::optional<double> average_error = {};  ///< activations: relative error of g from the sampled sites
    double largest_residual = 0;
    double seconds = 0;
};

/// The results of one theory for one network.
struct Theory {
    Method method = Method::operator_valued;
    Spectrum law;  ///< the exact law for any eta: metrics and moments come from it
    Curve curve;   ///< as requested: on the law's grid, on a user's grid, or smoothed
    double eta = 0;
    Summary summary;
};

Theory solve(const Network& network, Method method, const Options& options = {});

/// g(ω) by the chain at given points of the upper half plane; NaN if not certified.
struct Green {
    std::vector<std::complex<double>> omega, g;
    std::vector<double> residual;
    std::vector<int> iterations;
    std::vector<std::uint8_t> certified;
};

Green green(const Network& network, const std::vector<std::complex<double>>& omega,
            const Options& options = {});

}  // namespace spectra::dyson
