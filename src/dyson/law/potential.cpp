#include "dyson/law/potential.hpp"

#include "dyson/equations/aligned.hpp"
#include "dyson/equations/aligned_chain.hpp"
#include "dyson/equations/chain.hpp"
#include "dyson/equations/covariance.hpp"
#include "dyson/equations/tied.hpp"
#include "dyson/exact/atoms.hpp"
#include "dyson/exact/frames.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/solve/tracker.hpp"
#include "linalg/blas.hpp"
#include "linalg/complex_matrix.hpp"
#include "linalg/eigen_instances.hpp"
#include "linalg/index.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace spectra::dyson {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXcd;
using Real = Eigen::MatrixXd;

constexpr double pi = std::numbers::pi;
constexpr double log_negligible = -28;  // ln of a negligible mass: 1e-12
constexpr double largest_mass_error = 1e-6;
constexpr double largest_defect = 1e-4;  // accuracy of a solution's unknowns if conditioning sets a floor

using linalg::index;

/// arg z in [0, π]; rounding may have left z below the real axis.
double upper_argument(Complex z, double& error) {
    if (z.imag() > 0) return std::arg(z);
    if (z.imag() < 0) error = std::max(error, -z.imag() / std::abs(z));
    return z.real() < 0 ? pi : 0;
}

/// The same for z that lies in the lower half plane: in [−π, 0].
double lower_argument(Complex z) {
    if (z.imag() < 0) return std::arg(z);
    return z.real() < 0 ? -pi : 0;
}

/// Im ⟨ln u(Y − t²)⟩, the arguments of a and b taken in the lower half plane, of y ± t in the upper.
double law_argument(const SquaredLaw& law, Complex a, Complex b, Complex t) {
    const double of_u = lower_argument(a) + lower_argument(b);
    const Complex g = std::polar(std::sqrt(std::abs(a) * std::abs(b)), 0.5 * of_u);
    const Complex y = (1.0 + t) / g;
    double sum = 0, ignored = 0;
    for (const double t2 : law.t2)
        sum += upper_argument(y - std::sqrt(t2), ignored) + upper_argument(y + std::sqrt(t2), ignored);
    return of_u + sum / static_cast<double>(law.t2.size());
}

void exchange(Matrix& h, Index i, Index j) {
    if (i == j) return;
    h.row(i).swap(h.row(j));
    h.col(i).swap(h.col(j));
}

}  // namespace

double argument_of_determinant(Matrix h, double& error) {
    const double bound = (1 + std::sqrt(17.0)) / 8;  // Bunch and Parlett (1971): least growth
    const Index size = h.rows();
    double sum = 0;
    for (Index k = 0; k < size;) {
        const Index left = size - k;
        Index di = k, oi = k, oj = k;
        double diagonal = -1, off = -1;
        for (Index j = k; j < size; ++j) {
            for (Index i = j; i < size; ++i) {
                const double value = std::norm(h(i, j));
                if (i == j && value > diagonal) {
                    diagonal = value;
                    di = i;
                } else if (i != j && value > off) {
                    off = value;
                    oi = i;
                    oj = j;
                }
            }
        }
        if (left == 1 || std::sqrt(diagonal) >= bound * std::sqrt(off)) {
            exchange(h, k, di);
            const Complex pivot = h(k, k);
            sum += upper_argument(pivot, error);
            const Eigen::VectorXcd column = h.col(k).tail(left - 1);
            h.bottomRightCorner(left - 1, left - 1) -= column * (column / pivot).transpose();
            k += 1;
        } else {
            exchange(h, k, oj);
            exchange(h, k + 1, oi);
            const Complex a = h(k, k), b = h(k + 1, k), d = h(k + 1, k + 1);
            // The eigenvalues are well separated: |a|, |d| < |b|.
            const Complex middle = 0.5 * (a + d), half = std::sqrt(0.25 * (a - d) * (a - d) + b * b);
            sum += upper_argument(middle + half, error) + upper_argument(middle - half, error);
            const Eigen::Matrix2cd pivot{{a, b}, {b, d}};
            const Matrix columns = h.block(k + 2, k, left - 2, 2);
            h.bottomRightCorner(left - 2, left - 2) -= columns * pivot.inverse() * columns.transpose();
            k += 2;
        }
    }
    return sum;
}

class PotentialReader::Form {
public:
    virtual ~Form() = default;
    virtual Potential at(const Solution& solution) const = 0;
};

