#pragma once

#include "dyson/equations/covariance.hpp"
#include "dyson/equations/eliminated_pairs.hpp"
#include "dyson/solve/equation.hpp"
#include "network/network.hpp"

#include <Eigen/Core>

#include <memory>
#include <vector>

namespace spectra::dyson {

/// M = (P(ω; D) − Σ)⁻¹ for aligned branches (AlignedBranch), at low rank: never a block of N×N.
///
/// J Jᵀ is linearised as in chain.hpp, with 2L sites w_0, v_0, w_1, …, v_{L−1} of N channels each, D_l in place of
/// A_l ⊗ 1, and
///
///     Σ(v_l) = c_v (post postᵀ ⊗ Π_u),   Π_u = 1 − U_lU_lᵀ,        Σ(w_l) = c_w (pre preᵀ ⊗ Π_v),   Π_v = 1 − V_lV_lᵀ
///
/// (without pre and post: c_v Π_u and c_w Π_v with vectors of N numbers). M_0, of 2Ln rows, is the chain as if nothing
/// were kept: A_l for D_l and 1 for Π. What is missing has low rank: a column post ⊗ u at v_l and a column pre ⊗ v at
/// w_l for each triplet, coupled by [[c_v, −s], [−s, c_w]], and two columns for each triplet of Δ_l, coupled by
/// [[0, −s], [−s, 0]]. With X the columns and C the couplings,
///
///     K = Xᵀ (M_0 ⊗ 1) X,    T = C (1 + K C)⁻¹,    M = M_0 ⊗ 1 − (M_0 ⊗ 1) X T Xᵀ (M_0 ⊗ 1).
///
/// T comes from adding the columns a few pairs at a time (sweeps of a symmetric matrix, eliminated_pairs.hpp): half the
/// work of an inverse, and the pivots give the argument of det(1 + C K) without its eigenvalues.
///
/// A column is a sum of terms (direction at a site) ⊗ (vector of p numbers): one for a hyper-connection's triplet, n for
/// others. So K_ij = Σ Ĝ_de x_dᵀx_e over the terms of i and j, with Ĝ = M_0 between directions, and every trace of M is
/// a quadratic form in τ_de = Σ T_ij x_dᵀx_e. One symmetric inverse of as many rows as there are columns is all the work.
class AlignedChain {
public:
    explicit AlignedChain(const Network& network);

    std::size_t layers() const { return shared_->layers; }
    /// Whether the rest of a layer is zero, or nothing of it is left: then it has no self-energy.
    bool quiet(std::size_t l) const { return shared_->quiet[l]; }
    /// Channels of F_l that are free: m − r.
    double free(std::size_t l) const { return shared_->free[l]; }
    /// N and p.
    double size() const { return shared_->size; }
    double width() const { return shared_->width; }
    /// ln of the product of the layers' typical sizes.
    double log_typical() const { return shared_->log_typical; }
    /// ln of each layer's typical size.
    const std::vector<double>& log_units() const { return shared_->log_unit; }
    /// The singular values of a layer's rest, in the gauge of the last run().
    const SquaredLaw& law(std::size_t l) const { return laws_[l]; }

    /// Scales everything to the gauge of ω: e^{log_scale} shared equally by the layers.
    void set_gauge(double log_scale);

    /// Solves for M at the given ω (of order one) and c, in the gauge. False if a number is not finite. `rough`: to a few
    /// digits, where that is faster (EliminatedPairs::run).
    bool run(Complex omega, const Eigen::VectorXcd& cv, const Eigen::VectorXcd& cw, bool rough = false);
    /// Whether the last run was.
    bool rough() const { return added_.rough(); }

    /// tr[(pre preᵀ ⊗ Π_v) M(w_l)]/(m − r), and the same for post, Π_u and v_l.
    Complex read(std::size_t l) const { return side(2 * l); }
    Complex written(std::size_t l) const { return side(2 * l + 1); }

    /// tr M(v_{L−1})/N.
    Complex green() const;

