#pragma once

/// \file
/// Solves the theory of a network: its law of singular values with a certificate. The entry point of dyson/.

#include "dyson/law/outlier.hpp"
#include "dyson/law/unresolved_mass.hpp"
#include "network/network.hpp"
#include "spectrum/certificate.hpp"
#include "spectrum/spectrum.hpp"

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spectra {
class Team;
}  // namespace spectra

namespace spectra::dyson {

/// The theories of a network's singular values.
enum class Method {
    operator_valued,  ///< "ov": the chain, exact at every depth (docs/theory.md)
    scalar,           ///< "scalar": one-layer equations multiplied as if they were free scalars
    s_transform,      ///< "s-transform": a second method, where exact (s_transform, two_layers.hpp)
    printed,          ///< "printed": the paper's equation (7) as printed, for comparison (as_printed.hpp)
};

/// "ov", "scalar", "s-transform", "printed".
std::string name(Method method);

/// Throws std::invalid_argument, one line with the reason, if a method does not support a network: all
/// methods except ov require isotropic Gaussian branches, s-transform also orthogonal mixers or two layers,
/// and ov a limited size with tied weights.
void check(const Network& network, Method method);

/// Points chosen by the user instead of the adaptive grid.
struct Grid {
    double min = 0;            ///< first point, in s
    double max = 0;            ///< last point, in s
    int points = 0;            ///< how many
    bool logarithmic = false;  ///< equally spaced in ln s instead of s
};

/// What solve() computes and how accurately. The defaults give the certified law.
struct Options {
    double eta = 0;            ///< 0: the exact density; > 0: smoothed at Im ω = eta
    std::optional<Grid> grid;  ///< none: adaptive
    int points = 400;          ///< least number of points of the adaptive grid
    double tolerance = 1e-8;   ///< of the mass, for the adaptive grid's refinement
    int threads = 0;           ///< 0: all
    /// ov: the distribution function, until W1 is known to 1e-3 of the root mean square, instead of the density. Always so
    /// with aligned branches; with tied weights of many layers ten times faster.
    bool counting = false;
    /// Called before every Newton step, on any thread. What it throws ends the solve (spectra::Stopped).
    std::function<void()> on_step = {};
    /// Processes that make the same calls and share the points. What solve() returns is whole on the first of them, what
    /// green() returns on all. The team must outlive the call.
    Team* team = nullptr;
};

/// The points that are drawn and written.
struct Curve {
    std::vector<double> log_s;                ///< ln of the points
    std::vector<double> density_log;          ///< density with respect to ln s
    std::vector<std::complex<double>> omega;  ///< where the equation was solved: s + i·eta
    std::vector<std::complex<double>> g;      ///< the Green's function there
    std::vector<double> residual;             ///< last Newton step relative to the unknowns
    std::vector<double> floor;    ///< what rounding allows of that step, where it is above 1e-10; else 0
    std::vector<int> iterations;  ///< Newton steps spent on the point
    std::vector<std::uint8_t> certified;  ///< 1 where the point was shown to be the right solution

    /// Number of points.
    std::size_t size() const { return log_s.size(); }
};

/// How a solve ended. The defaults mean that nothing was solved.
struct Summary : Certificate {
    int points = 0;         ///< solved
    int uncertified = 0;    ///< of these, without a certificate
    long newton_steps = 0;  ///< over the whole solve, searches for edges included
    long passes = 0;        ///< elimination passes, other work counted by its time
    int descents = 0;       ///< points that needed the descent from the companion line
    double mass = 0;        ///< of the solved law: 1 up to the solver's error
    double mean_square = 0;                          ///< E s² of the solved law
    double mean_square_exact = 0;                    ///< E s² by the moment recursion (for this method)
    double log_mean = 0;                             ///< E ln s of the solved law
    std::optional<double> log_mean_exact = {};       ///< E ln s, where a formula is known
    std::optional<double> mean_fourth_exact = {};    ///< E s⁴, where a formula is known
    double mean_fourth = 0;                          ///< E s⁴ of the solved law
    std::optional<double> tail_exponent_exact = {};  ///< of the density per ln s at small s: 2/(1 + κ)
    double tail_exponent = 0;                        ///< of the law below the solved points; 0: none there
    /// The lowest part of the law if only its mass is known (unresolved.hpp); the rest is certified.
    std::optional<Unresolved> unresolved = {};
    std::optional<double> average_error = {};  ///< activations: relative error of g by the sampled sites
    double largest_residual = 0;               ///< over all points
    double seconds = 0;                        ///< that the solve took
};

/// The results of one theory for one network.
struct Theory {
    Method method = Method::operator_valued;  ///< which theory
    Spectrum law;  ///< the law itself, whatever eta: metrics and moments come from it
    Curve curve;   ///< what was asked for: the law's own grid, a user's grid, or the smoothed density
    /// Aligned branches: narrow bands above the bulk, the largest first, as far as the law depends on where they are.
    std::vector<Outlier> outliers;
    double eta = 0;   ///< smoothing of the curve (Options::eta)
    Summary summary;  ///< how the solve ended, certificate included
};

/// The law of a checked network by one of the theories. A law that could not be certified is returned all the
/// same, and its Summary reports why. Throws std::invalid_argument where check() does.
Theory solve(const Network& network, Method method, const Options& options = {});

/// Solves a network that moves in small steps, by one method: every law starts from the one before. Every point is certified
/// as in dyson::solve, and where the law found is not sound the search starts anew, so that the law is the same up to
/// rounding and only the work differs. A network with another number of unknowns (depth, streams), or after a law that is
/// not certified, is solved from nothing.
class Follower {
public:
    Follower();                                ///< without a law to start from
    Follower(Follower&&) noexcept;             ///< takes the other's law
    Follower& operator=(Follower&&) noexcept;  ///< takes the other's law
    ~Follower();                               ///< forgets the law

    /// The law of a network that differs little from the last one.
    Theory solve(const Network& network, Method method, const Options& options = {});

    /// Whether there is a law to start from.
    bool has_law() const;

private:
    struct Last;
    std::unique_ptr<Last> last_;
};

/// Newton steps that solve() takes: two thirds of all networks need 1100 to 2600 of them, whatever their size, and a
/// few up to 5000. For progress and estimates of the time.
inline constexpr int typical_newton_steps = 2000;

/// Seconds that one Newton step takes on one thread here and now, by timing one of the network's own.
double seconds_per_step(const Network& network, Method method);

/// g(ω) by the chain at given points of the upper half plane; NaN if not certified. Points that rounding hides are solved
/// again in extended precision (precise_points.hpp).
struct Green {
    std::vector<std::complex<double>> omega;  ///< the points
    std::vector<std::complex<double>> g;      ///< g there
    std::vector<double> residual;             ///< last Newton step relative to the unknowns
    std::vector<int> iterations;              ///< Newton steps spent on the point
    std::vector<std::uint8_t> certified;      ///< 1 where the point was shown to be the right solution
    /// 1 where g depends on digits that the network's numbers do not have: it was solved in extended precision, and changes
    /// by more than 1e-4 when they change by one unit in the last place. Not certified then.
    std::vector<std::uint8_t> beyond_double;

    /// Whether a point is certified: "yes", "no" or "beyond double precision".
    std::string verdict(std::size_t point) const;
};

/// g(ω) of a checked network at the given points, each in the upper half plane.
Green green(const Network& network, const std::vector<std::complex<double>>& omega,
            const Options& options = {});

}  // namespace spectra::dyson
