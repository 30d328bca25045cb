#include "dyson/equations/aligned_chain.hpp"

#include "linalg/complex_matrix.hpp"
#include "linalg/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace spectra::dyson {
namespace {

using Eigen::Index;

// Random vectors per side for the response, where the exact sum costs more than the inverse and more than this. Steps of
// Newton's method are about as many as with 8.
constexpr Index few_probes = 2;
constexpr double always_affordable = 1e6;
constexpr Index worth_rounding = 128;  // columns from which single precision is faster

using linalg::index;

/// ±1/√k, the same on every machine (splitmix64).
Eigen::MatrixXd signs(Index rows, Index columns) {
    Eigen::MatrixXd z(rows, columns);
    std::uint64_t state = 0;
    for (Index j = 0; j < columns; ++j) {
        for (Index i = 0; i < rows; ++i) {
            std::uint64_t x = state += 0x9e3779b97f4a7c15U;
            x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
            x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
            z(i, j) = (x >> 63U) != 0 ? 1 : -1;
        }
    }
    return z / std::sqrt(static_cast<double>(columns));
}

bool all_zero(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double t) { return t == 0; });
}

}  // namespace

/// Lays out the columns of a network. Sites are w_0, v_0, w_1, …, and so are sides.
struct AlignedChain::Builder {
    const Network& network;
    const AlignedBranch& branch = std::get<AlignedBranch>(network.branch);
    Index n = network.streams, p = network.width;
    Shared out = {};
    std::vector<Eigen::VectorXd> directions = {}, vectors = {};

    Index add_direction(Index site, const Eigen::VectorXd& entries) {
        Eigen::VectorXd direction = Eigen::VectorXd::Zero(2 * network.depth() * n);
        direction.segment(site * n, n) = entries;
        directions.push_back(std::move(direction));
        return index(directions.size()) - 1;
    }

    /// One direction per stream.
    std::vector<Index> add_streams(Index site) {
        std::vector<Index> result;
        for (Index i = 0; i < n; ++i) result.push_back(add_direction(site, Eigen::VectorXd::Unit(n, i)));
        return result;
    }

    /// The column whose part at the k-th of the directions is the k-th stretch of p numbers.
    void add_column(const std::vector<Index>& along, const Eigen::VectorXd& entries, Index column) {
        for (std::size_t k = 0; k < along.size(); ++k) {
            vectors.emplace_back(entries.segment(index(k) * p, p));
            out.terms.push_back({along[k], column});
        }
    }

    void add_triplets(const Triplets& triplets, std::size_t l, bool kept, const std::vector<Index>& at_w,
                      const std::vector<Index>& at_v) {
        for (Index i = 0; i < triplets.count(); ++i) {
            const Index column = 2 * index(out.pairs.size());
            out.pairs.push_back({l, triplets.values(i) / out.unit[l], kept});
            add_column(at_v, triplets.left.col(i), column);
            add_column(at_w, triplets.right.col(i), column + 1);
            if (!kept) continue;
            out.sides[2 * l].columns.push_back(column + 1);
            out.sides[2 * l + 1].columns.push_back(column);
        }
    }

    double typical_size(std::size_t l) const {
        double noise = spectra::sigma2(network)[l];
        if (branch.hyper_connection())
            noise *= branch.pre[l].squaredNorm() * branch.post[l].squaredNorm() / static_cast<double>(n);
        const double square = network.mixers[l].squaredNorm() / static_cast<double>(n) + noise;
        return square > 0 ? std::sqrt(square) : 1;
    }

