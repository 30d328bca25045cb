#include "train/modules/streams.hpp"

#if SPECTRA_TORCH_CUDA
#include <c10/cuda/CUDAStream.h>

#include "train/modules/fast_kernels.hpp"
#include "train/modules/streams_kernels.hpp"
#endif

namespace spectra::train {

using torch::Tensor;

namespace {

/// (B, T, n, p)
Tensor by_stream(const Tensor& x, int64_t n) {
    return x.view({x.size(0), x.size(1), n, x.size(2) / n});
}

}  // namespace

#if SPECTRA_TORCH_CUDA

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

float* numbers(const Tensor& x) {
    return x.defined() ? x.data_ptr<float>() : nullptr;
}

cuda::StreamSizes sizes_of(const Tensor& x, int64_t n) {
    return {x.size(0) * x.size(1), static_cast<int>(n), static_cast<int>(x.size(2) / n)};
}

bool fit(const Tensor& x, int64_t n) {
    return FastKernels::take(x) && cuda::streams_fit(n, x.size(2) / n);
}

struct ReadStreams : torch::autograd::Function<ReadStreams> {
    static Tensor forward(AutogradContext* context, const Tensor& pre, const Tensor& x, int64_t copies) {
        const auto weights = pre.contiguous(), streams = aligned(x);
        const auto n = pre.size(-1);
        auto y = torch::empty({x.size(0), x.size(1), copies * x.size(2) / n}, x.options());
        cuda::read_streams(numbers(weights), numbers(streams), numbers(y), static_cast<int>(copies),
                           sizes_of(x, n), c10::cuda::getCurrentCUDAStream());
        context->save_for_backward({weights, streams});
        context->saved_data["copies"] = copies;
        return y;
    }

    static tensor_list backward(AutogradContext* context, const tensor_list& slopes) {
        const auto saved = context->get_saved_variables();
        const auto &pre = saved[0], &x = saved[1];
        const auto g = aligned(slopes[0]);
        auto pre_slope = torch::empty_like(pre), x_slope = torch::empty_like(x);
        cuda::read_streams_slope(numbers(g), numbers(pre), numbers(x), numbers(pre_slope), numbers(x_slope),
                                 static_cast<int>(context->saved_data["copies"].toInt()),
                                 sizes_of(x, pre.size(-1)), c10::cuda::getCurrentCUDAStream());
        return {pre_slope, x_slope, {}};
    }
};

struct WriteStreams : torch::autograd::Function<WriteStreams> {
    static cuda::Written written(const Tensor& matrix, const Tensor& x, const Tensor& post, const Tensor& y) {
        return {numbers(matrix), numbers(x), numbers(post), numbers(y),
                y.defined() && y.size(2) == x.size(2)};
    }

    static Tensor forward(AutogradContext* context, const Tensor& matrix, const Tensor& x,
                          const OptionalTensor& post, const OptionalTensor& y) {
        const auto h = matrix.contiguous(), streams = aligned(x);
        const auto weights = post ? post->contiguous() : Tensor{}, added = y ? aligned(*y) : Tensor{};
        auto out = torch::empty_like(streams);
        cuda::write_streams(written(h, streams, weights, added), numbers(out), sizes_of(x, h.size(-1)),
                            c10::cuda::getCurrentCUDAStream());
        context->save_for_backward({h, streams, weights, added});
        return out;
    }

    static tensor_list backward(AutogradContext* context, const tensor_list& slopes) {
        const auto saved = context->get_saved_variables();
        const auto &h = saved[0], &x = saved[1], &post = saved[2], &y = saved[3];
        const auto g = aligned(slopes[0]);
        auto h_slope = torch::empty_like(h), x_slope = torch::empty_like(x);
        auto post_slope = y.defined() ? torch::empty_like(post) : Tensor{},
             y_slope = y.defined() ? torch::empty_like(y) : Tensor{};
        cuda::write_streams_slope(numbers(g), written(h, x, post, y),
                                  {numbers(h_slope), numbers(x_slope), numbers(post_slope), numbers(y_slope)},
                                  sizes_of(x, h.size(-1)), c10::cuda::getCurrentCUDAStream());
        return {h_slope, x_slope, post_slope, y_slope};
    }
};

/// One matrix a token.
Tensor by_token(const Tensor& matrix, const Tensor& x) {
    const auto n = matrix.size(-1);
    return matrix.expand({x.size(0), x.size(1), n, n});
}

}  // namespace

#endif

Tensor read_streams(const Tensor& pre, const Tensor& x, bool all_streams) {
    const auto n = pre.size(-1);
#if SPECTRA_TORCH_CUDA
    if (fit(x, n) && FastKernels::take(pre)) return ReadStreams::apply(pre, x, all_streams ? n : 1);
#endif
    const auto sum = torch::matmul(pre.unsqueeze(-2).to(x.scalar_type()), by_stream(x, n)).squeeze(-2);
    return all_streams ? sum.repeat({1, 1, n}) : sum;
}

Tensor apply_mixer(const Tensor& matrix, const Tensor& x) {
    const auto n = matrix.size(-1);
#if SPECTRA_TORCH_CUDA
    if (fit(x, n) && FastKernels::take(matrix))
        return WriteStreams::apply(by_token(matrix, x), x, OptionalTensor(), OptionalTensor());
#endif
    return torch::matmul(matrix.to(x.scalar_type()), by_stream(x, n)).reshape(x.sizes());
}

Tensor write_streams(const Tensor& matrix, const Tensor& x, const Tensor& post, const Tensor& y) {
    const auto n = post.size(-1);
#if SPECTRA_TORCH_CUDA
    if (matrix.defined() && fit(x, n) && FastKernels::take(matrix) && FastKernels::take(post) &&
        FastKernels::take(y))
        return WriteStreams::apply(by_token(matrix, x), x, OptionalTensor(post), OptionalTensor(y));
#endif
    const auto streams_of_y = y.size(2) == x.size(2) ? by_stream(y, n) : y.unsqueeze(-2);
    const auto mixed = matrix.defined() ? apply_mixer(matrix, x) : x;
    return mixed + (post.unsqueeze(-1) * streams_of_y).reshape(x.sizes());
}

}  // namespace spectra::train
