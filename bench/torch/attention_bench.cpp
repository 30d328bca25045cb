// Self-attention forward and backward on a GPU, in float: kernels of its own (modules/attention.hpp) beside Torch's, in turn.
//
//     attention_bench [BATCH TOKENS HEADS]     64 255 4

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "train/modules/attention.hpp"
#include "train/modules/fast_kernels.hpp"

namespace {

using namespace spectra::train;
using torch::Tensor;

constexpr int repeats = 9, calls = 50;

/// Milliseconds a call.
double milliseconds(const Tensor& packed, const Tensor& g, int64_t heads, bool causal, bool own) {
    const FastKernels fast(own);
    const auto call = [&] {
        auto x = packed.detach().requires_grad_();
        self_attention(x, heads, causal).backward(g);
    };
    for (int k = 0; k < 5; ++k) call();
    torch::cuda::synchronize();
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) call();
    torch::cuda::synchronize();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() /
           calls;
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + repeats / 2, values.end());
    return values[repeats / 2];
}

void print(int64_t batch, int64_t tokens, int64_t heads, int64_t width, bool causal) {
    torch::manual_seed(1);
    const auto options = torch::TensorOptions(torch::kCUDA);
    const auto packed = torch::randn({batch, tokens, 3 * heads * width}, options),
               g = torch::randn({batch, tokens, heads * width}, options);
    std::array<std::vector<double>, 2> times;  // Torch's, own
    for (int k = 0; k < repeats; ++k)
        for (const bool own : {false, true})
            times[own ? 1 : 0].push_back(milliseconds(packed, g, heads, causal, own));
    const double plain = median(times[0]), own = median(times[1]);
    std::printf("%6ld%9s%12.3f ms%12.3f ms%9.2f\n", static_cast<long>(width), causal ? "causal" : "all",
                plain, own, plain / own);
}

}  // namespace

int main(int argc, char** argv) {
    if (!torch::cuda::is_available()) {
        std::fputs("attention_bench: Torch finds no GPU\n", stderr);
        return 1;
    }
    const auto argument = [&](int k, long usual) { return k < argc ? std::atol(argv[k]) : usual; };
    const long batch = argument(1, 64), tokens = argument(2, 255), heads = argument(3, 4);
    std::printf("%ld x %ld tokens, %ld heads, float32, forward and backward\n", batch, tokens, heads);
    std::printf(" width     sees          Torch            own    ratio\n");
    for (const long width : {16, 32})
        for (const bool causal : {true, false}) print(batch, tokens, heads, width, causal);
}
