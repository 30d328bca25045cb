#include "train/modules/layer_norm.hpp"

#include <gtest/gtest.h>

#include "train/modules/fast_kernels.hpp"

namespace spectra::train {
namespace {

using torch::Tensor;

struct NormResult {
    Tensor y, x_slope, weight_slope;
};

template <class F>
NormResult with_gradients(const F& f, const Tensor& x, const Tensor& weight, const Tensor& g) {
    auto a = x.detach().requires_grad_(), w = weight.detach().requires_grad_();
    const auto y = f(a, w);
    y.backward(g);
    return {y.detach(), a.grad(), w.grad()};
}

void expect_norm_near(const Tensor& a, const Tensor& b, double tolerance) {
    ASSERT_TRUE(a.defined());
    const auto error = (a.cpu().to(torch::kDouble) - b).abs().max().item<double>();
    EXPECT_LT(error, tolerance * b.abs().max().item<double>());
}

/// Behind so many numbers, as parameters lie in one vector: their address is a multiple of 4 bytes, not of 16.
Tensor behind(int64_t numbers, const Tensor& t, torch::Device device) {
    const auto all = torch::zeros({numbers + t.numel()}, torch::TensorOptions(device).dtype(torch::kFloat));
    return all.narrow(0, numbers, t.numel()).view(t.sizes()).copy_(t);
}

/// As in a step, in float on the device, against the formula in double.
void expect_plain_formula(torch::Device device, int64_t rows, int64_t width, int64_t offset = 0) {
    SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(width) + " behind " +
                 std::to_string(offset));
    torch::manual_seed(1);
    const auto x = 3 * torch::randn({1, rows, width}, torch::kDouble) + 10,
               weight = torch::randn({width}, torch::kDouble);
    const auto g = torch::randn({1, rows, width}, torch::kDouble);
    const auto there = [&](const Tensor& t) { return behind(offset, t, device); };
    const auto plain_norm = [](const Tensor& a, const Tensor& w) {
        const auto centred = a - a.mean(-1, true);
        return w * centred / torch::sqrt((centred * centred).mean(-1, true) + 1e-5);
    };
    const auto expected = with_gradients(plain_norm, x, weight, g);
    NormResult found;
    {
        const FastKernels fast(true);
        found = with_gradients(layer_norm, there(x), there(weight), there(g));
    }
    expect_norm_near(found.y, expected.y, 1e-5);
    expect_norm_near(found.x_slope, expected.x_slope, 1e-5);
    expect_norm_near(found.weight_slope, expected.weight_slope, 1e-5);
}

TEST(LayerNorm, IsItsFormula) {
    for (const int64_t width : {12, 128}) expect_plain_formula(torch::kCPU, 9, width);
}

TEST(LayerNormOnCuda, IsItsFormula) {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "Torch finds no GPU";
    for (const int64_t width : {12, 128, 256, 384, 512, 640, 768, 896, 1024, 1152})
        for (const int64_t rows : {1, 7, 8, 1000, 16320}) expect_plain_formula(torch::kCUDA, rows, width);
    for (const int64_t width : {128, 1024})
        for (const int64_t offset : {1, 2, 3}) expect_plain_formula(torch::kCUDA, 100, width, offset);
}

}  // namespace
}  // namespace spectra::train
