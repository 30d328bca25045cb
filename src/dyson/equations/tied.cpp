#include "dyson/equations/tied.hpp"

#include "dyson/exact/layer_branch.hpp"
#include "linalg/blas.hpp"
#include "linalg/complex_matrix.hpp"
#include "linalg/eigen_instances.hpp"
#include "linalg/gmres.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace spectra::dyson {
namespace {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

// Up to this many unknowns (12 layers of one set) building 1 − T is as fast as GMRES, and more robust.
constexpr int default_dense_size = 180;

// If GMRES fails, 1 − T is still built up to this many unknowns.
constexpr Index largest_dense_size = 1200;

// A Newton step needs only a few digits: the next one corrects it.
constexpr double gmres_tolerance = 1e-6;
constexpr int gmres_max_iterations = 600;
constexpr int gmres_restart = 200;  // information travels one layer per iteration

// How much weaker than the rest an equation must be to be replaced by its identity.
constexpr double softness = 10;

const TiedBranch& branch_of(const Network& network) {
    const auto* branch = std::get_if<TiedBranch>(&network.branch);
    if (branch == nullptr)
        throw std::invalid_argument("branch: the weight-tied equation supports tied branches only");
    return *branch;
}

/// Every E J_k J_mᵀ, k, m = 0 … L − 1, over partial products of the given layers.
std::vector<MatrixXd> mixed_moments(const std::vector<Mixer>& mixers,
                                    const std::vector<LayerBranch>& branches) {
    const Index n = mixers.front().rows();
    const std::size_t side = mixers.size();
    std::vector<MatrixXd> t(side * side);
    t[0] = MatrixXd::Identity(n, n);
    for (std::size_t k = 1; k < side; ++k) {
        t[k * side] = mixers[k - 1] * t[(k - 1) * side];
        t[k] = t[k * side].transpose();
    }
    for (std::size_t k = 1; k < side; ++k) {
        for (std::size_t m = 1; m <= k; ++m) {
            const Mixer& a = mixers[k - 1];
            const Mixer& b = mixers[m - 1];
            const MatrixXd& before = t[(k - 1) * side + m - 1];
            MatrixXd& here = t[k * side + m];
            here = a * t[(k - 1) * side + m] + (t[k * side + m - 1] - a * before) * b.transpose();
            here += mixed_covariance(branches[k - 1], branches[m - 1], before);
            if (m < k) t[m * side + k] = here.transpose();
        }
    }
    return t;
}

/// The unitary factor Q of x = Q·(positive), by Newton's iteration.
MatrixXcd polar_factor(MatrixXcd x) {
    for (int k = 0; k < 40 && x.size() > 0; ++k) {
        const MatrixXcd inverse = x.partialPivLu().inverse();
        if (!inverse.allFinite()) return MatrixXcd::Identity(x.rows(), x.cols());
        const double zeta = std::sqrt(inverse.norm() / x.norm());
        const MatrixXcd next = 0.5 * (zeta * x + inverse.adjoint() / zeta);
        const double change = (next - x).norm() / next.norm();
        x = next;
        if (change < 1e-6) break;
    }
    return x;
}

class Tied final : public Equation {
public:
    Tied(const Network& network, int dense_size)
        : n_(network.streams),
          depth_(network.depth()),
          sites_(2 * depth_),
          network_(network),
          first_(first_with_weights(network)) {
        const TiedBranch& branch = branch_of(network);
        if (depth_ * n_ > max_tied_size)
            throw std::invalid_argument("tied weights: depth times streams is " +
                                        std::to_string(depth_ * n_) + "; must be at most " +
                                        std::to_string(max_tied_size));
        pairs_ = tied_pairs(network);
        dense_ = size() <= dense_size;
        sigma_ = Eigen::Map<const VectorXd>(branch.sigma2.data(), depth_).cwiseSqrt();
        if (branch.hyper_connection()) {
            pre_.resize(n_, depth_);
            post_.resize(n_, depth_);
        }
        for (Index l = 0; l < depth_ && hyper(); ++l) {
            pre_.col(l) = branch.pre[static_cast<std::size_t>(l)];
            post_.col(l) = branch.post[static_cast<std::size_t>(l)];
        }
        for (Index k = 1; k < depth_; ++k)
            if (periodic(k)) shifts_.push_back(k);
    }

