#include "spectrum/golub_kahan.hpp"

#include <Eigen/Core>

#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <utility>

namespace spectra {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double distance_to_neighbours(const std::vector<double>& node, std::size_t i) {
    double out = infinity;
    if (i > 0) out = std::min(out, node[i] - node[i - 1]);
    if (i + 1 < node.size()) out = std::min(out, node[i + 1] - node[i]);
    return out;
}

/// The bidiagonalisation from one probe.
class Chain {
public:
    Chain(Eigen::VectorXd probe, int most_steps) {
        right_.resize(probe.size(), most_steps + 1);
        left_.resize(probe.size(), most_steps);
        const double norm = probe.norm();
        if (!(norm > 0) || !std::isfinite(norm))
            throw std::invalid_argument("golub_kahan: a probe must be finite and not zero");
        right_.col(0) = probe / norm;
    }

    bool ended() const { return ended_; }
    auto last_right() const { return right_.col(columns()); }
    auto last_left() const { return left_.col(columns() - 1); }

    /// Takes J v_k: a new column of U and α_k.
    void add_left(Eigen::VectorXd image) {
        const auto k = columns();
        if (k > 0) orthogonalise(image, left_.leftCols(k));
        double norm = image.norm();
        if (!std::isfinite(norm)) throw std::runtime_error("golub_kahan: the operator is not finite");
        scale_ = std::max(scale_, norm);
        if (norm <= negligible * scale_) {  // J v_k is in what U spans: 0 is a singular value
            norm = 0;
            image.setZero();
            ended_ = true;
        }
        left_.col(k) = norm > 0 ? Eigen::VectorXd(image / norm) : image;
        alpha_.push_back(norm);
        beta_.push_back(0);
    }

    /// Takes Jᵀ u_k: β_k and a new column of V.
    void add_right(Eigen::VectorXd image) {
        const auto k = columns();
        orthogonalise(image, right_.leftCols(k));
        const double norm = image.norm();
        if (!std::isfinite(norm)) throw std::runtime_error("golub_kahan: the operator is not finite");
        scale_ = std::max(scale_, norm);
        if (norm <= negligible * scale_ || k == right_.rows()) {
            ended_ = true;
            return;
        }
        beta_.back() = norm;
        right_.col(k) = image / norm;
    }

    /// Q of B = P diag(s) Qᵀ gives the weights, P the residuals: first and last components are enough.
    GaussQuadrature quadrature() const {
        const auto count = alpha_.size();
        const int k = static_cast<int>(count);
        auto diagonal = alpha_;
        auto above = beta_;  // the last one is no part of B
        std::vector<double> first(count, 0.0);
        std::vector<double> last(count, 0.0);
        std::vector<double> work(4 * count);
        first.front() = 1;
        last.back() = 1;
        double unused = 0;
        if (LAPACKE_dbdsqr_work(LAPACK_COL_MAJOR, 'U', k, 1, 1, 0, diagonal.data(), above.data(),
                                first.data(), k, last.data(), 1, &unused, 1, work.data()) != 0)
            throw std::runtime_error("golub_kahan: the bidiagonal matrix did not converge");
        GaussQuadrature out;
        for (std::size_t i = count; i-- > 0;) {
            out.node.push_back(diagonal[i]);
            out.weight.push_back(first[i] * first[i]);
            out.residual.push_back(std::abs(beta_.back() * last[i]));
        }
        out.mean_square = alpha_.front() * alpha_.front();
        return out;
    }

private:
    static constexpr double negligible = 16 * std::numeric_limits<double>::epsilon();

    Eigen::Index columns() const { return static_cast<Eigen::Index>(alpha_.size()); }

    /// Twice is enough (Kahan; Parlett, The symmetric eigenvalue problem, 6.9).
    static void orthogonalise(Eigen::VectorXd& vector, Eigen::Ref<const Eigen::MatrixXd> basis) {
        for (int pass = 0; pass < 2; ++pass) {
            const Eigen::VectorXd along = basis.transpose() * vector;
            vector.noalias() -= basis * along;
        }
    }

    Eigen::MatrixXd left_, right_;
    std::vector<double> alpha_, beta_;
    double scale_ = 0;
    bool ended_ = false;
};

/// One step for all chains.
class Advance {
public:
    Advance(LinearOperator& matrix, std::vector<Chain>& chains, int threads)
        : matrix_(matrix), chains_(chains), threads_(threads) {
        in_.setZero(matrix.size(), static_cast<Eigen::Index>(chains.size()));
        out_ = in_;
    }

