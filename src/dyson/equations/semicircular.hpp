#pragma once

#include <Eigen/Core>

#include <memory>
#include <string>
#include <vector>

namespace spectra::dyson {

struct SemicircularOptions {
    double tolerance = 1e-10;          ///< of the last Newton step
    int max_steps = 12;                ///< of Newton at one b
    int max_rungs = 200;               ///< of the continuation from large Im b
    int max_fixed_point_steps = 5000;  ///< of the fall-back
    int dense_limit = 400;             ///< largest r for which Newton's matrix may be built
};

/// How a solve ended. The defaults mean that nothing was solved.
struct SemicircularSummary {
    bool certified = false;              ///< step within tolerance (or floor), and the sign test
    std::string message = "not solved";  ///< one line: the reason if not certified, or "certified"
    double step = 1;                     ///< last Newton step, largest relative to M
    double floor = 0;                    ///< limit set by conditioning, if above the tolerance
    int newton_steps = 0;
    int rungs = 0;              ///< solutions along the continuation in Im b
    int fixed_point_steps = 0;  ///< of the fall-back
    double map_evaluations = 0;  ///< all work, in evaluations of M ↦ (b − η(M))⁻¹, by counting operations
};

struct SemicircularSolution {
    Eigen::MatrixXcd b;
    Eigen::MatrixXcd m;
    SemicircularSummary summary;

    bool ok() const { return summary.certified; }
};

/// −(1/π) Im tr_n M: the density at x of a self-adjoint element if b = x + i0 − a_0.
double density(const SemicircularSolution& solution);

/// Operator-valued semicircular elements: the solution of
///
///     M = (b − η(M))⁻¹,     η(B) = Σ_k a_k B a_k*,     Im b ≥ 0,
///
/// for n×n complex matrices a_k. M is the M_n-valued Cauchy transform at b of a semicircular element S with
/// covariance η = E[S · S]. With b = z − a_0 it is that of a_0 + S, for instance of a_0 ⊗ 1 + Σ_k a_k ⊗ s_k
/// with free semicircular s_k and self-adjoint a_k. Linearised polynomials and rectangular products have that
/// form with a pencil b; its imaginary part may vanish in some directions. (Im B means (B − B*)/2i; ≥ is the
/// order of self-adjoint matrices.)
///
/// *The right solution* is the only one with Im M ≤ 0. Since Im M = −M Im(b − η(M)) M*, this is tested before
/// inverting, as Im(b − η(M)) ≥ 0.
///
/// *Unknowns.* Σ = η(M) lies in the range of η, of dimension r ≤ n², often much less: 2L for the product of L
/// Ginibre matrices, which has a 2L × 2L linearisation. The solver finds r entries of Σ that determine
/// the others, Σ = Σ_j x_j B_j, and uses those as unknowns.
///
/// *Newton.* dM = M dΣ M, so x_i − η(M(x))_i = 0 is linearised as δ_ij − η(M B_j M)_i, built
/// if that is cheaper, otherwise applied inside GMRES. Steps are halved while Im(b − Σ) ≥ 0 fails, and
/// measured by max_pq |dΣ_pq| √|M_pp M_qq|, the relative change of M.
///
/// *Start.* From a nearby solution if one is given. Otherwise, or if the result is not certified, from
/// b + it: at large t the averaged map M ↦ ½(M + (b + it − η(M))⁻¹) is a contraction (Helton, Rashidi Far,
/// Speicher 2007), and t is lowered by adaptive factors with secant predictions. If that stalls: the
/// averaged map with Anderson acceleration, guarded by the sign of Im.
///
/// *Certified* solutions have the right sign and a last step within the tolerance (or the floor set by
/// rounding and the conditioning of Newton's matrix).
///
/// Methods use workspace: use one copy per thread.
class Semicircular {
public:
    /// Throws std::invalid_argument if there is no matrix, or one is not n×n and finite.
    explicit Semicircular(const std::vector<Eigen::MatrixXcd>& kraus,
                          const SemicircularOptions& options = {});

    Semicircular(const Semicircular& other);
    Semicircular& operator=(const Semicircular&) = delete;
    ~Semicircular();

    Eigen::Index size() const;             ///< n
    Eigen::Index range_dimension() const;  ///< r; n² if r is above dense_limit

    /// η(B).
    Eigen::MatrixXcd covariance(const Eigen::MatrixXcd& b) const;

    /// `nearby`: a solution at another b to start from, or null. Throws std::invalid_argument if b is not
    /// n×n and finite with Im b ≥ 0, Im b ≠ 0.
    SemicircularSolution solve(const Eigen::MatrixXcd& b, const SemicircularSolution* nearby = nullptr);

    /// Solves in order, each point starting from those before it.
    std::vector<SemicircularSolution> sweep(const std::vector<Eigen::MatrixXcd>& b);

    /// Density of a_0 + S, a_0 self-adjoint, smoothed over `epsilon`: at b = x + i·epsilon − a_0. NaN if
    /// the point is not certified.
    double density(const Eigen::MatrixXcd& a_0, double x, double epsilon);

private:
    struct Solver;
    std::unique_ptr<Solver> solver_;
};

}  // namespace spectra::dyson