class PotentialReader::ChainForm final : public Form {
public:
    explicit ChainForm(const Network& network)
        : n_(network.streams),
          layers_(static_cast<std::size_t>(network.depth())),
          covariance_(covariance_of(network, SiteHalf::both)),
          sigma2_(spectra::sigma2(network)) {
        for (std::size_t l = 0; l < layers_; ++l) {
            log_typical_ += std::log(covariance_.unit[l]);
            mixers_.push_back(network.mixers[l] / covariance_.unit[l]);
        }
        Frames frames = follow_streams(mixers_, covariance_.log_noise);
        const auto n = static_cast<std::size_t>(n_);
        for (const CovarianceDraw& draw : covariance_.draws) {
            const Pattern v = frames.graded ? draw.v.seen_by(frames.inverse, 1) : draw.v;
            const Pattern w = frames.graded ? draw.w.seen_by(frames.adjoint, 0) : draw.w;
            Draw mine;
            mine.weight = draw.weight;
            for (std::size_t l = 0; l < layers_; ++l) {
                mine.v.push_back(v.matrix(n, l));
                mine.w.push_back(w.matrix(n, l));
            }
            draws_.push_back(std::move(mine));
        }
        end_v_ = end_w_ = Real::Identity(n_, n_);
        if (!frames.graded) return;
        mixers_ = std::move(frames.mixers);
        end_v_ = frames.inverse.back() * frames.inverse.back().transpose();
        end_w_ = frames.adjoint.front() * frames.adjoint.front().transpose();
        adjoint_ = std::move(frames.adjoint);
        inverse_ = std::move(frames.inverse);
    }

    Potential at(const Solution& solution) const override {
        const Unknowns& m = solution.m;
        const double log_c = (solution.omega.log_scale - log_typical_) / static_cast<double>(layers_);
        const double q = std::exp(-log_c);
        const double share = 1 / (covariance_.nu * static_cast<double>(n_));
        Potential result;
        result.mass_error = result.defect = 0;
        Eigen::VectorXcd cv(index(layers_)), cw = cv;
        double above = 0;
        for (std::size_t l = 0; l < layers_; ++l) {
            const Complex a = m(index(2 * l)), b = m(index(2 * l + 1)), u = a * b;
            const double unit = q / covariance_.unit[l];
            Complex f = covariance_.strength[l] * unit * unit, derivative = -share * unit * unit * u;
            double k = (f * u).imag();
            if (!covariance_.laws.empty()) {
                const SquaredLaw law = covariance_.laws[l].scaled(unit * unit);
                const Complex t = law.strength_times(m(index(2 * layers_ + l)), u);
                f = t / u;
                if (sigma2_[l] > 0) derivative = -share * t / sigma2_[l];
                k = law_argument(law, a, b, t);
            } else if (sigma2_[l] > 0) {
                derivative *= covariance_.strength[l] / sigma2_[l];  // σ_w² is not σ²
            }
            cv(index(l)) = f * a;
            cw(index(l)) = f * b;
            above += share * k;
            result.sigma2.push_back(derivative);
            result.mixers.push_back(Matrix::Zero(n_, n_));
        }
        double forward = 0, backward = 0, error = 0;
        Eigen::VectorXcd b = Eigen::VectorXcd::Zero(index(layers_));
        for (const Draw& draw : draws_) {
            forward += draw.weight * sweep_up(draw, q, solution.omega.direction, cv, cw, result, b, error);
            backward += draw.weight * sweep_down(draw, q, solution.omega.direction, cv, cw, error);
        }
        const double per_stream = 1 / static_cast<double>(n_);
        // Far above the support every link between layers has the determinant of [[0, 1], [1, 0]].
        const double links = pi * static_cast<double>(layers_ - 1);
        result.mass_above = (above + per_stream * 0.5 * (forward + backward) - links) / pi;
        result.mass_error = per_stream * std::abs(forward - backward) / pi + error;
        for (std::size_t l = 0; l < layers_; ++l) {
            const Complex given = m(index(2 * l + 1));
            result.defect = std::max(result.defect, std::abs(b(index(l)) / given - 1.0));
            result.mixers[l] *= -2 * per_stream * q / covariance_.unit[l];
        }
        return result;
    }

private:
    struct Draw {
        double weight = 1;
        std::vector<Real> v, w;
    };

    static Matrix pair(const Matrix& first, const Matrix& second) {
        const Index n = first.rows();
        Matrix h = Matrix::Zero(2 * n, 2 * n);
        h.topLeftCorner(n, n) = -first;
        h.bottomRightCorner(n, n) = -second;
        h.topRightCorner(n, n).setIdentity();
        h.bottomLeftCorner(n, n).setIdentity();
        return h;
    }