    void left() {
        gather([](const Chain& chain) { return chain.last_right(); });
        matrix_.apply(in_.data(), out_.data(), static_cast<int>(in_.cols()));
        hand_out([](Chain& chain, Eigen::VectorXd image) { chain.add_left(std::move(image)); });
    }
    void right() {
        gather([](const Chain& chain) { return chain.last_left(); });
        matrix_.apply_transpose(in_.data(), out_.data(), static_cast<int>(in_.cols()));
        hand_out([](Chain& chain, Eigen::VectorXd image) { chain.add_right(std::move(image)); });
    }

private:
    template <class F>
    void gather(F column) {
        for (std::size_t c = 0; c < chains_.size(); ++c) {
            if (chains_[c].ended()) {
                in_.col(static_cast<Eigen::Index>(c)).setZero();
            } else {
                in_.col(static_cast<Eigen::Index>(c)) = column(chains_[c]);
            }
        }
    }

    template <class F>
    void hand_out(F add) {
        std::exception_ptr failure;
#pragma omp parallel for num_threads(threads_) schedule(dynamic)
        for (std::size_t c = 0; c < chains_.size(); ++c) {
            if (chains_[c].ended()) continue;
            try {
                add(chains_[c], out_.col(static_cast<Eigen::Index>(c)));
            } catch (...) {
#pragma omp critical(golub_kahan)
                failure = std::current_exception();
            }
        }
        if (failure) std::rethrow_exception(failure);
    }

    LinearOperator& matrix_;
    std::vector<Chain>& chains_;
    int threads_;
    Eigen::MatrixXd in_, out_;
};

bool extremes_known(const Chain& chain, double tolerance) {
    if (chain.ended()) return true;
    const auto quadrature = chain.quadrature();
    const double allowed = tolerance * quadrature.node.back();
    return quadrature.error(0) <= allowed && quadrature.error(quadrature.node.size() - 1) <= allowed;
}

/// Mass spread evenly between two places, or at one.
struct Piece {
    double lower, upper, mass;
};

std::vector<Piece> pieces_of(const GaussQuadrature& probe) {
    std::vector<Piece> out;
    std::vector<Piece> spread;  // nodes that stand for what lies around them
    for (std::size_t i = 0; i < probe.node.size(); ++i)
        (probe.converged(i) ? out : spread).push_back({probe.node[i], probe.node[i], probe.weight[i]});
    // Weights of a continuous law vary slowly; the rest is an atom's.
    std::vector<double> mass;
    for (std::size_t i = 0; i < spread.size(); ++i) {
        double around = i > 0 ? spread[i - 1].mass : 0;
        if (i + 1 < spread.size()) around = std::max(around, spread[i + 1].mass);
        mass.push_back(spread[i].mass > 4 * around ? around : spread[i].mass);
    }
    // Nodes of one band lie alike; across a gap nothing is spread.
    const auto distance = [&](std::size_t i) {  // from node i to the next; 0 where there is none
        return i + 1 < spread.size() ? spread[i + 1].upper - spread[i].upper : 0;
    };
    const double narrow = 1e-9 * probe.node.back();
    for (std::size_t i = 0; i < spread.size(); ++i) {
        const double s = spread[i].upper;
        const double apart = distance(i);
        const double around = std::max(i > 0 ? distance(i - 1) : 0, distance(i + 1));
        const bool joined = apart > narrow && !(around > 0 && apart > 3 * around);
        const double half = 0.5 * mass[i];
        double kept = spread[i].mass - mass[i];
        if (i == 0) kept += half;
        if (joined) {
            out.push_back({s, s + apart, half + 0.5 * mass[i + 1]});
        } else {
            kept += half;
            if (i + 1 < spread.size())
                out.push_back({spread[i + 1].upper, spread[i + 1].upper, 0.5 * mass[i + 1]});
        }
        out.push_back({s, s, kept});
    }
    return out;
}

/// Where F of all pieces together bends: from there on it rises by `slope` more, after a step.
struct Bend {
    double place, step, slope;
};

std::vector<Bend> bends_of(const std::vector<GaussQuadrature>& probes) {
    std::vector<Bend> out;
    for (const auto& probe : probes) {
        for (const auto& [lower, upper, mass] : pieces_of(probe)) {
            if (lower == upper) {
                out.push_back({lower, mass, 0});
            } else {
                const double slope = mass / (upper - lower);
                out.push_back({lower, 0, slope});
                out.push_back({upper, 0, -slope});
            }
        }
    }
    std::sort(out.begin(), out.end(), [](const Bend& a, const Bend& b) { return a.place < b.place; });
    return out;
}

}  // namespace

