#include "train/modules/attention.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "checks.hpp"
#include "fast_kernels_check.hpp"

namespace spectra::train {
namespace {

using testing::normal;
using testing::Tensors;
using torch::Tensor;

/// softmax(q kᵀ/√h) v token by token and head by head.
Tensor plain_attention(const Tensor& packed, int64_t heads, bool causal) {
    const auto batch = packed.size(0), tokens = packed.size(1), width = packed.size(2) / (3 * heads);
    const auto all = packed.view({batch, tokens, 3, heads, width});
    Tensors rows;
    for (int64_t t = 0; t < tokens; ++t) {
        const auto seen = causal ? t + 1 : tokens;
        Tensors by_head;
        for (int64_t h = 0; h < heads; ++h) {
            const auto q = all.select(1, t).select(1, 0).select(1, h);  // (B, width)
            const auto k = all.narrow(1, 0, seen).select(2, 1).select(2, h),
                       v = all.narrow(1, 0, seen).select(2, 2).select(2, h);  // (B, seen, width)
            const auto scores = (k * q.unsqueeze(1)).sum(-1) / std::sqrt(static_cast<double>(width));
            const auto weights = torch::exp(scores - std::get<0>(scores.max(1, true)));
            by_head.push_back((weights.unsqueeze(-1) * v).sum(1) / weights.sum(1, true));
        }
        rows.push_back(torch::cat(by_head, -1));
    }
    return torch::stack(rows, 1);
}

struct AttentionCase {
    int64_t batch, tokens, heads, width;
    bool causal;
    double size = 1;     ///< of queries and keys: scores of size² √width
    int64_t offset = 0;  ///< numbers before x in its memory
};

std::string words(const AttentionCase& c) {
    return std::to_string(c.batch) + " x " + std::to_string(c.tokens) + " tokens, " +
           std::to_string(c.heads) + " heads of " + std::to_string(c.width) + (c.causal ? ", causal" : "") +
           ", size " + std::to_string(c.size) + ", behind " + std::to_string(c.offset);
}

/// As in a step, in float on the device, against plain loops in double.
void expect_plain_loops(torch::Device device, const AttentionCase& c) {
    SCOPED_TRACE(words(c));
    torch::manual_seed(1);
    const auto channels = c.heads * c.width;
    auto x = normal({c.batch, c.tokens, 3 * channels});
    x.narrow(2, 0, 2 * channels) *= c.size;
    // A product of two numbers in split TF32 lacks up to 3 · 2⁻²⁰ of itself, and the slopes have gone through four such products;
    // scores of size s are off by s times as much, and so are the logarithms of the weights.
    testing::expect_formula(
        [&](const Tensors& a) { return Tensors{self_attention(a[0], c.heads, c.causal)}; },
        [&](const Tensors& a) { return Tensors{plain_attention(a[0], c.heads, c.causal)}; }, {x}, device,
        6e-6 * std::max(1.0, c.size * c.size), c.offset);
}

TEST(Attention, IsItsFormula) {
    for (const bool causal : {true, false})
        for (const int64_t tokens : {1, 7, 33}) expect_plain_loops(torch::kCPU, {2, tokens, 3, 8, causal});
}

/// Widths that have kernels and others; tokens around the sizes of tiles.
TEST(AttentionOnCuda, IsItsFormula) {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "Torch finds no GPU";
    for (const bool causal : {true, false})
        for (const int64_t width : {8, 16, 32, 64})
            for (const int64_t tokens : {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 127, 129, 255, 300})
                expect_plain_loops(torch::kCUDA, {2, tokens, 3, width, causal});
    for (const double size : {0.01, 3.0, 10.0}) expect_plain_loops(torch::kCUDA, {3, 100, 4, 32, true, size});
    for (const int64_t offset : {1, 2, 3}) expect_plain_loops(torch::kCUDA, {2, 65, 3, 32, true, 1, offset});
}

}  // namespace
}  // namespace spectra::train