    std::unique_ptr<Equation> clone() const override { return std::make_unique<Tied>(*this); }
    Index size() const override { return 2 * static_cast<Index>(pairs_.size()); }

    // W_ij → E tr_n J_i J_jᵀ/ω with J_i the product of the first i layers, V_ij in the same way from the
    // other end.
    Unknowns far(const Frequency& omega) const override {
        const double q = std::exp(-log_gauge(omega));
        std::vector<Mixer> up, down;
        for (const Mixer& mixer : network_.mixers) up.push_back(q * mixer);
        for (auto it = up.rbegin(); it != up.rend(); ++it) down.emplace_back(it->transpose());
        auto branches = layer_branches(network_);
        for (LayerBranch& branch : branches) branch.sigma2 *= q * q;
        const auto t = mixed_moments(up, branches);
        std::reverse(branches.begin(), branches.end());
        for (LayerBranch& branch : branches) std::swap(branch.pre, branch.post);
        const auto u = mixed_moments(down, branches);
        MatrixXcd x = MatrixXcd::Zero(sites_, sites_);
        const auto reduce = [&](const std::vector<MatrixXd>& blocks, Index i, Index j,
                                const MatrixXd& through, Index a, Index b) {
            const MatrixXd& block = blocks[static_cast<std::size_t>(i * depth_ + j)];
            const double sum = hyper() ? through.col(a).dot(block * through.col(b))
                                       : block.trace() / static_cast<double>(n_);
            return q * sum / omega.direction;
        };
        const Index last = depth_ - 1;
        for (const auto& [i, j] : pairs_) {
            x(i, j) = reduce(t, i, j, pre_, i, j);
            x(depth_ + i, depth_ + j) = reduce(u, last - i, last - j, post_, i, j);
        }
        return pack(x);
    }

    bool newton_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        if (!eliminate(omega, m)) return false;
        const Unknowns defect = pack(reduced_) - pack(scaled_);
        fix_invariance(omega);
        if (!defect.allFinite() || !constraints_.allFinite()) return false;
        return solve_linear(defect - directions_ * constraints_, true, delta);
    }

    Unknowns scale(const Unknowns& m) const override {
        const VectorXd d = site_scales(m);
        return pack((d * d.transpose()).cast<Complex>());
    }

    // Scaled matrices are mixed linearly, site scales in their logarithms, which follow powers of s.
    Unknowns mix(const std::vector<const Unknowns*>& values, const double* weights) const override {
        VectorXd log_scale = VectorXd::Zero(sites_);
        Unknowns sum = Unknowns::Zero(size());
        for (std::size_t k = 0; k < values.size(); ++k) {
            const VectorXd d = site_scales(*values[k]);
            log_scale += weights[k] * d.array().log().matrix();
            sum += weights[k] * values[k]->cwiseQuotient(pack((d * d.transpose()).cast<Complex>()));
        }
        const VectorXd d = log_scale.array().exp();
        return sum.cwiseProduct(pack((d * d.transpose()).cast<Complex>()));
    }

    bool admissible(const Frequency&, const Unknowns& m, double slack) const override {
        if (!m.allFinite()) return false;
        const VectorXd inverse = site_scales(m).cwiseInverse();
        if (!inverse.allFinite()) return false;
        const MatrixXd im = inverse.asDiagonal() * unpack(m).imag() * inverse.asDiagonal();
        for (const Index first : {Index{0}, depth_}) {
            const MatrixXd below =
                -im.block(first, first, depth_, depth_) - slack * MatrixXd::Identity(depth_, depth_);
            if (Eigen::LLT<MatrixXd>(below).info() != Eigen::Success) return false;
        }
        return true;
    }

