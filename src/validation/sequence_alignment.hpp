#pragma once

/// \file
/// How much the layers of a trained model know of each other on a whole sequence, where no Jacobian is formed.

#include "linalg/golub_kahan.hpp"
#include "linalg/singular_triplets.hpp"
#include "validation/alignment.hpp"

#include <Eigen/Core>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace spectra::validation {

/// One factor Y = A + X of a whole sequence's Jacobian J = Y_L ··· Y_1, by its products.
struct SequenceFactor {
    std::shared_ptr<linalg::LinearOperator>
        kept;  ///< A: the mixers of all tokens, and what their own derivatives add
    std::shared_ptr<linalg::LinearOperator> branch;  ///< X; null: the factor is kept as it is
    int weights = 0;                                 ///< the weight set of X; equal numbers share weights
};

/// The Jacobian of all tokens' states at one input. Of N = T n p numbers, number (t n + i) p + a belongs to token t, stream i
/// and channel a.
struct Sequence {
    std::vector<SequenceFactor> factors;  ///< first applied first
    int width = 0;                        ///< p
    std::shared_ptr<void> model = {};     ///< whatever the factors need to live

    /// N.
    int size() const { return factors.front().kept->size(); }
};

/// The largest triplets of a factor's branch.
using SequenceTriplets = std::vector<linalg::LargestTriplets>;

/// The R largest triplets of every branch, by products (singular_triplets.hpp); none of a factor without one.
SequenceTriplets sequence_triplets(const Sequence& sequence, int rank, std::uint64_t seed,
                                   const std::function<void()>& progress = {});

/// An orthogonal matrix Q = R (I ⊗ O) of N numbers that leaves the columns of W where they are. O, p×p, turns the channels of
/// all tokens and streams alike. With W orthonormal, R = I − D M Dᵀ, D = (I ⊗ O) W − W and M = (I − Wᵀ(I ⊗ O)W)⁻¹ takes
/// (I ⊗ O) W back to W: R is orthogonal because DᵀD = M⁻¹ + M⁻ᵀ.
class Turn {
public:
    /// From O and W; with as many columns as rows, W leaves nothing to turn.
    Turn(Eigen::MatrixXd rotation, const Eigen::MatrixXd& fixed);

    /// Q x, or Qᵀx, of every column.
    Eigen::MatrixXd apply(const Eigen::MatrixXd& x, bool transposed) const;

private:
    Eigen::MatrixXd turned(const Eigen::MatrixXd& x, bool transposed) const;

    Eigen::MatrixXd rotation_, difference_, middle_;
};

/// The Jacobian Π_l (A_l + Q_l X_l Q_lᵀ) with Q_l drawn at random, except that the kept triplets of every branch stay: branch
/// by branch the same, but with channels that are turned against those of other layers. Branches that share weights share O.
class TurnedSequence final : public linalg::LinearOperator {
public:
    /// Draw number `draw` with the first `rank` triplets of every branch kept. Does not copy the sequence.
    TurnedSequence(const Sequence& sequence, const SequenceTriplets& triplets, int rank, std::uint64_t seed,
                   std::uint32_t draw);

    int size() const override { return sequence_.size(); }
    void apply(const double* in, double* out, int columns) override { pass(in, out, columns, false); }
    void apply_transpose(const double* in, double* out, int columns) override {
        pass(in, out, columns, true);
    }

private:
    void pass(const double* in, double* out, int columns, bool transposed);

    const Sequence& sequence_;
    std::vector<std::unique_ptr<Turn>> turns_;  ///< null where there is no branch
};

/// The same finding as align() for all tokens together, from the sequence at every input and the law measured there. What is
/// turned differs (TurnedSequence): each branch stays as a whole, and the tokens keep what they have to do with each other.
/// There is no theory, and no common part to be split off. Up to 512 numbers the factors are formed, and laws are exact;
/// above it they come from Golub-Kahan quadrature (four probes per draw), and at most 64 triplets are tried.
Alignment align_sequences(std::size_t inputs, const std::function<Sequence(std::size_t input)>& sequence_at,
                          const Spectrum& measured, const AlignmentOptions& options);

}  // namespace spectra::validation
