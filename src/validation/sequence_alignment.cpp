#include "validation/sequence_alignment.hpp"

#include "linalg/singular_values.hpp"
#include "montecarlo/sample/haar.hpp"
#include "montecarlo/sample/probing.hpp"
#include "random/stream.hpp"

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace spectra::validation {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr int most_formed = 512;      // numbers up to which factors are formed
constexpr int most_by_products = 64;  // triplets tried beyond
constexpr int probes_a_draw = 4, steps_a_probe = 50;

class FormedOperator final : public linalg::LinearOperator {
public:
    explicit FormedOperator(linalg::LinearOperator& from) : matrix_(from.size(), from.size()) {
        const MatrixXd identity = MatrixXd::Identity(from.size(), from.size());
        from.apply(identity.data(), matrix_.data(), from.size());
    }
    int size() const override { return static_cast<int>(matrix_.rows()); }
    void apply(const double* in, double* out, int columns) override {
        Eigen::Map<MatrixXd>(out, size(), columns).noalias() =
            matrix_ * Eigen::Map<const MatrixXd>(in, size(), columns);
    }
    void apply_transpose(const double* in, double* out, int columns) override {
        Eigen::Map<MatrixXd>(out, size(), columns).noalias() =
            matrix_.transpose() * Eigen::Map<const MatrixXd>(in, size(), columns);
    }

private:
    MatrixXd matrix_;
};

Sequence formed(const Sequence& sequence) {
    Sequence out{{}, sequence.width, {}};
    for (const auto& [kept, branch, weights] : sequence.factors)
        out.factors.push_back({std::make_shared<FormedOperator>(*kept),
                               branch ? std::make_shared<FormedOperator>(*branch) : nullptr, weights});
    return out;
}

/// N values of ln s, ascending: exact, or quantiles of the probes' law below the largest value.
std::vector<double> log_values_of(linalg::LinearOperator& jacobian, std::uint64_t seed, std::uint32_t draw) {
    const int size = jacobian.size();
    if (size <= most_formed) {
        const MatrixXd identity = MatrixXd::Identity(size, size);
        MatrixXd matrix(size, size);
        jacobian.apply(identity.data(), matrix.data(), size);
        std::vector<double> out(static_cast<std::size_t>(size));
        if (!linalg::SingularValues(size).compute(matrix, 0, out))
            throw std::runtime_error("the singular values of a drawn Jacobian did not converge");
        return out;
    }
    std::vector<double> probes;
    for (std::uint32_t k = 0; k < probes_a_draw; ++k) {
        const auto one = montecarlo::probe_vector(size, seed, k, draw);
        probes.insert(probes.end(), one.begin(), one.end());
    }
    linalg::GolubKahanOptions how;
    how.steps = steps_a_probe;
    const auto laws = linalg::golub_kahan(jacobian, probes, how);
    auto out = linalg::log_quantiles(laws, size);
    out.back() = std::log(linalg::largest(laws).value);
    return out;
}

MatrixXd start_block(Index size, Index columns, std::uint64_t seed, std::uint32_t factor) {
    MatrixXd out(size, columns);
    random::Stream(seed, random::Purpose::probe, factor, 1U << 31U)
        .fill_normal({out.data(), static_cast<std::size_t>(out.size())});
    return out;
}

MatrixXd uniform_rotation(int width, std::uint64_t seed, std::uint32_t weights, std::uint32_t draw) {
    random::Stream stream(seed, random::Purpose::branch, weights, draw);
    MatrixXd out(width, width);
    const std::vector<double> ones(static_cast<std::size_t>(width), 1.0);
    montecarlo::BiInvariant(width).draw(ones, stream, out.data());
    return out;
}

/// An orthonormal basis of the first `rank` left and right vectors.
MatrixXd kept_vectors(const linalg::LargestTriplets& triplets, int rank, Index size) {
    const Index count = std::min<Index>(rank, triplets.values.size());
    MatrixXd both(size, 2 * count);
    both << triplets.left.leftCols(count), triplets.right.leftCols(count);
    return linalg::orthonormal_basis(both);
}

MatrixXd overlaps_of(const SequenceTriplets& triplets, int rank) {
    const auto depth = static_cast<Index>(triplets.size());
    MatrixXd out = MatrixXd::Zero(depth, depth);
    for (Index l = 0; l < depth; ++l)
        for (Index k = 0; k < l; ++k) {
            const auto &read = triplets[static_cast<std::size_t>(l)],
                       &written = triplets[static_cast<std::size_t>(k)];
            const Index r = std::min({static_cast<Index>(rank), read.values.size(), written.values.size()});
            if (r > 0)
                out(l, k) = (read.right.leftCols(r).transpose() * written.left.leftCols(r)).squaredNorm() /
                            static_cast<double>(r);
        }
    return out;
}

}  // namespace