double GaussQuadrature::error(std::size_t i) const {
    const double rounding = 8 * std::numeric_limits<double>::epsilon() * node.back();
    const double distance = distance_to_neighbours(node, i) - residual[i];
    const double bound = distance > residual[i] ? residual[i] * residual[i] / distance : residual[i];
    return std::max(bound, rounding);
}

bool GaussQuadrature::converged(std::size_t i) const {
    return residual[i] <= 0.01 * distance_to_neighbours(node, i);
}

double GaussQuadrature::resolved_from() const {
    const auto known = [this](std::size_t i) {
        const double root_e = std::exp(0.5);
        const bool near_above = i + 1 < node.size() && node[i + 1] <= root_e * node[i];
        const bool near_below = i > 0 && node[i] <= root_e * node[i - 1];
        return near_above || near_below || residual[i] <= 0.1 * node[i];
    };
    for (std::size_t i = node.size(); i-- > 0;) {
        if (!known(i)) return node[std::min(i + 1, node.size() - 1)];
    }
    return 0;
}

std::vector<GaussQuadrature> golub_kahan(LinearOperator& matrix, const std::vector<double>& probes,
                                         const GolubKahanOptions& options) {
    const int size = matrix.size();
    const auto rows = static_cast<std::size_t>(size);
    if (options.steps < 1 || size < 1 || probes.empty() || probes.size() % rows != 0)
        throw std::invalid_argument("golub_kahan: at least one step and one probe of N numbers are needed");
    const int steps = std::min(options.steps, size);
    const int most = options.extremes > 0 ? std::clamp(options.most_steps, steps, size) : steps;
    std::vector<Chain> chains;
    for (std::size_t begin = 0; begin < probes.size(); begin += rows)
        chains.emplace_back(Eigen::Map<const Eigen::VectorXd>(probes.data() + begin, size), most);

    Advance advance(matrix, chains, std::max(options.threads, 1));
    for (int k = 1; k <= most; ++k) {
        advance.left();
        advance.right();
        if (std::all_of(chains.begin(), chains.end(), [](const Chain& chain) { return chain.ended(); }))
            break;
        if (k >= steps && (k - steps) % 10 == 0 &&
            std::all_of(chains.begin(), chains.end(),
                        [&](const Chain& chain) { return extremes_known(chain, options.extremes); }))
            break;
    }
    std::vector<GaussQuadrature> out;
    for (const auto& chain : chains) out.push_back(chain.quadrature());
    return out;
}

std::vector<double> log_quantiles(const std::vector<GaussQuadrature>& probes, int count) {
    const auto bends = bends_of(probes);
    const double total = static_cast<double>(probes.size());
    std::vector<double> out;
    const auto wanted = [&] { return total * (static_cast<double>(out.size()) + 0.5) / count; };
    const auto size = static_cast<std::size_t>(count);
    double mass = 0;
    double slope = 0;
    double place = 0;
    for (const auto& bend : bends) {
        const double reached = mass + slope * (bend.place - place);
        while (out.size() < size && wanted() <= reached)
            out.push_back(std::log(std::min(place + (wanted() - mass) / slope, bend.place)));
        mass = reached + bend.step;
        while (out.size() < size && wanted() <= mass) out.push_back(std::log(bend.place));
        slope = std::max(slope + bend.slope, 0.0);
        place = bend.place;
    }
    out.resize(size, std::log(place));
    return out;
}

double mass_below(const GaussQuadrature& probe, double s) {
    double mass = 0;
    for (const auto& piece : pieces_of(probe)) {
        if (piece.upper < s || (piece.upper <= s && piece.lower < piece.upper)) {
            mass += piece.mass;
        } else if (piece.lower < s) {
            mass += piece.mass * (s - piece.lower) / (piece.upper - piece.lower);
        }
    }
    return mass;
}

Extreme largest(const std::vector<GaussQuadrature>& probes) {
    Extreme out;
    for (const auto& probe : probes) {
        const auto last = probe.node.size() - 1;
        if (!(probe.node[last] <= out.value)) out = {probe.node[last], probe.error(last)};
    }
    return out;
}

Extreme smallest(const std::vector<GaussQuadrature>& probes) {
    Extreme out;
    for (const auto& probe : probes) {
        if (!(probe.node[0] >= out.value)) out = {probe.node[0], probe.error(0)};
    }
    return out;
}

}  // namespace spectra