    bool stable_in_gap(const Frequency& omega, const Unknowns& m) override {
        if (!eliminate(omega, m)) return false;
        Unknowns x;
        if (!solve_linear(pack(MatrixXcd::Identity(sites_, sites_)), false, x)) return false;
        // X ≥ 1 if the series Σ T^k[1] converges; half of that leaves room for rounding.
        const MatrixXd above = unpack(x).real() - 0.5 * MatrixXd::Identity(sites_, sites_);
        return Eigen::LLT<MatrixXd>(above).info() == Eigen::Success;
    }

    Complex scaled_green(const Frequency& omega, const Unknowns& m) const override {
        const double c = std::exp(log_gauge(omega));
        if (!hyper()) return c * m(size() - 1);
        const VectorXd d = std::sqrt(c) * site_scales(m);
        const MatrixXcd matrix = scaled_matrix(omega, c * unpack(m), d);
        MatrixXcd ends = MatrixXcd::Zero(matrix.rows(), n_);
        for (Index p = 0; p < n_; ++p) ends((p + 1) * sites_ - 1, p) = 1;
        const MatrixXcd columns = matrix.partialPivLu().solve(ends);
        Complex sum = 0;
        for (Index p = 0; p < n_; ++p) sum += columns((p + 1) * sites_ - 1, p);
        return sum * d(sites_ - 1) * d(sites_ - 1) / static_cast<double>(n_);
    }

    double passes() const override { return passes_; }

private:
    // Sites are w_0 … w_{L−1}, v_0 … v_{L−1}; rows of big matrices run over streams, then sites.
    bool hyper() const { return pre_.size() > 0; }
    /// Whether layers repeat with period k.
    bool periodic(Index k) const {
        for (Index l = k; l < depth_; ++l) {
            const auto here = static_cast<std::size_t>(l), before = static_cast<std::size_t>(l - k);
            if (first_[here] != first_[before] || sigma_(l) != sigma_(l - k) ||
                network_.mixers[here] != network_.mixers[before])
                return false;
            if (hyper() && (pre_.col(l) != pre_.col(l - k) || post_.col(l) != post_.col(l - k))) return false;
        }
        return true;
    }
    Index partner(Index site) const { return site < depth_ ? site + depth_ : site - depth_; }
    /// The sites w_l, v_{l−1} of the link into layer l; at the ends the same site twice.
    std::pair<Index, Index> link(Index l) const {
        return {l < depth_ ? l : sites_ - 1, l > 0 ? depth_ + l - 1 : 0};
    }
    double log_gauge(const Frequency& omega) const { return omega.log_scale / static_cast<double>(depth_); }

    template <class Derived>
    Unknowns pack(const Eigen::MatrixBase<Derived>& x) const {
        Unknowns m(size());
        Index k = 0;
        for (const Index first : {Index{0}, depth_})
            for (const auto& [i, j] : pairs_) m(k++) = x(first + i, first + j);
        return m;
    }

    MatrixXcd unpack(const Unknowns& m) const {
        MatrixXcd x = MatrixXcd::Zero(sites_, sites_);
        Index k = 0;
        for (const Index first : {Index{0}, depth_})
            for (const auto& [i, j] : pairs_) x(first + i, first + j) = x(first + j, first + i) = m(k++);
        return x;
    }

    /// d_a = √|m_aa|.
    VectorXd site_scales(const Unknowns& m) const {
        VectorXd d(sites_);
        Index k = 0;
        for (const Index first : {Index{0}, depth_})
            for (const auto& [i, j] : pairs_) {
                if (i == j) d(first + i) = std::sqrt(std::abs(m(k)));
                ++k;
            }
        return d;
    }