    void add_layer(std::size_t l) {
        const bool hyper = branch.hyper_connection();
        out.unit.push_back(typical_size(l));
        out.log_unit.push_back(std::log(out.unit[l]));
        out.log_typical += out.log_unit[l];
        out.mixers.emplace_back(network.mixers[l] / out.unit[l]);
        out.quiet.push_back(all_zero(branch.rest[l]));
        out.free.push_back(static_cast<double>(branch.rest[l].size()));
        SquaredLaw law;
        for (const double t : branch.rest[l]) law.t2.push_back(t * t / (out.unit[l] * out.unit[l]));
        out.laws.push_back(std::move(law));

        const Index w = 2 * index(l), v = w + 1;
        out.sides.resize(2 * l + 2);
        Side& reads = out.sides[2 * l];
        Side& writes = out.sides[2 * l + 1];
        reads.directions = hyper ? std::vector{add_direction(w, branch.pre[l])} : add_streams(w);
        writes.directions = hyper ? std::vector{add_direction(v, branch.post[l])} : add_streams(v);
        reads.vectors = branch.kept[l].right;
        writes.vectors = branch.kept[l].left;
        add_triplets(branch.kept[l], l, true, reads.directions, writes.directions);
        if (branch.derivative.empty() || branch.derivative[l].count() == 0) return;
        add_triplets(branch.derivative[l], l, false, hyper ? add_streams(w) : reads.directions,
                     hyper ? add_streams(v) : writes.directions);
    }

    /// Probes of the response: all unit vectors if that is affordable.
    void add_probes() {
        const double columns = 2 * static_cast<double>(out.pairs.size());
        double channels = 0, reached = 0, along = 0;
        for (const Side& side : out.sides) {
            channels += static_cast<double>(side.vectors.rows());
            reached += static_cast<double>(side.directions.size());
        }
        for (const Along& terms : out.along) along += terms.columns.empty() ? 0 : 1;
        const double exact = channels * (columns * columns + 0.5 * static_cast<double>(p) * along * reached);
        out.exact_response = exact <= 0.5 * columns * columns * columns || exact < always_affordable;
        for (Side& side : out.sides) {
            const Index rows = side.vectors.rows();
            Real z = out.exact_response ? Real(Real::Identity(rows, rows)) : signs(rows, few_probes);
            z -= (side.vectors * (side.vectors.transpose() * z)).eval();
            for (std::size_t k = 0; k < side.directions.size(); ++k) {
                side.probes.emplace_back(z.middleRows(index(k) * p, p));
                side.seen.emplace_back(out.vectors.transpose() * side.probes.back());
            }
        }
    }

    Shared build() {
        out.layers = network.mixers.size();
        out.streams = n;
        out.width = static_cast<double>(p);
        out.size = static_cast<double>(n * p);
        out.pre = branch.pre;
        out.post = branch.post;
        for (std::size_t l = 0; l < out.layers; ++l) add_layer(l);
        out.directions.resize(2 * index(out.layers) * n, index(directions.size()));
        for (std::size_t k = 0; k < directions.size(); ++k) out.directions.col(index(k)) = directions[k];
        out.vectors.resize(p, index(vectors.size()));
        for (std::size_t k = 0; k < vectors.size(); ++k) out.vectors.col(index(k)) = vectors[k];
        out.gram = out.vectors.transpose() * out.vectors;
        std::vector<std::vector<Index>> terms(directions.size());
        for (std::size_t k = 0; k < out.terms.size(); ++k)
            terms[static_cast<std::size_t>(out.terms[k].direction)].push_back(index(k));
        for (const auto& mine : terms) {
            Along along{{}, out.vectors(Eigen::all, mine)};
            for (const Index k : mine) along.columns.push_back(out.terms[static_cast<std::size_t>(k)].column);
            out.along.push_back(std::move(along));
        }
        add_probes();
        return std::move(out);
    }
};

AlignedChain::AlignedChain(const Network& network)
    : shared_(std::make_shared<const Shared>(Builder{network}.build())),
      mixers_(shared_->mixers),
      laws_(shared_->laws) {
    for (const Pair& pair : shared_->pairs) values_.push_back(pair.value);
}

void AlignedChain::set_gauge(double log_scale) {
    const double log_gauge = (log_scale - shared_->log_typical) / static_cast<double>(shared_->layers);
    if (log_gauge == log_gauge_) return;
    log_gauge_ = log_gauge;
    const double q = std::exp(-log_gauge);
    for (std::size_t l = 0; l < shared_->layers; ++l) {
        mixers_[l] = q * shared_->mixers[l];
        for (std::size_t k = 0; k < laws_[l].t2.size(); ++k) laws_[l].t2[k] = q * q * shared_->laws[l].t2[k];
    }
    for (std::size_t k = 0; k < values_.size(); ++k) values_[k] = q * shared_->pairs[k].value;
}