SequenceTriplets sequence_triplets(const Sequence& sequence, int rank, std::uint64_t seed,
                                   const std::function<void()>& progress) {
    const Index size = sequence.size();
    SequenceTriplets out;
    for (const auto& factor : sequence.factors) {
        if (!factor.branch) {
            out.push_back({{}, MatrixXd(size, 0), MatrixXd(size, 0), {}, true});
            continue;
        }
        constexpr Index more = 4, most = 32;  // a larger block finds triplets together, in more products
        const Index block = std::min<Index>({rank + more, most, size});
        linalg::TripletOptions how;
        how.tolerance = 1e-6;
        // Triplets amid many others converge slowly, and matter little.
        how.most_steps = static_cast<int>(12 + 3 * rank / block);
        how.progress = progress;
        out.push_back(linalg::largest_triplets(
            *factor.branch, rank, start_block(size, block, seed, static_cast<std::uint32_t>(out.size())),
            how));
    }
    return out;
}

Turn::Turn(MatrixXd rotation, const MatrixXd& fixed)
    : rotation_(std::move(rotation)), difference_(fixed.rows(), 0) {
    if (fixed.cols() == fixed.rows()) rotation_.setIdentity();
    if (fixed.cols() == 0 || fixed.cols() == fixed.rows()) return;
    const MatrixXd moved = turned(fixed, false);
    difference_ = moved - fixed;
    const MatrixXd gap = MatrixXd::Identity(fixed.cols(), fixed.cols()) - fixed.transpose() * moved;
    // Vectors that O does not move need not be taken back: the gap is then singular.
    middle_ = Eigen::CompleteOrthogonalDecomposition<MatrixXd>(gap).pseudoInverse();
}

MatrixXd Turn::turned(const MatrixXd& x, bool transposed) const {
    MatrixXd out(x.rows(), x.cols());
    const Index p = rotation_.rows(), blocks = x.size() / p;
    const Eigen::Map<const MatrixXd> from(x.data(), p, blocks);
    Eigen::Map<MatrixXd> to(out.data(), p, blocks);
    if (transposed)
        to.noalias() = rotation_.transpose() * from;
    else
        to.noalias() = rotation_ * from;
    return out;
}

MatrixXd Turn::apply(const MatrixXd& x, bool transposed) const {
    if (transposed) {
        if (difference_.cols() == 0) return turned(x, true);
        return turned(x - difference_ * (middle_.transpose() * (difference_.transpose() * x)), true);
    }
    MatrixXd out = turned(x, false);
    if (difference_.cols() > 0) out -= (difference_ * (middle_ * (difference_.transpose() * out))).eval();
    return out;
}