    /// D (P − Σ) D in the gauge of ω.
    MatrixXcd scaled_matrix(const Frequency& omega, const MatrixXcd& x, const VectorXd& d) const {
        const double q = std::exp(-log_gauge(omega));
        MatrixXcd z = MatrixXcd::Zero(n_ * sites_, n_ * sites_);
        MatrixXcd self_energy = MatrixXcd::Zero(sites_, sites_);
        const VectorXd t = q * sigma_.cwiseProduct(d.head(depth_)).cwiseProduct(d.tail(depth_));
        for (Index i = 0; i < sites_; ++i)
            for (Index j = i < depth_ ? 0 : depth_; j < (i < depth_ ? depth_ : sites_); ++j)
                self_energy(i, j) = x(partner(i), partner(j)) / (d(partner(i)) * d(partner(j))) *
                                    (t(i % depth_) * t(j % depth_));
        for (Index p = 0; p < n_; ++p) {
            for (Index r = 0; r < n_; ++r) {
                auto block = z.block(p * sites_, r * sites_, sites_, sites_);
                for (Index l = 0; l < depth_; ++l) {
                    const Mixer& a = network_.mixers[static_cast<std::size_t>(l)];
                    const double scale = q * d(l) * d(depth_ + l);
                    block(depth_ + l, l) = -a(p, r) * scale;
                    block(l, depth_ + l) = -a(r, p) * scale;
                }
                if (hyper()) {
                    block.topLeftCorner(depth_, depth_) -= pre_.row(p).asDiagonal() *
                                                           self_energy.topLeftCorner(depth_, depth_) *
                                                           pre_.row(r).asDiagonal();
                    block.bottomRightCorner(depth_, depth_) -= post_.row(p).asDiagonal() *
                                                               self_energy.bottomRightCorner(depth_, depth_) *
                                                               post_.row(r).asDiagonal();
                } else if (p == r) {
                    block -= self_energy;
                }
                if (p != r) continue;
                for (Index l = 0; l + 1 < depth_; ++l) {
                    const double one = d(l + 1) * d(depth_ + l);
                    block(l + 1, depth_ + l) += one;
                    block(depth_ + l, l + 1) += one;
                }
                block(0, 0) += omega.direction * (d(0) * d(0));
                block(sites_ - 1, sites_ - 1) += omega.direction * (d(sites_ - 1) * d(sites_ - 1));
            }
        }
        return z;
    }

    /// Fills the order parameters at m (scaled), those of the resolvent there, and the slices N_r.
    bool eliminate(const Frequency& omega, const Unknowns& m) {
        passes_ += 1;
        if (!m.allFinite()) return false;
        const double c = std::exp(log_gauge(omega));
        d_ = std::sqrt(c) * site_scales(m);
        if (!(d_.minCoeff() > 0) || !d_.allFinite()) return false;
        const MatrixXcd x = c * unpack(m);
        const MatrixXcd matrix = scaled_matrix(omega, x, d_);
        if (!matrix.allFinite()) return false;
        scaled_ = d_.cwiseInverse().asDiagonal() * x * d_.cwiseInverse().asDiagonal();
        const linalg::SingleThreadedBlas one_thread;
        MatrixXcd inverse = matrix;
        if (!linalg::invert(inverse)) return false;

        const auto slice = [&](Index p, Index r) {
            return inverse.block(p * sites_, r * sites_, sites_, sites_);
        };
        const double q = std::exp(-log_gauge(omega));
        t_.resize(sites_);
        for (Index a = 0; a < sites_; ++a) t_(a) = q * sigma_(a % depth_) * d_(a) * d_(partner(a));
        const double root_n = std::sqrt(static_cast<double>(n_));
        const Index count = hyper() ? 1 : n_ * n_;
        kraus_.resize(sites_, sites_ * count);
        traces_ = MatrixXcd::Zero(sites_, sites_);
        link_moduli_ = VectorXd::Zero(depth_ + 1);
        for (Index p = 0; p < n_; ++p) {
            traces_ += slice(p, p) / static_cast<double>(n_);
            for (Index l = 0; l <= depth_; ++l) {
                const auto [a, b] = link(l);
                link_moduli_(l) += std::abs(slice(p, p)(a, b)) / static_cast<double>(n_);
            }
        }
        if (!hyper()) {
            reduced_ = traces_;
            for (Index p = 0; p < n_; ++p)
                for (Index r = 0; r < n_; ++r)
                    partners_scaled(slice(p, r), root_n, kraus_.middleCols((p * n_ + r) * sites_, sites_));
            return true;
        }
        // u_a = pre at w, post at v.
        reduced_ = MatrixXcd::Zero(sites_, sites_);
        halves_.resize(sites_, sites_ * n_);
        MatrixXcd half(sites_, sites_);
        for (Index p = 0; p < n_; ++p) {
            half.setZero();
            for (Index r = 0; r < n_; ++r) {
                half.leftCols(depth_) += slice(p, r).leftCols(depth_) * pre_.row(r).asDiagonal();
                half.rightCols(depth_) += slice(p, r).rightCols(depth_) * post_.row(r).asDiagonal();
            }
            reduced_.topRows(depth_) += pre_.row(p).asDiagonal() * half.topRows(depth_);
            reduced_.bottomRows(depth_) += post_.row(p).asDiagonal() * half.bottomRows(depth_);
            partners_scaled(half, root_n, halves_.middleCols(p * sites_, sites_));
        }
        partners_scaled(reduced_, 1, kraus_);
        return true;
    }