    /// From w_0 to v_{L−1}: Im ln det; then back for M(w_l, v_l) and ν tr P^v M(v_l), added to the sums.
    double sweep_up(const Draw& draw, double q, Complex omega, const Eigen::VectorXcd& cv,
                    const Eigen::VectorXcd& cw, Potential& sum, Eigen::VectorXcd& b, double& error) const {
        const std::size_t last = layers_ - 1;
        const Matrix one = Matrix::Identity(n_, n_);
        std::vector<Matrix> r(layers_), e(layers_);
        Matrix end = omega * end_w_ - cw(0) * draw.w[0];
        double argument = argument_of_determinant(end, error);
        r[0] = end.partialPivLu().inverse();
        for (std::size_t l = 0; l < layers_; ++l) {
            const Real mixer = q * mixers_[l];
            const Matrix x = mixer * r[l] * mixer.transpose() + cv(index(l)) * draw.v[l];
            if (l == last) {
                end = omega * end_v_ - x;
                argument += argument_of_determinant(end, error);
                break;
            }
            const Matrix noise = cw(index(l + 1)) * draw.w[l + 1];
            argument += argument_of_determinant(pair(x, noise), error);
            e[l] = (one - noise * x).partialPivLu().inverse();
            r[l + 1] = x * e[l];
        }
        Matrix mv = end.partialPivLu().inverse();
        for (std::size_t l = last;; --l) {
            b(index(l)) += draw.weight * covariance_.nu * (draw.v[l] * mv).trace();
            const Matrix cross = r[l] * (q * mixers_[l]).transpose() * mv;  // M(w_l, v_l)
            if (adjoint_.empty())
                sum.mixers[l] += draw.weight * cross.transpose();
            else
                sum.mixers[l] +=
                    draw.weight * (adjoint_[l].transpose() * cross * inverse_[l + 1]).transpose();
            if (l == 0) break;
            const Matrix d = e[l - 1] * (q * mixers_[l]).transpose();
            mv = (e[l - 1] * (cw(index(l)) * draw.w[l]) + d * mv * d.transpose()).eval();
        }
        return argument;
    }

    /// From v_{L−1} to w_0: Im ln det.
    double sweep_down(const Draw& draw, double q, Complex omega, const Eigen::VectorXcd& cv,
                      const Eigen::VectorXcd& cw, double& error) const {
        const std::size_t last = layers_ - 1;
        const Matrix one = Matrix::Identity(n_, n_);
        const Matrix end = omega * end_v_ - cv(index(last)) * draw.v[last];
        double argument = argument_of_determinant(end, error);
        Matrix s = end.partialPivLu().inverse();
        for (std::size_t l = last;; --l) {
            const Real mixer = q * mixers_[l];
            const Matrix z = mixer.transpose() * s * mixer + cw(index(l)) * draw.w[l];
            if (l == 0) return argument + argument_of_determinant(omega * end_w_ - z, error);
            const Matrix noise = cv(index(l - 1)) * draw.v[l - 1];
            argument += argument_of_determinant(pair(z, noise), error);
            s = z * (one - noise * z).partialPivLu().inverse();
        }
    }

    Index n_;
    std::size_t layers_;
    Covariance covariance_;
    std::vector<double> sigma2_;
    double log_typical_ = 0;
    std::vector<Real> mixers_;  ///< in units; in the frames if these are graded
    std::vector<Draw> draws_;
    Real end_v_, end_w_;
    std::vector<Real> adjoint_, inverse_;  ///< of the frames; empty: none
};

class PotentialReader::TiedForm final : public Form {
public:
    explicit TiedForm(const Network& network)
        : n_(network.streams),
          depth_(network.depth()),
          mixers_(network.mixers),
          branch_(std::get<TiedBranch>(network.branch)),
          pairs_(tied_pairs(network)) {}

