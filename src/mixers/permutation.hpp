#pragma once

/// \file
/// The permutation mixers: convex combinations of permutation matrices.

#include "random/stream.hpp"

#include <Eigen/Core>

#include <vector>

namespace spectra::mixers {

/// A permutation of n streams: stream i of the result is stream permutation[i] of the argument.
using Permutation = std::vector<int>;

/// The matrix P with (Px)_i = x_{permutation[i]}.
Eigen::MatrixXd permutation_matrix(const Permutation& permutation);

/// `count` permutations of n streams: the identity, the n − 1 adjacent transpositions, the n − 1
/// cyclic shifts (by 1, 2, …), then uniform random ones. They are distinct, so at n = 2, where the
/// shift is the transposition, it appears once; beyond n! random repeats fill the list.
std::vector<Permutation> permutation_list(int n, int count, random::Stream& stream);

/// `count` permutations as appendix G.3 of the JPmHC paper lists them for n = 4 and K = 6: the identity, the
/// transpositions of streams 2i and 2i + 1, the cyclic shifts by +1 and −1, then uniform random ones, which are the same
/// in every run. The paper draws those with its library's generator at seed 42; these are drawn with this library's.
/// They are distinct: count ≤ n!.
std::vector<Permutation> published_permutations(int n, int count);

/// All n! permutations of n streams in lexicographic order.
std::vector<Permutation> all_permutations(int n);

/// Numerically safe softmax: positive weights with sum 1.
Eigen::VectorXd softmax(const Eigen::VectorXd& logits);

/// Σ_k w_k P_k: bistochastic if w is a convex combination (Birkhoff). Sizes must match.
Eigen::MatrixXd permutation_mixture(const std::vector<Permutation>& permutations,
                                    const Eigen::VectorXd& weights);

/// The permutation mixer: permutation_list with weights softmax of N(0, 1).
Eigen::MatrixXd draw_permutation(int n, int count, random::Stream& stream);

}  // namespace spectra::mixers
