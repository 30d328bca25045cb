#include "train/modules/layer_norm.hpp"

#if SPECTRA_TORCH_CUDA
#include <c10/cuda/CUDAStream.h>

#include "train/modules/fast_kernels.hpp"
#include "train/modules/layer_norm_kernels.hpp"
#endif

namespace spectra::train {

using torch::Tensor;

namespace {

/// Torch's default, and that of norms without a mean.
constexpr double epsilon = 1e-5, epsilon_of_squares = 1e-6;

}  // namespace

#if SPECTRA_TORCH_CUDA

namespace {

/// `bias` may be undefined.
cuda::Norm norm_of(const Tensor& weight, const Tensor& bias, bool centred) {
    return {weight.data_ptr<float>(), bias.defined() ? bias.data_ptr<float>() : nullptr, centred,
            static_cast<float>(centred ? epsilon : epsilon_of_squares)};
}

struct LayerNorm : torch::autograd::Function<LayerNorm> {
    static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& weight,
                          const OptionalTensor& given_bias, bool centred) {
        const auto bias = given_bias.value_or(Tensor{});
        const auto width = x.size(-1), rows = x.numel() / width;
        const auto plain = aligned(x);
        auto y = torch::empty_like(plain), mean = torch::empty({rows}, x.options()),
             scale = torch::empty({rows}, x.options());
        cuda::layer_norm(plain.data_ptr<float>(), norm_of(weight, bias, centred), y.data_ptr<float>(),
                         mean.data_ptr<float>(), scale.data_ptr<float>(), rows, width,
                         c10::cuda::getCurrentCUDAStream());
        context->save_for_backward({plain, weight, mean, scale});
        context->saved_data["centred"] = centred;
        context->saved_data["biased"] = bias.defined();
        return y;
    }

    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::tensor_list& slopes) {
        const auto saved = context->get_saved_variables();
        const auto &x = saved[0], &weight = saved[1];
        const bool biased = context->saved_data["biased"].toBool();
        const auto width = x.size(-1), rows = x.numel() / width;
        const auto g = aligned(slopes[0]);
        const auto parts_shape = {int64_t{cuda::layer_norm_parts(rows)}, width};
        auto slope = torch::empty_like(x), parts = torch::empty(parts_shape, x.options()),
             bias_parts = biased ? torch::empty(parts_shape, x.options()) : Tensor{};
        cuda::layer_norm_slope(
            g.data_ptr<float>(), x.data_ptr<float>(),
            norm_of(weight, {}, context->saved_data["centred"].toBool()), saved[2].data_ptr<float>(),
            saved[3].data_ptr<float>(), slope.data_ptr<float>(), parts.data_ptr<float>(),
            biased ? bias_parts.data_ptr<float>() : nullptr, rows, width, c10::cuda::getCurrentCUDAStream());
        return {slope, parts.sum(0), biased ? bias_parts.sum(0) : Tensor{}, {}};
    }
};

bool fits(const Tensor& x, const Tensor& weight) {
    return FastKernels::take(x) && weight.defined() && FastKernels::take(weight) &&
           cuda::layer_norm_fits(weight.numel());
}

}  // namespace

#endif

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias) {
#if SPECTRA_TORCH_CUDA
    if (fits(x, weight)) return LayerNorm::apply(x, weight, OptionalTensor(bias), true);
#endif
    return torch::layer_norm(x, weight.sizes(), weight, bias, epsilon);
}

Tensor rms_norm(const Tensor& x, const Tensor& weight) {
#if SPECTRA_TORCH_CUDA
    if (fits(x, weight)) return LayerNorm::apply(x, weight, OptionalTensor(), false);
#endif
    const auto y = x * torch::rsqrt(x.square().mean(-1, true) + epsilon_of_squares);
    return weight.defined() ? y * weight : y;
}

}  // namespace spectra::train