bool AlignedChain::run(Complex omega, const Eigen::VectorXcd& cv, const Eigen::VectorXcd& cw, bool rough) {
    const Shared& s = *shared_;
    const Index n = s.streams, sites = 2 * index(s.layers);
    cv_ = cv;
    cw_ = cw;
    base_ = Matrix::Zero(sites * n, sites * n);
    const auto block = [&](Index i, Index j) { return base_.block(i * n, j * n, n, n); };
    const Real one = Real::Identity(n, n);
    for (std::size_t l = 0; l < s.layers; ++l) {
        const Index w = 2 * index(l), v = w + 1;
        const auto pattern = [&](const std::vector<Eigen::VectorXd>& x) -> Real {
            return x.empty() ? one : Real(x[l] * x[l].transpose());
        };
        block(w, w) -= cw(index(l)) * pattern(s.pre);
        block(v, v) -= cv(index(l)) * pattern(s.post);
        block(v, w) -= mixers_[l];
        block(w, v) -= mixers_[l].transpose();
        if (l + 1 == s.layers) continue;
        block(v, v + 1) += one;
        block(v + 1, v) += one;
    }
    block(0, 0) += omega * one;
    block(sites - 1, sites - 1) += omega * one;
    inverse_ = base_;
    if (!linalg::invert(inverse_)) return false;
    between_ = s.directions.transpose() * inverse_ * s.directions;

    const Index columns = 2 * index(s.pairs.size()), terms = index(s.terms.size());
    k_ = Matrix::Zero(columns, columns);
    for (Index j = 0; j < terms; ++j) {
        const Term& second = s.terms[static_cast<std::size_t>(j)];
        for (Index i = 0; i < terms; ++i) {
            const Term& first = s.terms[static_cast<std::size_t>(i)];
            k_(first.column, second.column) += between_(first.direction, second.direction) * s.gram(i, j);
        }
    }
    if (!added_.run(k_, couplings(), rough && columns >= worth_rounding)) return false;
    const Matrix& t = added_.t();
    tau_ = Matrix::Zero(between_.rows(), between_.cols());
    for (Index j = 0; j < terms; ++j) {
        const Term& second = s.terms[static_cast<std::size_t>(j)];
        for (Index i = 0; i < terms; ++i) {
            const Term& first = s.terms[static_cast<std::size_t>(i)];
            tau_(first.direction, second.direction) += t(first.column, second.column) * s.gram(i, j);
        }
    }
    return tau_.allFinite();
}

std::vector<Eigen::Matrix2cd> AlignedChain::couplings() const {
    std::vector<Eigen::Matrix2cd> c;
    for (std::size_t k = 0; k < shared_->pairs.size(); ++k) {
        const Pair& pair = shared_->pairs[k];
        const Complex s = values_[k];
        c.push_back(Eigen::Matrix2cd{{pair.kept ? cv_(index(pair.layer)) : 0.0, -s},
                                     {-s, pair.kept ? cw_(index(pair.layer)) : 0.0}});
    }
    return c;
}

Eigen::MatrixXcd AlignedChain::coupled() const {
    const auto c = couplings();
    Matrix ck(k_.rows(), k_.cols());
    for (std::size_t k = 0; k < c.size(); ++k)
        ck.middleRows(2 * index(k), 2) = c[k] * k_.middleRows(2 * index(k), 2);
    return ck;
}

double AlignedChain::argument() const {
    return added_.argument();
}

std::vector<std::vector<Complex>> AlignedChain::by_triplet() const {
    std::vector<std::vector<Complex>> all(layers());
    for (std::size_t k = 0; k < shared_->pairs.size(); ++k) {
        const Pair& pair = shared_->pairs[k];
        if (!pair.kept) continue;
        const Eigen::Matrix2cd& left = added_.remaining()[k];
        all[pair.layer].push_back(-values_[k] * (left(0, 1) + left(1, 0)));
    }
    return all;
}

Complex AlignedChain::quadratic(const Eigen::RowVectorXcd& row) const {
    return (row * tau_).cwiseProduct(row).sum();
}

