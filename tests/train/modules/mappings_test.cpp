#include "train/modules/mappings.hpp"

#include "fast_kernels_check.hpp"
#include "train/modules/maps.hpp"

namespace spectra::train {
namespace {

using testing::Tensors;
using torch::Tensor;

/// Exponentials over their sums, averaged over the rows of the first matrix and summed over the columns of the second.
Tensors plain_routes(const Tensor& logits, int64_t n, double temperature) {
    const auto weights = torch::exp(logits / temperature);
    auto pre = torch::zeros({logits.size(0), logits.size(1), n}, logits.options()),
         post = torch::zeros_like(pre);
    for (int64_t i = 0; i < n; ++i) {
        const auto row = weights.narrow(-1, i * n, n);
        pre = pre + row / row.sum(-1, true) / n;
        Tensors column;
        for (int64_t k = 0; k < n; ++k) column.push_back(weights.select(-1, n * n + k * n + i));
        const auto stacked = torch::stack(column, -1);
        post = post + stacked / stacked.sum(-1, true);
    }
    return {pre, post};
}

/// The series I + αW + (α/2)W(I + Y) by its steps.
Tensor plain_cayley(const Tensor& raw, int64_t n, double step, int iterations) {
    const auto r = raw.reshape({raw.size(0), raw.size(1), n, n});
    const auto w = r - r.transpose(-1, -2);
    const auto one = torch::eye(n, raw.options());
    auto y = one + step * w;
    for (int s = 0; s < iterations; ++s)
        y = one + 0.5 * step * torch::einsum("btij,btjk->btik", {w, one + y});
    return y;
}

/// Both read parts of a token's numbers, which lie between others.
void expect_mappings(torch::Device device, int64_t tokens, int64_t n, double temperature, int iterations) {
    SCOPED_TRACE(std::to_string(tokens) + " tokens, n = " + std::to_string(n) + ", temperature " +
                 std::to_string(temperature) + ", " + std::to_string(iterations) + " iterations");
    torch::manual_seed(1);
    const auto all = 2 * torch::randn({2, tokens, 3 * n * n + 1}, torch::kDouble);
    const auto logits = [n](const Tensor& a) { return a.narrow(-1, 1, 2 * n * n); };
    testing::expect_formula(
        [&](const Tensors& a) {
            const auto [pre, post] = softmax_routes(logits(a[0]), n, temperature);
            return Tensors{pre, post};
        },
        [&](const Tensors& a) { return plain_routes(logits(a[0]), n, temperature); }, {all}, device);
    const auto raw = [n](const Tensor& a) { return a.narrow(-1, 2 * n * n, n * n); };
    testing::expect_formula(
        [&](const Tensors& a) { return Tensors{iterated_cayley(raw(a[0]), n, 0.1, iterations)}; },
        [&](const Tensors& a) { return Tensors{plain_cayley(raw(a[0]), n, 0.1, iterations)}; }, {all},
        device);
}

TEST(Mappings, AreTheirFormulas) {
    for (const int64_t n : {2, 4, 9})
        for (const double temperature : {1.0, 0.5}) expect_mappings(torch::kCPU, 5, n, temperature, 2);
}

TEST(MappingsOnCuda, AreTheirFormulas) {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "Torch finds no GPU";
    for (const int64_t n : {2, 3, 4, 5, 6, 7, 8, 9})
        for (const int64_t tokens : {1, 31, 33, 200})
            for (const int iterations : {1, 2, 5}) expect_mappings(torch::kCUDA, tokens, n, 0.7, iterations);
    expect_mappings(torch::kCUDA, 8160, 4, 1.0, 2);
}

/// One matrix for all tokens, as parameters are.
TEST(Mappings, OfOneRowAreThoseOfBatches) {
    const auto raw = torch::randn({16});
    EXPECT_TRUE(torch::allclose(iterated_cayley(raw, 4, 0.1, 2),
                                iterated_cayley(raw.expand({2, 3, 16}), 4, 0.1, 2)[1][2]));
}

}  // namespace
}  // namespace spectra::train
