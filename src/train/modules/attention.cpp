#include "train/modules/attention.hpp"

#include <cmath>

#if SPECTRA_TORCH_CUDA
#include <c10/cuda/CUDAStream.h>

#include "train/modules/attention_kernels.hpp"
#include "train/modules/fast_kernels.hpp"
#endif

namespace spectra::train {

using torch::Tensor;

#if SPECTRA_TORCH_CUDA

namespace {

cuda::AttentionSizes sizes_of(const Tensor& packed, int64_t heads, bool causal) {
    return {static_cast<int>(packed.size(0)), static_cast<int>(packed.size(1)), static_cast<int>(heads),
            static_cast<int>(packed.size(2) / (3 * heads)), causal};
}

struct SelfAttention : torch::autograd::Function<SelfAttention> {
    static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, int64_t heads,
                          bool causal) {
        const auto packed = aligned(x);
        const auto sizes = sizes_of(packed, heads, causal);
        auto y = torch::empty({packed.size(0), packed.size(1), packed.size(2) / 3}, packed.options()),
             norms = torch::empty({packed.size(0), heads, packed.size(1)}, packed.options());
        cuda::self_attention(packed.data_ptr<float>(), y.data_ptr<float>(), norms.data_ptr<float>(), sizes,
                             c10::cuda::getCurrentCUDAStream());
        context->save_for_backward({packed, y, norms});
        context->saved_data["heads"] = heads;
        context->saved_data["causal"] = causal;
        return y;
    }

    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::tensor_list& slopes) {
        const auto saved = context->get_saved_variables();
        const auto &packed = saved[0], &y = saved[1], &norms = saved[2];
        const auto g = aligned(slopes[0]);
        auto slope = torch::empty_like(packed), along = torch::empty_like(norms);
        cuda::self_attention_slope(
            g.data_ptr<float>(), packed.data_ptr<float>(), y.data_ptr<float>(), norms.data_ptr<float>(),
            along.data_ptr<float>(), slope.data_ptr<float>(),
            sizes_of(packed, context->saved_data["heads"].toInt(), context->saved_data["causal"].toBool()),
            c10::cuda::getCurrentCUDAStream());
        return {slope, {}, {}};
    }
};

bool fits(const Tensor& packed, int64_t heads) {
    return FastKernels::take(packed) &&
           cuda::self_attention_fits(packed.size(1), packed.size(2) / (3 * heads));
}

}  // namespace

#endif

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
#if SPECTRA_TORCH_AT_LEAST(2, 0)
    return at::scaled_dot_product_attention(q, k, v, {}, 0.0, causal);
#else
    const auto steps = q.size(-2);
    const auto scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
    auto scores = torch::matmul(q * scale, k.transpose(-2, -1));
    if (causal)
        scores = scores.masked_fill(torch::ones({steps, steps}, q.options().dtype(torch::kBool)).triu(1),
                                    -INFINITY);
    return torch::matmul(torch::softmax(scores, -1), v);
#endif
}

Tensor self_attention(const Tensor& packed, int64_t heads, bool causal) {
#if SPECTRA_TORCH_CUDA
    if (fits(packed, heads)) return SelfAttention::apply(packed, heads, causal);
#endif
    // Parts of the last axis, whose gradient is one copy.
    const auto parts = packed.chunk(3, -1);
    const auto& sizes = parts[0].sizes();
    const auto by_head = [&](const Tensor& part) {
        return part.view({sizes[0], sizes[1], heads, sizes[2] / heads}).transpose(1, 2);
    };
    return attention(by_head(parts[0]), by_head(parts[1]), by_head(parts[2]), causal)
        .transpose(1, 2)
        .reshape(sizes);
}

}  // namespace spectra::train
