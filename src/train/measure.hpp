#pragma once

/// \file
/// Measures the Jacobian of a trained model, end to end and connection by connection.

#include <string>

#include "jacobian/jacobian_law.hpp"
#include "layouts/measurement.hpp"
#include "train/models/transformer.hpp"
#include "validation/sequence_alignment.hpp"

namespace spectra::train {

/// What is measured, and how.
struct MeasureOptions {
    int64_t token = -1;  ///< index of the token; below 0: from the end
    /// Widen weights and states during the measurement: otherwise singular values below 1e-7 of the largest
    /// are only rounding.
    bool double_precision = true;
    std::string input;  ///< name of the input in the result: "input 3 of 8"
    /// Number of random rows uᵀJ, by a backward pass through the whole model, on which the product Y_L ···
    /// Y_1 is checked. If they agree to rounding, the product is used as J, and product_defect is theirs;
    /// otherwise, and with 0, J is formed separately.
    int64_t checks = 8;
    jacobian::JacobianLawOptions jacobian;  ///< how Jacobians are found
};

/// The Jacobian J of a token's residual state after the last block with respect to the same token's state
/// before the first, with the initial states of other tokens fixed, at one input ((1, T, dimension) numbers
/// or (1, T) tokens). And Y_l for every connection (two per block, cycles included): the same from one state
/// to the next, with the states of other tokens fixed there. If this token does not depend on later ones, J =
/// Y_L ··· Y_1, and product_defect is rounding; with the published pooling it is not.
///
/// The result contains:
///  * A_l on the stream axis; pre_l and post_l if F reads one combination of streams, p wide, and its
///    output is written p wide: F_l is then the Jacobian of norm and branch at that combination, with the
///    other tokens fixed. In edelta-stream F reads after A: its pre is Aᵀ times the router's.
///  * gpt: n = 1, A = (1), pre = post = (1), F_l = X_l.
///  * ddl and mgt act on channels, with one operator I − β kkᵀ or diag(1 − αβ) on all C of them. As n = C
///    streams of width 1 they would have one C×C mixer per layer; here n = 1, A = (1), and the difference
///    of the operator from it belongs to X_l (for ddl: ‖βkkᵀ‖²/N = β²/N of its variance).
///  * mhc and edelta pass all C channels to F (mhc n copies of the combination, edelta A X through full
///    projections): pre and post are empty, and core_values and core_variance are those of X_l. The same
///    holds for ddl and mgt.
///
///
/// A Tiny Recursive Model is measured at the latent recursion of its first supervision step's last cycle: from
/// x + y + z before the first of its updates to the state before the norm of the last. The norm N between two of them
/// belongs to the connection after it: Y N, with A and pre times tr N/C.
///
/// mixer_variance is ‖Y_l − Y_l°‖²/N, where Y_l° is the Jacobian with A, pre and post (for ddl and mgt the
/// channel operator and gates) fixed at this input: A ⊗ I + post preᵀ ⊗ F, or (I + G) A for a branch G
/// after A.
layouts::Measurement measure(Transformer& model, const torch::Tensor& input,
                             const MeasureOptions& options = {});

/// The law of the Jacobian of the states of all tokens after the last block with respect to those before the
/// first: N = T C.
jacobian::JacobianLaw measure_sequence(Transformer& model, const torch::Tensor& input,
                             const MeasureOptions& options = {});

/// The factors of that Jacobian, connection by connection, by their products. Of a connection x' = A x + post F(pre x) the
/// branch is post F(pre ·) with pre and post as they are at this input, token by token; the mixers A and the derivatives of A,
/// pre and post are kept. Where F reads all channels, and for plain residuals, ddl and mgt (A = I), the branch is all that is
/// not A x. A norm between cycles is a factor without a branch. The model stays in double, if it is to be, for as long as the
/// result exists: there may be one at a time.
validation::Sequence sequence_factors(Transformer& model, const torch::Tensor& input,
                                      const MeasureOptions& options = {});

}  // namespace spectra::train
