#include "jacobian/jacobian.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "random/stream.hpp"

namespace spectra::jacobian {

using torch::Tensor;

namespace {

constexpr int64_t largest_block = 1024;

/// Peak memory, in bytes, of tensors made in this thread while it was listening.
class MemoryMeter final : public c10::MemoryReportingInfoBase {
public:
#if SPECTRA_TORCH_AT_LEAST(2, 0)
    using Total = size_t;
#else
    using Total = int64_t;
#endif
    void reportMemoryUsage(void* /*ptr*/, int64_t size, Total, Total, c10::Device) override {
        now_ += size;
        most_ = std::max(most_, now_);
    }
    bool memoryProfilingEnabled() const override {
        return true;
    }
    std::size_t most() const {
        return static_cast<std::size_t>(most_);
    }

private:
    int64_t now_ = 0, most_ = 0;
};

/// Disables attention kernels that cannot be differentiated twice while it exists.
class TwiceDifferentiable {
public:
#if SPECTRA_TORCH_AT_LEAST(2, 0)
    TwiceDifferentiable() {
        at::globalContext().setSDPUseFlash(false);
        at::globalContext().setSDPUseMemEfficient(false);
    }
    ~TwiceDifferentiable() {
        at::globalContext().setSDPUseFlash(flash_);
        at::globalContext().setSDPUseMemEfficient(efficient_);
    }
    TwiceDifferentiable(const TwiceDifferentiable&) = delete;
    TwiceDifferentiable& operator=(const TwiceDifferentiable&) = delete;

private:
    bool flash_ = at::globalContext().userEnabledFlashSDP();
    bool efficient_ = at::globalContext().userEnabledMemEfficientSDP();
#else
    // A variable of this type counts as used because this is not defaulted.
    TwiceDifferentiable() {}  // NOLINT(modernize-use-equals-default)
#endif
};

/// x as a batch of equal rows that require gradients.
Tensor replicated(const Tensor& x, int64_t rows) {
    auto sizes = x.sizes().vec();
    sizes.insert(sizes.begin(), rows);
    return x.detach().unsqueeze(0).expand(sizes).clone().requires_grad_();
}

/// f of a batch, as rows.
Tensor rows_of(const BatchFunction& f, const Tensor& batch) {
    const auto y = f(batch);
    if (y.dim() == 0 || y.size(0) != batch.size(0))
        throw std::invalid_argument(fmt::format("a function of {} inputs returned a result of shape ({})",
                                                batch.size(0), fmt::join(y.sizes(), ", ")));
    return y.reshape({y.size(0), -1});
}

Tensor gradient(const Tensor& y, const Tensor& x, const Tensor& seed, bool again, bool twice = false) {
    if (!y.requires_grad()) return torch::zeros_like(x);
    const auto out = torch::autograd::grad({y}, {x}, {seed}, again, twice, true)[0];
    return out.defined() ? out : torch::zeros_like(x);
}

std::size_t pass_memory(const Tensor& x, const JacobianOptions& options) {
    if (options.memory > 0) return options.memory;
    return std::size_t{1} << (x.is_cuda() ? 33U : 26U);
}

/// Rows per pass: each takes the memory that its forward pass keeps, and as much again for the backward pass.
int64_t fitting_block(const BatchFunction& f, const Tensor& x, const JacobianOptions& options) {
    if (!options.batched) return 1;
    if (options.block > 0) return options.block;
    const auto meter = std::make_shared<MemoryMeter>();
    {
        const c10::DebugInfoGuard listening(c10::DebugInfoKind::PROFILER_STATE, meter);
        rows_of(f, replicated(x, 1));
    }
    const auto fitting = pass_memory(x, options) / std::max<std::size_t>(2 * meter->most(), 1);
    return std::clamp<int64_t>(static_cast<int64_t>(fitting), 1, largest_block);
}

Tensor on_host(const Tensor& t) {
    return t.detach().to(torch::kCPU, torch::kDouble);
}

Tensor jacobian_by_blocks(const BatchFunction& f, const Tensor& x, int64_t outputs, int64_t block) {
    auto jacobian = torch::empty({outputs, x.numel()}, torch::kDouble);
    for (int64_t begin = 0; begin < outputs; begin += block) {
        const auto rows = std::min(block, outputs - begin);
        const auto batch = replicated(x, rows);
        const auto y = rows_of(f, batch);
        auto seed = torch::zeros_like(y);
        seed.narrow(1, begin, rows).diagonal().fill_(1);
        jacobian.narrow(0, begin, rows).copy_(gradient(y, batch, seed, false).reshape({rows, -1}));
    }
    return jacobian;
}

Tensor jacobian_by_rows(const BatchFunction& f, const Tensor& x) {
    const auto batch = replicated(x, 1);
    const auto y = rows_of(f, batch);
    auto jacobian = torch::empty({y.numel(), x.numel()}, torch::kDouble);
    for (int64_t i = 0; i < y.numel(); ++i) {
        auto seed = torch::zeros_like(y);
        seed[0][i] = 1;
        jacobian[i].copy_(gradient(y, batch, seed, true).flatten());
    }
    return jacobian;
}

void check_finite(const Tensor& jacobian) {
    if (!jacobian.isfinite().all().item<bool>())
        throw std::runtime_error("the Jacobian has entries that are not finite");
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Tensor exact_jacobian(const BatchFunction& f, const Tensor& x, const JacobianOptions& options) {
    const torch::AutoGradMode on(true);
    Tensor jacobian;
    if (options.batched) {
        const auto outputs = rows_of(f, replicated(x, 1)).size(1);
        jacobian = jacobian_by_blocks(f, x, outputs, fitting_block(f, x, options));
    } else {
        jacobian = jacobian_by_rows(f, x);
    }
    check_finite(jacobian);
    return jacobian;
}

bool takes_batches(const BatchFunction& f, const Tensor& x) {
    const torch::NoGradGuard no_grad;
    try {
        // With another input in the batch, a function of the whole batch would give a different value.
        const auto alone = rows_of(f, x.detach().unsqueeze(0));
        const auto both = rows_of(f, torch::stack({x.detach(), 0.5 * x.detach()}));
        if (both.size(1) != alone.size(1)) return false;
        const double tolerance = x.scalar_type() == torch::kDouble ? 1e-12 : 1e-4;
        const double scale = alone.abs().max().item<double>();
        return (both[0] - alone[0]).abs().max().item<double>() <= tolerance * scale;
    } catch (const std::exception&) {
        return false;
    }
}

std::vector<double> singular_values(const Tensor& matrix) {
    const auto s = torch::linalg_svdvals(on_host(matrix)).contiguous();
    return {s.data_ptr<double>(), s.data_ptr<double>() + s.numel()};
}

Tensor normal_vector(int64_t size, std::uint64_t seed, std::uint32_t number, std::uint32_t input) {
    auto out = torch::empty({size}, torch::kDouble);
    random::Stream(seed, random::Purpose::probe, number, input)
        .fill_normal({out.data_ptr<double>(), static_cast<std::size_t>(size)});
    return out;
}

JacobianOperator::JacobianOperator(BatchFunction f, Tensor x, const JacobianOptions& options, Forward forward)
    : f_(std::move(f)), x_(x.detach()), inputs_(x.numel()), forward_(forward) {
    const torch::AutoGradMode on(true);
    const TwiceDifferentiable attention;
    outputs_ = rows_of(f_, replicated(x_, 1)).size(1);
    // The graph of the double backward pass is kept too.
    first_block_ = block_ = std::max<int64_t>(fitting_block(f_, x_, options) / 2, 1);
    settle_forward();
}

void JacobianOperator::settle_forward() {
    const bool wide = x_.scalar_type() == torch::kDouble;
    if (forward_ == Forward::automatic) {
        try {
            pushed(torch::zeros({1, inputs_}, x_.options()));
            forward_ = Forward::double_backward;
        } catch (const std::exception& error) {
            if (!wide)
                throw std::invalid_argument(
                    "products with the Jacobian: the gradient of an operation cannot be differentiated, and "
                    "differences in single precision would be wrong by 1e-3; use double precision");
            forward_ = Forward::differences;
        }
        graph_ = {};
    }
    if (forward_ == Forward::differences && !wide)
        throw std::invalid_argument("products with the Jacobian by differences need double precision");
}

JacobianOperator::Graph& JacobianOperator::graph(int64_t rows) {
    if (!graph_.x.defined() || graph_.x.size(0) != rows) {
        graph_ = {};
        graph_.x = replicated(x_, rows);
        graph_.y = rows_of(f_, graph_.x);
    }
    return graph_;
}

Tensor JacobianOperator::back(const Tensor& u) {
    auto& g = graph(u.size(0));
    return gradient(g.y, g.x, u, true).reshape({u.size(0), inputs_});
}

Tensor JacobianOperator::along(const Tensor& v) {
    return forward_ == Forward::differences ? differences(v) : pushed(v);
}

Tensor JacobianOperator::pushed(const Tensor& v) {
    auto& g = graph(v.size(0));
    if (!g.pullback.defined()) {
        g.seed = torch::zeros_like(g.y).requires_grad_();
        g.pullback = gradient(g.y, g.x, g.seed, true, true).reshape({v.size(0), inputs_});
    }
    return gradient(g.pullback, g.seed, v, true);
}

Tensor JacobianOperator::differences(const Tensor& v) const {
    const torch::NoGradGuard no_grad;
    const auto rows = v.size(0);
    const auto x = x_.reshape({1, -1});
    const double size = x.norm().item<double>();
    const auto length = v.norm(2, 1, true);
    const auto h =
        (size > 0 ? size : 1.0) * 1e-3 / torch::where(length > 0, length, torch::ones_like(length));
    auto shape = x_.sizes().vec();
    shape.insert(shape.begin(), rows);
    const auto at = [&](double steps) { return rows_of(f_, (x + steps * h * v).reshape(shape)); };
    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h);
}

Tensor JacobianOperator::block_of(RowProduct product, const Tensor& rows, int64_t filled) {
    auto block = torch::zeros({filled, rows.size(1)}, x_.options());
    block.narrow(0, 0, rows.size(0)).copy_(rows);
    return (this->*product)(block).detach().narrow(0, 0, rows.size(0)).to(rows.scalar_type());
}

Tensor JacobianOperator::by_blocks(RowProduct product, const Tensor& rows) {
    const auto begin = std::chrono::steady_clock::now();
    const torch::AutoGradMode on(true);
    const TwiceDifferentiable attention;
    std::vector<Tensor> images;
    const auto count = rows.size(0);
    for (int64_t done = 0; done < count;) {
        // All passes have the same number of rows, the last one padded, so that they share a graph.
        const auto passes = (count + block_ - 1) / block_, filled = (count + passes - 1) / passes;
        try {
            images.push_back(block_of(product, rows.narrow(0, done, std::min(filled, count - done)), filled));
            done += filled;
        } catch (const c10::OutOfMemoryError&) {
            if (block_ == 1) throw;
            graph_ = {};
            block_ /= 2;
        }
    }
    work_.products += count;
    auto out = images.size() == 1 ? images.front() : torch::cat(images);
    work_.seconds += seconds_since(begin);
    return out;
}

Tensor JacobianOperator::push(const Tensor& v) {
    return by_blocks(&JacobianOperator::along, v);
}

Tensor JacobianOperator::pull(const Tensor& u) {
    return by_blocks(&JacobianOperator::back, u);
}

void JacobianOperator::multiply(bool forwards, const double* in, double* out, int columns) {
    const auto size = static_cast<int64_t>(this->size());
    const auto given = torch::from_blob(const_cast<double*>(in), {columns, size}, torch::kDouble);
    auto result = torch::from_blob(out, {columns, size}, torch::kDouble);
    const auto image = forwards ? push(given.narrow(1, 0, inputs_)) : pull(given.narrow(1, 0, outputs_));
    result.zero_();
    result.narrow(1, 0, image.size(1)).copy_(image);
}

void JacobianOperator::apply(const double* in, double* out, int columns) {
    multiply(outputs_ >= inputs_, in, out, columns);
}

void JacobianOperator::apply_transpose(const double* in, double* out, int columns) {
    multiply(outputs_ < inputs_, in, out, columns);
}

void JacobianOperator::start_over() {
    graph_ = {};
    block_ = first_block_;
}

double JacobianOperator::adjoint_defect() {
    const torch::AutoGradMode on(true);
    const TwiceDifferentiable attention;
    const auto v = normal_vector(inputs_, 0, 0).reshape({1, -1});
    const auto u = normal_vector(outputs_, 0, 1).reshape({1, -1});
    const auto image = on_host(along(v.to(x_.options()))), pulled = on_host(back(u.to(x_.options())));
    const double defect = std::abs((u * image).sum().item<double>() - (pulled * v).sum().item<double>());
    const double scale = u.norm().item<double>() * image.norm().item<double>();
    return scale > 0 ? defect / scale : defect;
}

}  // namespace spectra::jacobian