    Potential at(const Solution& solution) const override {
        const Unknowns& m = solution.m;
        const double log_c = solution.omega.log_scale / static_cast<double>(depth_);
        const double c = std::exp(log_c), q = std::exp(-log_c);
        // W and V in the gauge of ω over c, row by row of their upper triangles.
        Matrix w = Matrix::Zero(depth_, depth_), v = w;
        Index k = 0;
        for (Matrix* x : {&w, &v})
            for (const auto& [i, j] : pairs_) (*x)(i, j) = (*x)(j, i) = m(k++);
        const double share = branch_.hyper_connection() ? 1 / static_cast<double>(n_) : 1;
        const Eigen::VectorXd sigma =
            Eigen::Map<const Eigen::VectorXd>(branch_.sigma2.data(), depth_).cwiseSqrt();
        const Complex product = sigma.dot(w.cwiseProduct(v) * sigma);

        // Sites w_0, v_0, w_1, …, scaled by d = √|m| on both sides.
        Eigen::VectorXd d(2 * depth_);
        for (Index l = 0; l < depth_; ++l) {
            d(2 * l) = std::sqrt(c * std::abs(w(l, l)));
            d(2 * l + 1) = std::sqrt(c * std::abs(v(l, l)));
        }
        const Real one = Real::Identity(n_, n_);
        const auto pattern = [&](const std::vector<Eigen::VectorXd>& vectors, Index i, Index j) -> Real {
            return vectors.empty() ? one
                                   : Real(vectors[static_cast<std::size_t>(i)] *
                                          vectors[static_cast<std::size_t>(j)].transpose());
        };
        Matrix h = Matrix::Zero(2 * depth_ * n_, 2 * depth_ * n_);
        const auto block = [&](Index i, Index j) { return h.block(i * n_, j * n_, n_, n_); };
        for (Index i = 0; i < depth_; ++i) {
            for (Index j = 0; j < depth_; ++j) {
                const double noise = sigma(i) * sigma(j) * q;  // σσq² times c times the unknown
                block(2 * i, 2 * j) -= noise * d(2 * i) * d(2 * j) * v(i, j) * pattern(branch_.pre, i, j);
                block(2 * i + 1, 2 * j + 1) -=
                    noise * d(2 * i + 1) * d(2 * j + 1) * w(i, j) * pattern(branch_.post, i, j);
            }
            const Real a = q * d(2 * i) * d(2 * i + 1) * mixers_[static_cast<std::size_t>(i)];
            block(2 * i + 1, 2 * i) -= a;
            block(2 * i, 2 * i + 1) -= a.transpose();
            if (i + 1 == depth_) break;
            block(2 * i + 2, 2 * i + 1) += d(2 * i + 1) * d(2 * i + 2) * one;
            block(2 * i + 1, 2 * i + 2) += d(2 * i + 1) * d(2 * i + 2) * one;
        }
        const Index end = 2 * depth_ - 1;
        block(0, 0) += solution.omega.direction * (d(0) * d(0)) * one;
        block(end, end) += solution.omega.direction * (d(end) * d(end)) * one;

        Potential result;
        result.mass_error = result.defect = 0;
        const double per_stream = 1 / static_cast<double>(n_);
        const double argument = per_stream * argument_of_determinant(h, result.mass_error);
        const linalg::SingleThreadedBlas one_thread;
        Matrix inverse = h;
        if (!linalg::invert(inverse)) return {};
        const auto part = [&](Index i, Index j) { return inverse.block(i * n_, j * n_, n_, n_); };
        result.mass_above = (share * product.imag() + argument) / pi - static_cast<double>(depth_ - 1);
        for (Index l = 0; l < depth_; ++l) {
            result.sigma2.push_back(-share * by_size(sigma, w, v, l));
            result.mixers.push_back(-2 * per_stream * q * d(2 * l) * d(2 * l + 1) * part(2 * l + 1, 2 * l));
            const Complex own =
                per_stream / share * (pattern(branch_.post, l, l) * part(2 * l + 1, 2 * l + 1)).trace();
            const Complex given = v(l, l) * c / (d(2 * l + 1) * d(2 * l + 1));
            result.defect = std::max(result.defect, std::abs(own / given - 1.0));
        }
        return result;
    }

private:
    /// ∂/∂σ_l² of Σ_ij σ_iσ_j W_ij V_ij: Σ_j (σ_j/σ_l) W_lj V_lj.
    static Complex by_size(const Eigen::VectorXd& sigma, const Matrix& w, const Matrix& v, Index l) {
        Complex sum = 0;
        for (Index j = 0; j < sigma.size(); ++j) {
            const Complex product = w(l, j) * v(l, j);
            if (product == 0.0) continue;
            if (sigma(l) == 0 && sigma(j) > 0) return std::numeric_limits<double>::quiet_NaN();
            sum += sigma(j) == sigma(l) ? product : sigma(j) / sigma(l) * product;
        }
        return sum;
    }

    Index n_, depth_;
    std::vector<Mixer> mixers_;
    TiedBranch branch_;
    std::vector<std::pair<Index, Index>> pairs_;
};

class PotentialReader::AlignedForm final : public Form {
public:
    explicit AlignedForm(const Network& network) : chain_(network) {}