    /// tr[Q_a M Q_b M]/(m_a − r_a) with Q_a the pattern of Σ at side a = w_0, v_0, w_1, …: the response of the traces
    /// to c. Estimated with a few fixed random vectors if the exact sum would cost more than run() itself: Newton's
    /// steps need no more, and the equation that is solved does not depend on it.
    Eigen::MatrixXcd response() const;
    /// Whether it is the exact sum.
    bool exact_response() const { return shared_->exact_response; }

    /// P − Σ of the chain in which nothing is kept, 2Ln rows, and C K: the determinant of P − Σ is
    /// det(base)^p · det(1 + C K).
    const Eigen::MatrixXcd& base() const { return base_; }
    Eigen::MatrixXcd coupled() const;
    /// ∂ ln det(P − Σ)/∂ ln s of the kept triplets, layer by layer: of C alone, −s (K W)(v, w) twice.
    std::vector<std::vector<Complex>> by_triplet() const;
    /// Im ln det(1 + C K), continuous from C = 0. NaN if a number is not finite.
    double argument() const;
    /// Rows of C K.
    Eigen::Index columns() const { return 2 * static_cast<Eigen::Index>(shared_->pairs.size()); }

private:
    using Matrix = Eigen::MatrixXcd;
    using Real = Eigen::MatrixXd;
    using Index = Eigen::Index;

    /// What lies along one direction: terms, and their vectors side by side.
    struct Along {
        std::vector<Index> columns;
        Real vectors;  ///< p × columns
    };
    /// Part of a column: a direction at a site ⊗ a vector of p numbers.
    struct Term {
        Index direction = 0, column = 0;
    };
    /// Two columns, at v_l and at w_l, with their coupling.
    struct Pair {
        std::size_t layer = 0;
        double value = 0;
        bool kept = true;  ///< of F_l; otherwise of Δ_l
    };
    /// What Σ reaches at one site: directions, and the kept vectors, stacked by direction.
    struct Side {
        std::vector<Index> directions;
        Real vectors;              ///< (directions × p) × r
        std::vector<Index> columns;  ///< of the kept vectors
        std::vector<Real> probes;    ///< Π Z, by direction, p×k
        std::vector<Real> seen;      ///< Xᵀ Π Z, by direction, one row per term
    };
    /// What does not change from point to point.
    struct Shared {
        std::size_t layers = 0;
        Index streams = 0;
        double size = 0, width = 0, log_typical = 0;
        std::vector<bool> quiet;
        std::vector<double> free;
        std::vector<Real> mixers;       ///< in units of their layer
        std::vector<SquaredLaw> laws;   ///< in units of their layer
        std::vector<double> unit, log_unit;
        std::vector<Eigen::VectorXd> pre, post;  ///< patterns of Σ; empty: the identity
        std::vector<Pair> pairs;
        std::vector<Term> terms;
        Real directions;   ///< 2Ln × number of directions
        Real vectors;      ///< p × number of terms
        Real gram;         ///< vectorsᵀ·vectors
        std::vector<Side> sides;
        std::vector<Along> along;  ///< by direction
        bool exact_response = true;
    };
    struct Builder;

    Complex side(std::size_t a) const;
    std::vector<Eigen::Matrix2cd> couplings() const;
    Complex quadratic(const Eigen::RowVectorXcd& row) const;

    std::shared_ptr<const Shared> shared_;
    double log_gauge_ = 0;
    std::vector<Real> mixers_;
    std::vector<SquaredLaw> laws_;
    std::vector<double> values_;  ///< of the pairs, in the gauge
    Eigen::VectorXcd cv_, cw_;
    Matrix base_, inverse_;  ///< P − Σ without what is kept, and M_0
    Matrix between_;         ///< Ĝ
    Matrix k_;               ///< K
    EliminatedPairs added_;  ///< T, and the pivots
    Matrix tau_;             ///< τ
};

}  // namespace spectra::dyson
