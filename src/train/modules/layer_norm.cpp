#include "train/modules/layer_norm.hpp"

#if SPECTRA_TORCH_CUDA
#include <c10/cuda/CUDAStream.h>

#include "train/modules/fast_kernels.hpp"
#include "train/modules/layer_norm_kernels.hpp"
#endif

namespace spectra::train {

using torch::Tensor;

namespace {

constexpr double epsilon = 1e-5;

}  // namespace

#if SPECTRA_TORCH_CUDA

namespace {

bool is_plain(const Tensor& x) {
    return x.is_cuda() && x.scalar_type() == torch::kFloat;
}

struct LayerNorm : torch::autograd::Function<LayerNorm> {
    static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& weight) {
        const auto width = x.size(-1), rows = x.numel() / width;
        const auto plain = aligned(x);
        auto y = torch::empty_like(plain), mean = torch::empty({rows}, x.options()),
             scale = torch::empty({rows}, x.options());
        cuda::layer_norm(plain.data_ptr<float>(), weight.data_ptr<float>(), y.data_ptr<float>(),
                         mean.data_ptr<float>(), scale.data_ptr<float>(), rows, width,
                         static_cast<float>(epsilon), c10::cuda::getCurrentCUDAStream());
        context->save_for_backward({plain, weight, mean, scale});
        return y;
    }

    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::tensor_list& slopes) {
        const auto saved = context->get_saved_variables();
        const auto &x = saved[0], &weight = saved[1];
        const auto width = x.size(-1), rows = x.numel() / width;
        const auto g = aligned(slopes[0]);
        auto slope = torch::empty_like(x),
             parts = torch::empty({cuda::layer_norm_parts(rows), width}, x.options());
        cuda::layer_norm_slope(g.data_ptr<float>(), x.data_ptr<float>(), weight.data_ptr<float>(),
                               saved[2].data_ptr<float>(), saved[3].data_ptr<float>(),
                               slope.data_ptr<float>(), parts.data_ptr<float>(), rows, width,
                               c10::cuda::getCurrentCUDAStream());
        return {slope, parts.sum(0)};
    }
};

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight) {
    if (FastKernels::on() && is_plain(x) && is_plain(weight) && cuda::layer_norm_fits(weight.numel()))
        return LayerNorm::apply(x, weight);
    return torch::layer_norm(x, weight.sizes(), weight, {}, epsilon);
}

#else

Tensor layer_norm(const Tensor& x, const Tensor& weight) {
    return torch::layer_norm(x, weight.sizes(), weight, {}, epsilon);
}

#endif

}  // namespace spectra::train
