#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "train/modules/fast_kernels.hpp"

namespace spectra::train::testing {

using Tensors = std::vector<torch::Tensor>;
using StepMap = std::function<Tensors(const Tensors&)>;

/// What a training step takes from a map: its values, and the gradients with respect to its arguments.
struct StepResult {
    Tensors values, slopes;
};

inline StepResult step_result(const StepMap& map, const Tensors& arguments, const Tensors& slopes) {
    Tensors leaves;
    for (const auto& a : arguments) leaves.push_back(a.detach().requires_grad_());
    StepResult result;
    const auto values = map(leaves);
    torch::autograd::backward(values, slopes);
    for (const auto& v : values) result.values.push_back(v.detach());
    for (const auto& leaf : leaves) result.slopes.push_back(leaf.grad());
    return result;
}

/// A copy in float behind so many numbers, as parameters lie in one vector: its address is a multiple of 4 bytes, not of 16.
inline torch::Tensor behind(int64_t numbers, const torch::Tensor& t, torch::Device device) {
    const auto all = torch::zeros({numbers + t.numel()}, torch::TensorOptions(device).dtype(torch::kFloat));
    return all.narrow(0, numbers, t.numel()).view(t.sizes()).copy_(t);
}

inline void expect_close(const Tensors& found, const Tensors& again, const Tensors& expected,
                         double tolerance) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
        SCOPED_TRACE(k);
        ASSERT_TRUE(found[k].defined());
        ASSERT_EQ(found[k].sizes(), expected[k].sizes());
        const auto error = (found[k].cpu().to(torch::kDouble) - expected[k]).abs().max().item<double>();
        EXPECT_LE(error, tolerance * expected[k].abs().max().item<double>());
        EXPECT_TRUE(torch::equal(found[k], again[k]));
    }
}

/// `map`, as in a training step in float on the device, against `formula` in double: values, and gradients for random slopes of
/// the values, with errors below the tolerance times the largest number. Twice, with the same bits.
inline void expect_formula(const StepMap& map, const StepMap& formula, Tensors arguments,
                           torch::Device device, double tolerance = 1e-5, int64_t offset = 0) {
    const auto rounded = [](const torch::Tensor& t) { return t.to(torch::kFloat).to(torch::kDouble); };
    for (auto& a : arguments) a = rounded(a);
    Tensors slopes;
    for (const auto& v : formula(arguments)) slopes.push_back(rounded(torch::randn_like(v)));
    const auto expected = step_result(formula, arguments, slopes);
    const auto there = [&](const Tensors& all) {
        Tensors result;
        for (const auto& t : all) result.push_back(behind(offset, t, device));
        return result;
    };
    const FastKernels fast(true);
    const auto first = step_result(map, there(arguments), there(slopes)),
               second = step_result(map, there(arguments), there(slopes));
    expect_close(first.values, second.values, expected.values, tolerance);
    expect_close(first.slopes, second.slopes, expected.slopes, tolerance);
}

}  // namespace spectra::train::testing
