#pragma once

#include "jacobian/torch.hpp"

#include <cstdint>
#include <functional>

namespace spectra::train {

/// What Torch dispatched while something was computed. An operation is an operator that computes or moves data, which on a
/// GPU launches a kernel; views and allocations are none, and a routine of a library (a product, a solver) is one.
/// Floating-point operations, by the shapes of the operands:
///
///   products of (m, k) and (k, n)        2 m k n; with a summand m n more
///   solving n equations, k right sides   2 n³/3 + 2 n² k; by a known factorisation 2 n² k; an inverse 2 n³
///   attention in one operation           4 per pair of positions and channel, backward 10; masked pairs count
///   softmax                              5 per element (maximum, difference, exp, sum, quotient), backward 4
///   layer norm                           7 per element, with a bias 8; backward 12
///   sums, largest and smallest elements  1 per element of the operand
///   copies, gathers, selections, fills   0
///   all others                           1 per element of the largest operand or result: a function such as exp is 1
struct OperationCount {
    std::int64_t operations = 0;
    double product_flops = 0;  ///< of products, solvers and attention
    double other_flops = 0;

    double flops() const { return product_flops + other_flops; }
};

/// Counts what `work` dispatches, in this thread and in those that compute its gradients. One count at a time.
OperationCount count_operations(const std::function<void()>& work);

/// Nodes of autograd's graph that these tensors depend on, without those that collect the gradients of parameters and
/// inputs.
std::int64_t graph_nodes(const torch::autograd::variable_list& outputs);

/// Bytes on the device that `forward` allocates and its graph keeps for the backward pass. Parameters and what else
/// existed before do not count, and neither does the result where the graph does not need it.
std::int64_t kept_bytes(const std::function<torch::autograd::variable_list()>& forward, torch::Device device);

}  // namespace spectra::train