    /// out_ab = slice(a, b') t_b / root.
    template <class Slice, class Out>
    void partners_scaled(const Slice& slice, double root, Out&& out) const {
        for (Index b = 0; b < sites_; ++b) out.col(b) = slice.col(partner(b)) * (t_(b) / root);
    }

    /// The identities c = 0, their gradients and the directions E α (tied.hpp).
    void fix_invariance(const Frequency& omega) {
        const Index last = sites_ - 1;
        const Index count = depth_ + static_cast<Index>(shifts_.size());
        constraints_.resize(count);
        gradients_.resize(size(), count);
        MatrixXcd e(size(), count), dual(size(), count);
        VectorXd weights(count);
        Index column = 0;
        const auto add = [&](const MatrixXd& generator, Complex value, const MatrixXcd& form, double unit) {
            constraints_(column) = value / unit;
            gradients_.col(column) = pack_form(form) / unit;
            const MatrixXcd change = transformed(generator);
            const double norm = change.norm();
            e.col(column) = pack(change) / norm;
            dual.col(column) = pack_form(exchanged(change)) / norm;
            weights(column) = norm / (unit * (hyper() ? static_cast<double>(n_) : 1.0));
            ++column;
        };
        // β_l, the current through the link after layer l − 1, relative to the size of the terms of its
        // trace.
        std::vector<Complex> current;
        std::vector<double> size_of;
        std::vector<MatrixXcd> form;
        for (Index l = 0; l <= depth_; ++l) {
            const auto [a, b] = link(l);
            const Complex unit = d_(a) * d_(b) * (l == 0 || l == depth_ ? omega.direction : 1.0);
            current.push_back(unit * traces_(a, b));
            size_of.push_back(std::abs(unit) * link_moduli_(l));
            form.push_back(unit * trace_form(a, b));
        }
        for (Index l = 0; l < depth_; ++l) {
            MatrixXd generator = MatrixXd::Zero(depth_, depth_);
            generator(l, l) = 1;
            const auto k = static_cast<std::size_t>(l);
            add(generator, current[k] - current[k + 1], form[k] - form[k + 1], size_of[k] + size_of[k + 1]);
        }
        for (const Index k : shifts_) {
            MatrixXd shift = MatrixXd::Zero(depth_, depth_);
            shift.topRightCorner(depth_ - k, depth_ - k).setIdentity();
            const Complex w = omega.direction * (d_(0) * d_(k)),
                          v = omega.direction * (d_(last) * d_(last - k));
            add(shift, w * traces_(0, k) - v * traces_(last - k, last),
                w * trace_form(0, k) - v * trace_form(last - k, last), std::abs(w) + std::abs(v));
        }
        // gradientᵀ (1 − T)⁻¹ e: if it is large, the equation is soft and the identity replaces it;
        // otherwise rounding in the identity has no effect.
        MatrixXcd response = -0.5 * dual.transpose() * e;
        for (Index k = 0; k < count; ++k) response.row(k) *= weights(k);
        std::vector<Index> soft;
        for (Index k = 0; k < count; ++k)
            if (std::abs(response(k, k)) > softness) soft.push_back(k);
        constraints_ = constraints_(soft).eval();
        gradients_ = gradients_(Eigen::all, soft).eval();
        directions_ = e(Eigen::all, soft) * polar_factor(response(soft, soft)).adjoint();
    }