Complex AlignedChain::side(std::size_t a) const {
    const Side& here = shared_->sides[a];
    Complex sum = 0;
    for (const Index d : here.directions) sum += shared_->width * between_(d, d) - quadratic(between_.row(d));
    for (const Index column : here.columns)
        sum -= added_.remaining()[static_cast<std::size_t>(column / 2)](column % 2, column % 2);
    return sum / shared_->free[a / 2];
}

Complex AlignedChain::green() const {
    const Index n = shared_->streams, end = inverse_.rows();
    Complex sum = 0;
    for (Index i = end - n; i < end; ++i)
        sum += shared_->width * inverse_(i, i) - quadratic(inverse_.row(i) * shared_->directions);
    return sum / shared_->size;
}

Eigen::MatrixXcd AlignedChain::response() const {
    const Shared& s = *shared_;
    const Index count = index(s.sides.size()), terms = index(s.terms.size());
    // Xᵀ (M_0 ⊗ 1) Π_a Z of every side a, then T times it.
    std::vector<Index> first_probe(s.sides.size() + 1, 0);
    for (std::size_t a = 0; a < s.sides.size(); ++a)
        first_probe[a + 1] = first_probe[a] + (s.quiet[a / 2] ? 0 : s.sides[a].probes.front().cols());
    Matrix seen = Matrix::Zero(k_.rows(), first_probe.back());
    for (std::size_t a = 0; a < s.sides.size(); ++a) {
        if (s.quiet[a / 2]) continue;
        const Side& side = s.sides[a];
        auto mine = seen.middleCols(first_probe[a], side.probes.front().cols());
        for (std::size_t k = 0; k < side.directions.size(); ++k)
            for (Index i = 0; i < terms; ++i)
                mine.row(s.terms[static_cast<std::size_t>(i)].column) +=
                    between_(side.directions[k], s.terms[static_cast<std::size_t>(i)].direction) * side.seen[k].row(i);
    }
    const Matrix moved = linalg::product(added_.t(), seen);
    // Side by side, what every direction receives: X T Xᵀ M_0 Π Z, then M_0 times it.
    const Index width = s.vectors.rows();
    std::vector<Index> along_which;
    for (std::size_t d = 0; d < s.along.size(); ++d)
        if (!s.along[d].columns.empty()) along_which.push_back(index(d));
    Matrix result = Matrix::Zero(count, count);
    for (std::size_t a = 0; a < s.sides.size(); ++a) {
        if (s.quiet[a / 2]) continue;
        const Side& from = s.sides[a];
        const Index probes = from.probes.front().cols();
        Matrix received(width * probes, index(along_which.size()));
        for (std::size_t d = 0; d < along_which.size(); ++d) {
            const Along& along = s.along[static_cast<std::size_t>(along_which[d])];
            Eigen::Map<Matrix>(received.col(index(d)).data(), width, probes) = linalg::product(
                along.vectors, Matrix(moved(along.columns, Eigen::seqN(first_probe[a], probes))));
        }
        std::vector<Index> wanted;
        for (std::size_t b = a; b < s.sides.size(); ++b)
            wanted.insert(wanted.end(), s.sides[b].directions.begin(), s.sides[b].directions.end());
        const Matrix images = linalg::product(received, Matrix(between_(along_which, wanted)));
        Index next = 0;
        for (std::size_t b = a; b < s.sides.size(); ++b) {
            const Side& to = s.sides[b];
            if (s.quiet[b / 2]) {
                next += index(to.directions.size());
                continue;
            }
            Complex sum = 0;
            Matrix along = Matrix::Zero(to.vectors.cols(), probes);
            for (std::size_t k = 0; k < to.directions.size(); ++k) {
                Matrix image = -Eigen::Map<const Matrix>(images.col(next++).data(), width, probes);
                for (std::size_t j = 0; j < from.directions.size(); ++j)
                    image += between_(to.directions[k], from.directions[j]) * from.probes[j];
                sum += image.cwiseProduct(image).sum();
                along += to.vectors.middleRows(index(k) * width, width).transpose() * image;
            }
            sum -= along.cwiseProduct(along).sum();
            result(index(b), index(a)) = sum / s.free[b / 2];
            result(index(a), index(b)) = sum / s.free[a / 2];
        }
    }
    return result;
}

}  // namespace spectra::dyson
