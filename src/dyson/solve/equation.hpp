#pragma once

#include <Eigen/Core>

#include <complex>
#include <memory>
#include <vector>

namespace spectra::dyson {

using Complex = std::complex<double>;
using Unknowns = Eigen::VectorXcd;

/// ω = e^{log_scale}·direction. The scale is a logarithm, so that no spectrum is too deep for
/// double; direction is of order one. A point of the density has log_scale = ln s, direction = 1.
struct Frequency {
    double log_scale = 0;
    Complex direction = {1.0, 0.0};
};

/// A self-consistent (Dyson) equation F(m; ω) = 0 in complex unknowns m. Its one right solution
/// gives the Green's function g(ω) of the symmetrised law of singular values.
///
/// Methods that use workspace are not const: use one clone() per thread.
class Equation {
public:
    virtual ~Equation() = default;
    virtual std::unique_ptr<Equation> clone() const = 0;

    virtual Eigen::Index size() const = 0;

    /// The right solution for |ω| → ∞, to relative order 1/ω².
    virtual Unknowns far(const Frequency& omega) const = 0;

    /// A guess from which Newton converges on the imaginary axis ω = i e^{log_scale}, at any scale inside or
    /// near the support; empty if there is none and solutions must be followed from far away.
    virtual Unknowns start(double /*log_scale*/) const { return {}; }

    /// The same equation with every noise strength times e^{log_factor}, in the same unknowns: solutions at
    /// full noise can be followed from weaker noise. Null if not supported.
    virtual std::unique_ptr<Equation> with_noise(double /*log_factor*/) const { return nullptr; }

    /// Newton's correction δ in units of scale(m), to be applied by moved(). False if the linearised
    /// equation is singular or a number is not finite.
    virtual bool newton_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) = 0;

    /// m after a fraction of the correction: m_i + fraction·scale_i δ_i unless overridden.
    virtual Unknowns moved(const Unknowns& m, const Unknowns& delta, double fraction) const {
        return m + fraction * scale(m).cwiseProduct(delta);
    }

    /// The unit for changes of each unknown: its own value, unless it may vanish.
    virtual Unknowns scale(const Unknowns& m) const { return m; }

    /// Σ_k weights_k values_k, Σ weights = 1, as a guess between or beyond solutions. By default in the
    /// logarithms: order parameters follow powers of s over many decades.
    virtual Unknowns mix(const std::vector<const Unknowns*>& values, const double* weights) const;

    /// Whether the unknowns are in the correct half plane: the imaginary part of every order parameter has
    /// the sign of the right solution, below −slack·|m|. Zero is strict; a negative slack tolerates that much
    /// rounding.
    virtual bool admissible(const Frequency& omega, const Unknowns& m, double slack) const = 0;

    /// For real ω and a real solution: true if the linearised map has a spectral radius below one,
    /// which identifies the right solution in a gap of the support.
    virtual bool stable_in_gap(const Frequency& omega, const Unknowns& m) = 0;

    /// e^{log_scale}·g(ω); at real ω = s the density with respect to ln s is −(2/π) Im of it.
    virtual Complex scaled_green(const Frequency& omega, const Unknowns& m) const = 0;

    /// The Newton step at which a point is certified (or the floor that conditioning sets).
    virtual double certified_step() const { return 1e-10; }

    /// The Newton step that is enough at a point on the way to another; 0: the certified one.
    virtual double passing_step() const { return 0; }

    /// The longest Newton step that is taken whole; of a longer one, a fraction of that length.
    virtual double longest_step() const { return 2; }

    /// Unknowns of the gauge of one scale in that of another, at the same ω. Only guesses are changed by it: by default
    /// they stay what they are.
    virtual Unknowns regauged(const Unknowns& m, double /*from_log_scale*/, double /*to_log_scale*/) const {
        return m;
    }

    /// Whether masses between bands must be counted just above the real axis (potential.hpp).
    virtual bool counted_from_above() const { return false; }

    /// Elimination passes spent so far, other work counted by its time in passes.
    virtual double passes() const = 0;

    /// The correction at another m by the linearised equation of the last newton_step() that succeeded, for a fraction of its
    /// cost (a chord): corrections then shrink by a factor, the relative change of the linearised equation. False if not
    /// supported, or if a number is not finite.
    virtual bool chord_step(const Frequency& /*omega*/, const Unknowns& /*m*/, Unknowns& /*delta*/) {
        return false;
    }
};

}  // namespace spectra::dyson
