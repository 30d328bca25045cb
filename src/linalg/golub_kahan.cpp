#include "linalg/golub_kahan.hpp"

#include "base/special_values.hpp"

#include <Eigen/Core>

#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <utility>

namespace spectra::linalg {
namespace {

double distance_to_neighbours(const std::vector<double>& node, std::size_t i) {
    double out = infinity;
    if (i > 0) out = std::min(out, node[i] - node[i - 1]);
    if (i + 1 < node.size()) out = std::min(out, node[i + 1] - node[i]);
    return out;
}

/// The bidiagonal matrix of one probe.
class Chain {
public:
    explicit Chain(int dimension) : dimension_(dimension) {}

    bool ended() const { return ended_; }
    int length() const { return static_cast<int>(alpha_.size()); }

    /// Takes ‖w‖ as α_k; returns the factor that makes w a unit vector.
    double add_left(double norm) {
        if (ended_) return 0;
        if (!std::isfinite(norm)) throw std::runtime_error("golub_kahan: the operator is not finite");
        scale_ = std::max(scale_, norm);
        if (norm <= negligible * scale_) {  // J v_k lies in the span of U: 0 is a singular value
            norm = 0;
            ended_ = true;
        }
        alpha_.push_back(norm);
        beta_.push_back(0);
        return norm > 0 ? 1 / norm : 0;
    }

    /// Takes ‖w‖ as β_k.
    double add_right(double norm) {
        if (ended_) return 0;
        if (!std::isfinite(norm)) throw std::runtime_error("golub_kahan: the operator is not finite");
        scale_ = std::max(scale_, norm);
        if (norm <= negligible * scale_ || length() == dimension_) {
            ended_ = true;
            return 0;
        }
        beta_.back() = norm;
        return 1 / norm;
    }

    GaussQuadrature quadrature() const { return quadrature(alpha_.size()); }

    /// After the first `count` steps. Q of B = P diag(s) Qᵀ gives the weights, P the residuals: first and
    /// last components are enough.
    GaussQuadrature quadrature(std::size_t count) const {
        const int k = static_cast<int>(count);
        const auto end = static_cast<std::ptrdiff_t>(count);
        std::vector<double> diagonal(alpha_.begin(), alpha_.begin() + end);
        std::vector<double> above(beta_.begin(), beta_.begin() + end);  // the last one does not belong to B
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
            out.residual.push_back(std::abs(beta_[count - 1] * last[i]));
        }
        out.mean_square = alpha_.front() * alpha_.front();
        return out;
    }

private:
    static constexpr double negligible = 16 * std::numeric_limits<double>::epsilon();

    int dimension_;
    std::vector<double> alpha_, beta_;
    double scale_ = 0;
    bool ended_ = false;
};

/// Vectors in this process's memory.
class HostBidiagonalisation final : public Bidiagonalisation {
public:
    HostBidiagonalisation(LinearOperator& matrix, const std::vector<double>& probes, int steps, int threads)
        : matrix_(matrix), size_(matrix.size()), threads_(threads) {
        const auto count = static_cast<Eigen::Index>(probes.size()) / size_;
        const Eigen::Map<const Eigen::MatrixXd> given(probes.data(), size_, count);
        left_.resize(static_cast<std::size_t>(count));
        right_.resize(left_.size());
        in_.setZero(size_, count);
        image_.setZero(size_, count);
        for (std::size_t c = 0; c < left_.size(); ++c) {
            const double norm = given.col(column(c)).norm();
            if (!(norm > 0) || !std::isfinite(norm))
                throw std::invalid_argument("golub_kahan: a probe must be finite and not zero");
            left_[c].resize(size_, steps);
            right_[c].resize(size_, steps + 1);
            right_[c].col(0) = given.col(column(c)) / norm;
        }
    }

    int chains() const override { return static_cast<int>(left_.size()); }
    int dimension() const override { return static_cast<int>(size_); }

    std::vector<double> left(int k) override {
        gather(right_, k);
        matrix_.apply(in_.data(), image_.data(), chains());
        return orthogonalise(left_, k);
    }
    void set_left(int k, const std::vector<double>& factor) override { put(left_, k, factor); }
    std::vector<double> right(int k) override {
        gather(left_, k);
        matrix_.apply_transpose(in_.data(), image_.data(), chains());
        return orthogonalise(right_, k + 1);
    }
    void set_right(int k, const std::vector<double>& factor) override { put(right_, k + 1, factor); }

    void keep_first() override {
        left_.resize(1);
        right_.resize(1);
        in_.conservativeResize(Eigen::NoChange, 1);
        image_.conservativeResize(Eigen::NoChange, 1);
    }

private:
    using Bases = std::vector<Eigen::MatrixXd>;
    /// Rows that are summed together: the same numbers in the same order for any number of threads. This many
    /// rows of a hundred columns fit in a core's cache.
    static constexpr Eigen::Index piece = 1024;
    /// Columns by which bases grow: copying costs little compared with that many steps.
    static constexpr Eigen::Index growth = 64;

