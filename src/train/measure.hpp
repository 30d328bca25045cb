#pragma once

/// \file
/// Measures the Jacobian of a trained model, end to end and connection by connection.

#include <string>

#include "jacobian/jacobian_law.hpp"
#include "train/models/transformer.hpp"
#include "layouts/measurement.hpp"

namespace spectra::train {

/// What is measured, and how.
struct MeasureOptions {
    int64_t token = -1;  ///< whose state; below 0 from the end
    /// Weights and states widened for as long as it takes: singular values below 1e-7 of the largest are
    /// rounding otherwise.
    bool double_precision = true;
    std::string input;  ///< what to call the input in the result: "input 3 of 8"
    /// Rows uᵀJ of random u, by a backward pass through the whole model, that the product Y_L ··· Y_1 is
    /// compared on. Where it has them to rounding it stands for J, and product_defect is theirs; else, and
    /// with 0, J is formed by itself.
    int64_t checks = 8;
    jacobian::JacobianLawOptions jacobian;  ///< how Jacobians are found
};

/// The Jacobian J of a token's residual state after the last block with respect to the same token's state
/// before the first, other tokens' initial states held fixed, at one input ((1, T, dimension) numbers or
/// (1, T) tokens); and, connection by connection (two a block, cycles included), Y_l: the same from one state
/// to the next, other tokens' states held at what they are there. Where no later token is seen by this one
/// J = Y_L ··· Y_1, and product_defect is rounding; with the published pooling it is not.
///
/// What stands in the result:
///  * A_l on the stream axis; pre_l and post_l where F reads one combination of streams, p wide, and its
///    output is written p wide: F_l is then the Jacobian of norm and branch at that combination, the other
///    tokens' held. edelta-stream's F reads after A: its pre is Aᵀ times the router's.
///  * gpt: n = 1, A = (1), pre = post = (1), F_l = X_l.
///  * ddl and mgt act on channels, with one operator I − β kkᵀ or diag(1 − αβ) on all C of them. As n = C
///    streams of width 1 they would be a C×C mixer a layer; here n = 1, A = (1), and what the operator
///    differs from it by is part of X_l (of ddl's: ‖βkkᵀ‖²/N = β²/N of its variance).
///  * mhc and edelta hand all C channels to F (mhc the combination n times over, edelta A X through full
///    projections): pre and post are empty, and core_values and core_variance are X_l's. So they are for ddl
///    and mgt.
///
/// mixer_variance is ‖Y_l − Y_l°‖²/N, Y_l° being the Jacobian with A, pre and post (for ddl and mgt the
/// channel operator and gates) held at what they are here: A ⊗ I + post preᵀ ⊗ F, or (I + G) A for a branch G
/// after A.
layouts::Measurement measure(Transformer& model, const torch::Tensor& input,
                             const MeasureOptions& options = {});

/// The law of the Jacobian of all tokens' states after the last block with respect to all before the first:
/// N = T C.
jacobian::JacobianLaw measure_sequence(Transformer& model, const torch::Tensor& input,
                             const MeasureOptions& options = {});

}  // namespace spectra::train