    /// (−(gW + Wgᵀ), gᵀV + Vg), in scaled units.
    MatrixXcd transformed(const MatrixXd& g) const {
        const VectorXd w = d_.head(depth_), v = d_.tail(depth_);
        const MatrixXd gw = w.cwiseInverse().asDiagonal() * g * w.asDiagonal();
        const MatrixXd gv = v.asDiagonal() * g * v.cwiseInverse().asDiagonal();
        const MatrixXcd a = gw * scaled_.topLeftCorner(depth_, depth_);
        const MatrixXcd b = scaled_.bottomRightCorner(depth_, depth_) * gv;
        MatrixXcd out = MatrixXcd::Zero(sites_, sites_);
        out.topLeftCorner(depth_, depth_) = -a - a.transpose();
        out.bottomRightCorner(depth_, depth_) = b + b.transpose();
        return out;
    }

    /// σ² times a change with W and V exchanged: its dual in a pairing with another change.
    MatrixXcd exchanged(const MatrixXcd& x) const {
        const VectorXd t = t_.head(depth_);
        MatrixXcd out = MatrixXcd::Zero(sites_, sites_);
        out.topLeftCorner(depth_, depth_) =
            t.asDiagonal() * x.bottomRightCorner(depth_, depth_) * t.asDiagonal();
        out.bottomRightCorner(depth_, depth_) =
            t.asDiagonal() * x.topLeftCorner(depth_, depth_) * t.asDiagonal();
        return out;
    }

    /// The coefficients of Σ_ij form_ij X_ij over packed unknowns.
    Unknowns pack_form(const MatrixXcd& form) const {
        MatrixXcd both = form + form.transpose();
        both.diagonal() = form.diagonal();
        return pack(both);
    }

    /// The form C of d tr_n M(a, b) = Σ_ij C_ij X_ij, in scaled units.
    MatrixXcd trace_form(Index a, Index b) const {
        const MatrixXcd& slices = hyper() ? halves_ : kraus_;
        MatrixXcd form = MatrixXcd::Zero(sites_, sites_);
        for (Index k = 0; k < slices.cols(); k += sites_)
            form.noalias() += slices.row(a).segment(k, sites_).transpose() * slices.row(b).segment(k, sites_);
        return form;
    }

    /// T[X] on the diagonal blocks.
    void apply_map(const MatrixXcd& x, MatrixXcd& out) {
        const Index count = kraus_.cols() / sites_;
        product_.resize(sites_, kraus_.cols());
        for (Index k = 0; k < count; ++k) {
            const auto slice = kraus_.middleCols(k * sites_, sites_);
            auto image = product_.middleCols(k * sites_, sites_);
            image.leftCols(depth_).noalias() = slice.leftCols(depth_) * x.topLeftCorner(depth_, depth_);
            image.rightCols(depth_).noalias() = slice.rightCols(depth_) * x.bottomRightCorner(depth_, depth_);
        }
        out.resize(sites_, sites_);
        for (const Index first : {Index{0}, depth_})
            out.block(first, first, depth_, depth_).noalias() =
                product_.middleRows(first, depth_) * kraus_.middleRows(first, depth_).transpose();
    }