    static Eigen::Index column(std::size_t c) { return static_cast<Eigen::Index>(c); }
    Eigen::Index pieces() const { return (size_ + piece - 1) / piece; }

    void gather(const Bases& from, int k) {
        for (std::size_t c = 0; c < from.size(); ++c) in_.col(column(c)) = from[c].col(k);
    }

    void put(Bases& bases, int k, const std::vector<double>& factor) {
        for (std::size_t c = 0; c < bases.size(); ++c) {
            if (bases[c].cols() <= k) bases[c].conservativeResize(Eigen::NoChange, k + growth);
            if (factor[c] > 0)
                bases[c].col(k) = image_.col(column(c)) * factor[c];
            else
                bases[c].col(k).setZero();
        }
    }

    /// Calls f(chain, index of the piece, its first row, its rows) for every piece of every chain. It reads
    /// `columns` columns: below a million numbers threads do not pay off.
    template <class F>
    void for_pieces(Eigen::Index columns, F f) const {
        const auto each = pieces(), all = each * static_cast<Eigen::Index>(chains());
        const bool much = threads_ > 1 && size_ * columns * chains() > 1'000'000;
#pragma omp parallel for num_threads(threads_) schedule(static) if (much)
        for (Eigen::Index i = 0; i < all; ++i) {
            const auto begin = i % each * piece;
            f(static_cast<std::size_t>(i / each), i % each, begin, std::min(piece, size_ - begin));
        }
    }

    std::vector<double> norms() const {
        Eigen::MatrixXd squares(pieces(), chains());
        for_pieces(1, [&](std::size_t c, Eigen::Index number, Eigen::Index begin, Eigen::Index rows) {
            squares(number, column(c)) = image_.col(column(c)).segment(begin, rows).squaredNorm();
        });
        std::vector<double> out;
        for (std::size_t c = 0; c < left_.size(); ++c) out.push_back(std::sqrt(squares.col(column(c)).sum()));
        return out;
    }

    /// Removes from the images their components along the first k columns of their bases; returns their
    /// norms. The last of those columns goes first: in exact arithmetic it is the only one needed.
    std::vector<double> orthogonalise(const Bases& bases, int k) {
        if (k > 0) subtract(bases, k - 1, 1);
        auto norm = norms();
        for (int pass = 0; k > 0 && pass < 2; ++pass) {
            subtract(bases, 0, k);
            const auto before = std::exchange(norm, norms());
            if (!orthogonalise_again(before, norm)) break;
        }
        return norm;
    }

    void subtract(const Bases& bases, Eigen::Index first, Eigen::Index count) {
        std::vector<Eigen::MatrixXd> along(bases.size(), Eigen::MatrixXd(count, pieces()));
        for_pieces(count, [&](std::size_t c, Eigen::Index number, Eigen::Index begin, Eigen::Index rows) {
            along[c].col(number).noalias() = bases[c].block(begin, first, rows, count).transpose() *
                                             image_.col(column(c)).segment(begin, rows);
        });
        for (auto& one : along) one.col(0) = one.rowwise().sum().eval();
        for_pieces(count, [&](std::size_t c, Eigen::Index, Eigen::Index begin, Eigen::Index rows) {
            image_.col(column(c)).segment(begin, rows).noalias() -=
                bases[c].block(begin, first, rows, count) * along[c].col(0);
        });
    }

