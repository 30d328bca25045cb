#include "train/modules/layer_norm.hpp"

#include "checks.hpp"
#include "fast_kernels_check.hpp"

namespace spectra::train {
namespace {

using testing::normal;
using testing::Tensors;
using torch::Tensor;

void expect_norms(torch::Device device, int64_t rows, int64_t width, int64_t offset = 0) {
    SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(width) + " behind " +
                 std::to_string(offset));
    torch::manual_seed(1);
    const auto x = 3 * normal({1, rows, width}) + 10, weight = normal({width}), bias = normal({width});
    const auto formula = [](const Tensors& a) {
        const auto centred = a[0] - a[0].mean(-1, true);
        const auto y = a[1] * centred / torch::sqrt((centred * centred).mean(-1, true) + 1e-5);
        return Tensors{a.size() == 3 ? y + a[2] : y};
    };
    const auto plain = [](const Tensors& a) { return Tensors{layer_norm(a[0], a[1])}; };
    const auto biased = [](const Tensors& a) { return Tensors{layer_norm(a[0], a[1], a[2])}; };
    testing::expect_formula(plain, formula, {x, weight}, device, 1e-5, offset);
    testing::expect_formula(biased, formula, {x, weight, bias}, device, 1e-5, offset);
    const auto squares = [](const Tensors& a) { return Tensors{rms_norm(a[0], a[1])}; };
    const auto formula_of_squares = [](const Tensors& a) {
        return Tensors{a[1] * a[0] / torch::sqrt((a[0] * a[0]).mean(-1, true) + 1e-6)};
    };
    testing::expect_formula(squares, formula_of_squares, {normal({1, rows, width}), weight}, device, 1e-5,
                            offset);
}

TEST(LayerNorm, IsItsFormula) {
    for (const int64_t width : {12, 128}) expect_norms(torch::kCPU, 9, width);
}

TEST(LayerNorm, WithoutMeanNeedsNoWeight) {
    const auto x = torch::randn({2, 3, 5});
    EXPECT_TRUE(torch::equal(rms_norm(x, Tensor{}), rms_norm(x, torch::ones({5}))));
}

TEST(LayerNormOnCuda, IsItsFormula) {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "Torch finds no GPU";
    for (const int64_t width : {12, 128, 256, 384, 512, 640, 768, 896, 1024, 1152})
        for (const int64_t rows : {1, 7, 8, 1000, 16320}) expect_norms(torch::kCUDA, rows, width);
    for (const int64_t width : {128, 1024})
        for (const int64_t offset : {1, 2, 3}) expect_norms(torch::kCUDA, 100, width, offset);
}

}  // namespace
}  // namespace spectra::train