    Potential at(const Solution& solution) const override {
        const linalg::SingleThreadedBlas one_thread;
        AlignedChain chain = chain_;
        chain.set_gauge(solution.omega.log_scale);
        const Unknowns& m = solution.m;
        const std::size_t layers = chain.layers();
        Potential result;
        result.mass_error = result.defect = 0;
        Eigen::VectorXcd cv = Eigen::VectorXcd::Zero(index(layers)), cw = cv;
        double above = 0;
        for (std::size_t l = 0; l < layers; ++l) {
            if (chain.quiet(l)) continue;
            const Complex a = m(index(2 * l)), b = m(index(2 * l + 1));
            const Complex t = chain.law(l).at(m(index(2 * layers + l))).t;
            cv(index(l)) = t / b;
            cw(index(l)) = t / a;
            above += chain.free(l) / chain.size() * law_argument(chain.law(l), a, b, t);
        }
        const double added = chain.run(solution.omega.direction, cv, cw)
                                 ? chain.argument()
                                 : std::numeric_limits<double>::quiet_NaN();
        if (!std::isfinite(added)) return {};
        const double argument =
            chain.width() * argument_of_determinant(chain.base(), result.mass_error) + added;
        const double links = pi * static_cast<double>(layers - 1);
        result.mass_above = (above + argument / chain.size() - links) / pi;
        result.scaled_green = chain.green();
        result.triplets = chain.by_triplet();
        for (auto& layer : result.triplets)
            for (auto& derivative : layer) derivative /= chain.size();
        for (std::size_t l = 0; l < layers; ++l)
            if (!chain.quiet(l))
                result.defect = std::max(result.defect, std::abs(chain.written(l) / m(index(2 * l + 1)) - 1.0));
        return result;
    }

private:
    AlignedChain chain_;
};

PotentialReader::PotentialReader(const Network& network) {
    if (std::holds_alternative<AlignedBranch>(network.branch))
        form_ = std::make_unique<AlignedForm>(network);
    else if (std::holds_alternative<TiedBranch>(network.branch))
        form_ = std::make_unique<TiedForm>(network);
    else
        form_ = std::make_unique<ChainForm>(network);
}

PotentialReader::~PotentialReader() = default;
PotentialReader::PotentialReader(PotentialReader&&) noexcept = default;

Potential PotentialReader::at(const Solution& solution) const {
    return form_->at(solution);
}

std::unique_ptr<Equation> make_operator_valued(const Network& network) {
    if (std::holds_alternative<TiedBranch>(network.branch)) return make_tied(network);
    if (std::holds_alternative<AlignedBranch>(network.branch)) return make_aligned(network);
    return make_chain(network);
}

Solution countable(Tracker& tracker, const Solution& solution) {
    // Between bands an aligned P − Σ is real, and the arguments of its negative eigenvalues are known only from above.
    constexpr double height = 1e-8;
    if (solution.state != State::gap || !tracker.equation().counted_from_above()) return solution;
    return tracker.try_from(solution.omega.log_scale, height, solution.m);
}

MassBelow mass_below(const PotentialReader& reader, const Solution& solution) {
    MassBelow here;
    if (solution.m.size() == 0) return here;
    here.potential = reader.at(solution);
    here.mass = std::clamp(1 - here.potential.mass_above, 0.0, 1.0);
    here.certified = solution.ok() && here.potential.mass_error < largest_mass_error &&
                     here.potential.defect < largest_defect;
    return here;
}

std::vector<MassBelow> mass_below(const Network& network, const std::vector<double>& log_s) {
    std::vector<MassBelow> result(log_s.size());
    const auto variances = sigma2(network);
    bool zero = false;
    for (std::size_t l = 0; l < variances.size(); ++l)
        zero = zero || (variances[l] == 0 && network.mixers[l].isZero(0));
    if (zero || noiseless(network)) {
        const auto places = zero ? std::vector<Density::Atom>{} : atoms(network);
        for (std::size_t k = 0; k < log_s.size(); ++k) {
            result[k].mass = zero ? 1 : 0;
            for (const Density::Atom& atom : places)
                if (atom.log_place < log_s[k]) result[k].mass += atom.mass;
            result[k].certified = true;
        }
        return result;
    }
    std::vector<double> inside;
    const double log_square = log_mean_square(network);
    for (std::size_t k = 0; k < log_s.size(); ++k) {
        if (log_square - 2 * log_s[k] < log_negligible) {
            result[k].mass = 1;
            result[k].certified = true;
        } else {
            inside.push_back(log_s[k]);
        }
    }
    if (inside.empty()) return result;
    Tracker tracker(make_operator_valued(network), support_bounds(network).log_far, inside);
    const PotentialReader reader(network);
    for (std::size_t k = 0; k < log_s.size(); ++k) {
        if (result[k].certified) continue;
        result[k] = mass_below(reader, countable(tracker, tracker.solve(log_s[k], 0)));
    }
    return result;
}

}  // namespace spectra::dyson