    LinearOperator& matrix_;
    Eigen::Index size_;
    int threads_;
    Bases left_, right_;
    Eigen::MatrixXd in_, image_;
};

/// Step k of all chains.
void advance(Bidiagonalisation& vectors, std::vector<Chain>& chains, int k) {
    const auto count = static_cast<std::size_t>(vectors.chains());
    std::vector<double> factor(count);
    const auto left = vectors.left(k);
    for (std::size_t c = 0; c < count; ++c) factor[c] = chains[c].add_left(left[c]);
    vectors.set_left(k, factor);
    const auto right = vectors.right(k);
    for (std::size_t c = 0; c < count; ++c) factor[c] = chains[c].add_right(right[c]);
    vectors.set_right(k, factor);
}

std::vector<GaussQuadrature> quadratures(const std::vector<Chain>& chains) {
    std::vector<GaussQuadrature> out;
    for (const auto& chain : chains) out.push_back(chain.quadrature());
    return out;
}

/// Whether an error that fell from `earlier` to `now` over the last half of k steps will reach `allowed`
/// after `most` steps at the same rate. Errors of extremes fall geometrically, faster for wider gaps.
bool in_reach(double earlier, double now, double allowed, int k, int most) {
    const int half = k / 2;
    const double rate = std::log(earlier / now) / (k - half);
    return rate > 0 && k + std::log(now / allowed) / rate <= most;
}

/// Whether more steps cannot improve the extremes: they are known, or (`judged`) out of reach.
bool extremes_settled(const Chain& chain, double tolerance, int most, bool judged) {
    if (chain.ended()) return true;
    const int k = chain.length();
    const auto now = chain.quadrature();
    const auto earlier = chain.quadrature(static_cast<std::size_t>(std::max(k / 2, 1)));
    const double allowed = tolerance * now.node.back();
    const auto settled = [&](double before, double error) {
        if (error <= allowed) return true;
        return judged && k > 1 && !in_reach(before, error, allowed, k, most);
    };
    return settled(earlier.error(0), now.error(0)) &&
           settled(earlier.error(earlier.node.size() - 1), now.error(now.node.size() - 1));
}

/// Mass spread evenly between two places, or at one.
struct Piece {
    double lower, upper, mass;
};

std::vector<Piece> pieces_of(const GaussQuadrature& probe) {
    std::vector<Piece> out;
    std::vector<Piece> spread;  // nodes that represent the mass around them
    for (std::size_t i = 0; i < probe.node.size(); ++i)
        (probe.converged(i) ? out : spread).push_back({probe.node[i], probe.node[i], probe.weight[i]});
    // Weights of a continuous law vary slowly; the rest is an atom's.
    std::vector<double> mass;
    for (std::size_t i = 0; i < spread.size(); ++i) {
        double around = i > 0 ? spread[i - 1].mass : 0;
        if (i + 1 < spread.size()) around = std::max(around, spread[i + 1].mass);
        mass.push_back(spread[i].mass > 4 * around ? around : spread[i].mass);
    }
    // Nodes of one band have similar distances; nothing is spread across a gap.
    const auto distance = [&](std::size_t i) {  // from node i to the next; 0 if there is none
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

bool orthogonalise_again(const std::vector<double>& before, const std::vector<double>& after) {
    for (std::size_t c = 0; c < after.size(); ++c)
        if (after[c] < 0.7 * before[c]) return true;
    return false;
}

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

std::vector<GaussQuadrature> golub_kahan(Bidiagonalisation& vectors, const GolubKahanOptions& options) {
    const int dimension = vectors.dimension();
    const int steps = std::min(options.steps, dimension);
    std::vector<Chain> chains(static_cast<std::size_t>(vectors.chains()), Chain(dimension));
    const auto advance_to = [&](int k) {
        const int count = vectors.chains();
        advance(vectors, chains, k - 1);
        if (options.progress) options.progress(count);
    };
    int k = 0;
    while (k < steps) {
        advance_to(++k);
        if (std::all_of(chains.begin(), chains.end(), [](const Chain& chain) { return chain.ended(); }))
            break;
        if (options.enough && k % 10 == 0 && options.enough(quadratures(chains))) break;
    }
    if (options.extremes > 0) {
        const int most = std::clamp(options.most_steps, k, dimension);
        if (k < most && !chains.front().ended()) vectors.keep_first();
        for (const int begin = k; k < most && !chains.front().ended(); advance_to(++k)) {
            // Rates of the first steps mean little, and at `dimension` everything is known.
            const bool judged = k >= std::min(options.steps, 100) && most < dimension;
            if ((k - begin) % 10 == 0 && extremes_settled(chains.front(), options.extremes, most, judged))
                break;
        }
    }
    return quadratures(chains);
}

std::vector<GaussQuadrature> golub_kahan(LinearOperator& matrix, const std::vector<double>& probes,
                                         const GolubKahanOptions& options) {
    const int size = matrix.size();
    if (options.steps < 1 || size < 1 || probes.empty() ||
        probes.size() % static_cast<std::size_t>(size) != 0)
        throw std::invalid_argument("golub_kahan: at least one step and one probe of N numbers are needed");
    HostBidiagonalisation vectors(matrix, probes, std::min(options.steps, size),
                                  std::max(options.threads, 1));
    return golub_kahan(vectors, options);
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

double hidden_below(const GaussQuadrature& probe, double s) {
    if (s > probe.node.front() || probe.converged(0)) return 0;
    const auto square = [](double v) { return v * v; };
    const double lowest = square(probe.node.front());
    double log_polynomial = 0;  // ln ℓ(s²)
    for (const double node : probe.node)
        if (square(node) > lowest)
            log_polynomial += std::log((square(node) - square(s)) / (square(node) - lowest));
    return probe.weight.front() * std::exp(-2 * log_polynomial);
}

namespace {

/// The node at one end that `outer` ranks before all others.
template <class Outer>
Extreme outermost(const std::vector<GaussQuadrature>& probes, bool last, Outer outer) {
    Extreme out;
    const auto place = [last](const GaussQuadrature& probe) { return last ? probe.node.size() - 1 : 0; };
    for (const auto& probe : probes) {
        const double node = probe.node[place(probe)];
        if (std::isnan(out.value) || outer(node, out.value)) out.value = node;
    }
    // J has a value within error_j of node j.
    for (const auto& probe : probes) {
        const double bound = probe.error(place(probe)) + std::abs(probe.node[place(probe)] - out.value);
        if (!(bound >= out.error)) out.error = bound;
    }
    return out;
}

}  // namespace

Extreme largest(const std::vector<GaussQuadrature>& probes) {
    return outermost(probes, true, std::greater<>());
}

Extreme smallest(const std::vector<GaussQuadrature>& probes) {
    return outermost(probes, false, std::less<>());
}

}  // namespace spectra::linalg
