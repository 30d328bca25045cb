#include "train/modules/mappings.hpp"

#include "train/modules/maps.hpp"

#if SPECTRA_TORCH_CUDA
#include <c10/cuda/CUDAStream.h>

#include "train/modules/fast_kernels.hpp"
#include "train/modules/mappings_kernels.hpp"
#endif

namespace spectra::train {

using torch::Tensor;

#if SPECTRA_TORCH_CUDA

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// (rows, k), the numbers of a row one after the other.
Tensor rows_of(const Tensor& x) {
    auto rows = x.reshape({-1, x.size(-1)});
    return rows.stride(1) == 1 ? rows : rows.contiguous();
}

cuda::MappingSizes sizes_of(const Tensor& rows, int64_t n) {
    return {rows.size(0), static_cast<int>(n), rows.stride(0)};
}

std::vector<int64_t> shape_like(const Tensor& x, std::initializer_list<int64_t> last) {
    auto shape = x.sizes().vec();
    shape.pop_back();
    shape.insert(shape.end(), last);
    return shape;
}

struct SoftmaxRoutes : torch::autograd::Function<SoftmaxRoutes> {
    static tensor_list forward(AutogradContext* context, const Tensor& logits, int64_t n,
                               double temperature) {
        const auto rows = rows_of(logits);
        auto pre = torch::empty(shape_like(logits, {n}), logits.options()), post = torch::empty_like(pre);
        cuda::softmax_routes(rows.data_ptr<float>(), static_cast<float>(temperature), pre.data_ptr<float>(),
                             post.data_ptr<float>(), sizes_of(rows, n), c10::cuda::getCurrentCUDAStream());
        context->save_for_backward({logits});
        context->saved_data["n"] = n;
        context->saved_data["temperature"] = temperature;
        return {pre, post};
    }

    static tensor_list backward(AutogradContext* context, const tensor_list& slopes) {
        const auto logits = context->get_saved_variables()[0];
        const auto rows = rows_of(logits);
        const auto pre = slopes[0].contiguous(), post = slopes[1].contiguous();
        auto slope = torch::empty(logits.sizes(), logits.options());
        cuda::softmax_routes_slope(pre.data_ptr<float>(), post.data_ptr<float>(), rows.data_ptr<float>(),
                                   static_cast<float>(context->saved_data["temperature"].toDouble()),
                                   slope.data_ptr<float>(), sizes_of(rows, context->saved_data["n"].toInt()),
                                   c10::cuda::getCurrentCUDAStream());
        return {slope, {}, {}};
    }
};

struct IteratedCayley : torch::autograd::Function<IteratedCayley> {
    static Tensor forward(AutogradContext* context, const Tensor& raw, int64_t n, double step,
                          int64_t iterations) {
        const auto rows = rows_of(raw);
        auto y = torch::empty(shape_like(raw, {n, n}), raw.options());
        cuda::cayley_iterative(rows.data_ptr<float>(), static_cast<float>(step), static_cast<int>(iterations),
                               y.data_ptr<float>(), sizes_of(rows, n), c10::cuda::getCurrentCUDAStream());
        context->save_for_backward({raw});
        context->saved_data["n"] = n;
        context->saved_data["step"] = step;
        context->saved_data["iterations"] = iterations;
        return y;
    }

    static tensor_list backward(AutogradContext* context, const tensor_list& slopes) {
        const auto raw = context->get_saved_variables()[0];
        const auto rows = rows_of(raw);
        const auto g = slopes[0].contiguous();
        auto slope = torch::empty(raw.sizes(), raw.options());
        cuda::cayley_iterative_slope(
            g.data_ptr<float>(), rows.data_ptr<float>(),
            static_cast<float>(context->saved_data["step"].toDouble()),
            static_cast<int>(context->saved_data["iterations"].toInt()), slope.data_ptr<float>(),
            sizes_of(rows, context->saved_data["n"].toInt()), c10::cuda::getCurrentCUDAStream());
        return {slope, {}, {}, {}};
    }
};

bool fits(const Tensor& x, int64_t n) {
    return FastKernels::take(x) && n >= 2 && n <= 8;
}

}  // namespace

#endif

std::pair<Tensor, Tensor> softmax_routes(const Tensor& logits, int64_t n, double temperature) {
#if SPECTRA_TORCH_CUDA
    if (fits(logits, n)) {
        const auto both = SoftmaxRoutes::apply(logits, n, temperature);
        return {both[0], both[1]};
    }
#endif
    const auto scaled = (temperature == 1 ? logits : logits / temperature).unflatten(-1, {2, n, n});
    return {torch::softmax(scaled.select(-3, 0), -1).mean(-2),
            torch::softmax(scaled.select(-3, 1), -2).sum(-1)};
}

Tensor iterated_cayley(const Tensor& raw, int64_t n, double step, int iterations) {
#if SPECTRA_TORCH_CUDA
    if (fits(raw, n)) return IteratedCayley::apply(raw, n, step, iterations);
#endif
    const auto r = raw.unflatten(-1, {n, n});
    return cayley_iterative(r - r.mT(), step, iterations);
}

}  // namespace spectra::train