TurnedSequence::TurnedSequence(const Sequence& sequence, const SequenceTriplets& triplets, int rank,
                               std::uint64_t seed, std::uint32_t draw)
    : sequence_(sequence) {
    for (std::size_t l = 0; l < sequence.factors.size(); ++l) {
        const auto& factor = sequence.factors[l];
        turns_.push_back(nullptr);
        if (!factor.branch) continue;
        turns_.back() = std::make_unique<Turn>(
            uniform_rotation(sequence.width, seed, static_cast<std::uint32_t>(factor.weights), draw),
            rank > 0 ? kept_vectors(triplets[l], rank, sequence.size()) : MatrixXd(sequence.size(), 0));
    }
}

void TurnedSequence::pass(const double* in, double* out, int columns, bool transposed) {
    MatrixXd x = Eigen::Map<const MatrixXd>(in, size(), columns);
    MatrixXd kept(size(), columns), image(size(), columns);
    const auto through = [&](linalg::LinearOperator& matrix, const MatrixXd& from, MatrixXd& to) {
        if (transposed)
            matrix.apply_transpose(from.data(), to.data(), columns);
        else
            matrix.apply(from.data(), to.data(), columns);
    };
    const std::size_t depth = sequence_.factors.size();
    for (std::size_t k = 0; k < depth; ++k) {
        const std::size_t l = transposed ? depth - 1 - k : k;
        const auto& factor = sequence_.factors[l];
        through(*factor.kept, x, kept);
        if (turns_[l]) {
            through(*factor.branch, turns_[l]->apply(x, true), image);
            kept += turns_[l]->apply(image, false);
        }
        std::swap(x, kept);
    }
    Eigen::Map<MatrixXd>(out, size(), columns) = x;
}

Alignment align_sequences(std::size_t inputs, const std::function<Sequence(std::size_t input)>& sequence_at,
                          const Spectrum& measured, const AlignmentOptions& options) {
    Alignment result;
    result.explain = options.explain;
    // Formed sequences need no model, and are made once.
    std::vector<Sequence> all(inputs);
    std::vector<SequenceTriplets> triplets(inputs);
    const auto at = [&](std::size_t k) {
        if (!all[k].factors.empty()) return all[k];
        Sequence sequence = sequence_at(k);
        if (sequence.size() <= most_formed) sequence = all[k] = formed(sequence);
        return sequence;
    };
    const int size = at(0).size();
    const bool exact = size <= most_formed;
    result.width = size;
    const int most = options.rank ? std::min(*options.rank, size) : exact ? size / 2 : most_by_products;
    std::vector<int> ranks = {0};
    for (int r = options.rank ? most : 1; ranks.back() < most; r *= 2) ranks.push_back(std::min(r, most));
    const int draws = std::max(exact ? 8 : 2, (exact ? 24 : 6) / static_cast<int>(inputs));
    for (const int rank : ranks) {
        const auto look = [&] {
            if (options.before_rank) options.before_rank(rank);
        };
        std::vector<std::vector<double>> values(inputs);
        for (std::size_t k = 0; k < inputs; ++k) {
            look();
            const Sequence sequence = at(k);
            if (rank > 0) triplets[k] = sequence_triplets(sequence, rank, options.seed, look);
            for (int draw = 0; draw < draws; ++draw) {
                look();
                const auto number = static_cast<std::uint32_t>(k) * static_cast<std::uint32_t>(draws) +
                                    static_cast<std::uint32_t>(draw);
                TurnedSequence drawn(sequence, triplets[k], rank, options.seed, number);
                const auto one = log_values_of(drawn, options.seed, number);
                values[k].insert(values[k].end(), one.begin(), one.end());
            }
        }
        double chance = 0;
        result.by_rank.push_back(prediction_of_draws(rank, values, draws, measured, chance));
        result.explain = std::max(options.explain, chance);
        if (result.best().distance > result.explain) continue;
        if (!result.rank) result.rank = rank;
        if (!options.rank) break;
    }
    if (triplets.front().empty()) triplets.front() = sequence_triplets(at(0), 1, options.seed, {});
    result.overlaps = overlaps_of(triplets.front(), std::max(1, result.best().rank));
    return result;
}

}  // namespace spectra::validation