    bool solve_linear(const Unknowns& rhs, bool fix_gauge, Unknowns& x) {
        const auto side = static_cast<double>(depth_), all = static_cast<double>(n_ * sites_);
        const double count = static_cast<double>(kraus_.cols()) / (2 * side);
        if (!dense_) {
            MatrixXcd image;
            const auto apply = [&](const Unknowns& v, Unknowns& out) {
                apply_map(unpack(v), image);
                out = v - pack(image);
                if (fix_gauge) out += directions_ * (gradients_.transpose() * v);
            };
            const linalg::GmresSummary summary =
                linalg::gmres(apply, rhs, x, gmres_tolerance, gmres_max_iterations, gmres_restart);
            passes_ += summary.iterations * 8 * count * side * side * side / (all * all * all);
            if (summary.converged) return x.allFinite();
            if (size() > largest_dense_size) return false;
        }
        MatrixXcd matrix = build();
        if (fix_gauge) matrix += directions_ * gradients_.transpose();
        if (!matrix.allFinite()) return false;
        const auto unknowns = static_cast<double>(size());
        passes_ += unknowns * (unknowns * unknowns / 3 + 2 * side * side * count) / (all * all * all);
        x = matrix.partialPivLu().solve(rhs);
        return x.allFinite();
    }

    /// 1 − T on packed unknowns.
    MatrixXcd build() const {
        const Index count = kraus_.cols() / sites_;
        // rows[a](b, r) = N_r(a, b)
        std::vector<MatrixXcd> rows(static_cast<std::size_t>(sites_), MatrixXcd(sites_, count));
        for (Index a = 0; a < sites_; ++a)
            for (Index r = 0; r < count; ++r)
                rows[static_cast<std::size_t>(a)].col(r) =
                    kraus_.row(a).segment(r * sites_, sites_).transpose();
        MatrixXcd matrix(size(), size());
        MatrixXcd products(depth_, depth_);
        Index row = 0;
        for (const Index first : {Index{0}, depth_}) {
            for (const auto& [k, l] : pairs_) {
                const MatrixXcd& a = rows[static_cast<std::size_t>(first + k)];
                const MatrixXcd& b = rows[static_cast<std::size_t>(first + l)];
                Index column = 0;
                for (const Index source : {Index{0}, depth_}) {
                    products.noalias() =
                        a.middleRows(source, depth_) * b.middleRows(source, depth_).transpose();
                    for (const auto& [i, j] : pairs_)
                        matrix(row, column++) = i == j ? -products(i, i) : -(products(i, j) + products(j, i));
                }
                ++row;
            }
        }
        matrix.diagonal().array() += 1.0;
        return matrix;
    }

    Index n_, depth_, sites_;
    Network network_;
    std::vector<std::pair<Index, Index>> pairs_;  ///< layers with the same weights
    std::vector<std::size_t> first_;              ///< first_with_weights
    bool dense_ = false;
    VectorXd sigma_;
    MatrixXd pre_, post_;        ///< n×L; empty: isotropic
    std::vector<Index> shifts_;  ///< periods of the layers
    double passes_ = 0;

    VectorXd d_, t_;         ///< site scales; σ d_a d_a'
    MatrixXcd scaled_;       ///< order parameters of the resolvent's argument, in units of d_a d_b
    MatrixXcd reduced_;      ///< those of the resolvent
    MatrixXcd kraus_;        ///< N_1 … N_R side by side
    MatrixXcd halves_;       ///< hyper-connection: M^{p·}(a, b') u_b', streams p side by side
    MatrixXcd traces_;       ///< tr_n M(a, b), in units of d_a d_b
    VectorXd link_moduli_;   ///< tr_n of moduli at the links
    VectorXcd constraints_;  ///< h
    MatrixXcd gradients_;    ///< dh
    MatrixXcd directions_;   ///< E α
    MatrixXcd product_;
};

}  // namespace

std::vector<std::pair<Index, Index>> tied_pairs(const Network& network) {
    const auto first = first_with_weights(network);
    std::vector<std::pair<Index, Index>> pairs;
    for (std::size_t i = 0; i < first.size(); ++i)
        for (std::size_t j = i; j < first.size(); ++j)
            if (first[i] == first[j]) pairs.emplace_back(i, j);
    return pairs;
}

std::unique_ptr<Equation> make_tied(const Network& network, int dense_size) {
    return std::make_unique<Tied>(network, dense_size);
}

std::unique_ptr<Equation> make_tied(const Network& network) {
    return make_tied(network, default_dense_size);
}

}  // namespace spectra::dyson
