#include "montecarlo/cuda/backend.hpp"

#include "montecarlo/cuda/bisection.cuh"
#include "montecarlo/cuda/forward.cuh"
#include "montecarlo/cuda/graded.cuh"
#include "montecarlo/cuda/householder.cuh"
#include "montecarlo/cuda/product.cuh"
#include "montecarlo/cuda/runtime.cuh"
#include "montecarlo/cuda/sampling.cuh"
#include "montecarlo/cuda/shared.cuh"
#include "montecarlo/cuda/two_stage.cuh"
#include "montecarlo/sample/sizes.hpp"
#include "random/stream.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <numbers>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace spectra::montecarlo::cuda {
namespace {

static_assert(static_cast<std::uint32_t>(random::Purpose::branch) == branch_purpose &&
              static_cast<std::uint32_t>(random::Purpose::slope) == slope_purpose);
static_assert(static_cast<int>(ActivationKind::relu) == relu &&
              static_cast<int>(ActivationKind::leaky_relu) == leaky_relu &&
              static_cast<int>(ActivationKind::tanh) == tanh_slope &&
              static_cast<int>(ActivationKind::hard_tanh) == hard_tanh &&
              static_cast<int>(ActivationKind::erf) == erf_slope &&
              static_cast<int>(ActivationKind::gelu) == gelu &&
              static_cast<int>(ActivationKind::silu) == silu &&
              static_cast<int>(ActivationKind::bernoulli) == bernoulli);

constexpr std::size_t largest_batch = 4096;
constexpr std::size_t batch_bytes = std::size_t{8} << 30U;  // more does not help

int exponent_of(const std::vector<Layer>& layers) {
    int exponent = 0;
    for (const auto& layer : layers) exponent += layer.exponent;
    return exponent;
}

/// ‖J‖_F² and a power of two, from ln s in ascending order.
Drawn from_values(std::span<const double> log_values, int info) {
    Drawn out{0, 0, info};
    const double top = log_values.back();
    if (!std::isfinite(top)) return out;
    out.exponent = std::lround(top / std::numbers::ln2);
    for (const double x : log_values)
        out.norm2 += std::exp(2 * (x - static_cast<double>(out.exponent) * std::numbers::ln2));
    return out;
}

/// The size of F.
int factor_size(const Layer& layer, int streams, int width) {
    return layer.hyper_connection() ? width : streams * width;
}

template <class Real>
class Device final : public Backend {
public:
    /// On the device of the calling thread.
    Device(int streams, int width, std::string name)
        : streams_(streams), width_(width), size_(streams * width), name_(std::move(name)) {
        check(cudaGetDevice(&device_), "cudaGetDevice");
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
        const std::size_t room = std::min(free / 10 * 8, batch_bytes);
        const std::size_t wanted = std::min(room / bytes_a_sample(), largest_batch);
        if (free / 10 * 8 < bytes_a_sample()) throw std::bad_alloc();
        batch_ = static_cast<int>(std::max<std::size_t>(wanted, 1));
        graded_batch_ = (batch_ + 2) / 3;  // for six more matrices
    }

    std::string device() const override { return name_; }
    int batch() const override { return batch_; }

    void draw(std::span<const std::vector<Layer>> layers, std::uint64_t seed, std::uint32_t first,
              std::span<Drawn> drawn, std::span<double> log_values) override {
        const auto n = unsigned_of(size_);
        draw_products(layers, seed, first, drawn, [&](Matrices<Real> product, std::size_t begin) {
            reduce(product);
            log_singular_values(size_, product.count, diagonal_.data(), beside_.data(), states_.data(),
                                values_.data(), stream_);
            check(cudaMemcpyAsync(log_values.data() + begin * n, values_.data(),
                                  unsigned_of(product.count) * n * sizeof(double), cudaMemcpyDeviceToHost,
                                  stream_),
                  "cudaMemcpy");
            if (in_two_stages()) two_stages_.confirm(stream_);
        });
    }

    void draw_graded(std::span<const std::vector<Layer>> layers, std::uint64_t seed,
                     std::span<const std::uint32_t> samples, std::span<Drawn> drawn,
                     std::span<double> log_values) override {
        if (samples.size() != drawn.size())
            throw std::invalid_argument("cuda::Backend: `samples` and `drawn` must have the same length");
        std::fill(drawn.begin(), drawn.end(), Drawn{});
        if constexpr (std::is_same_v<Real, double>) {
            if (size_ > max_graded_size) return;
            const auto n = unsigned_of(size_);
            in_batches(layers, drawn, graded_batch_, [&](Stacks own, std::size_t begin, std::size_t count) {
                one_graded_batch(own, seed, samples.subspan(begin, count), drawn.subspan(begin, count),
                                 log_values.subspan(begin * n, count * n));
            });
        }
    }

    void draw_matrices(std::span<const std::vector<Layer>> layers, std::uint64_t seed, std::uint32_t first,
                       std::span<Drawn> drawn, std::span<double> matrices) override {
        const auto n = unsigned_of(size_);
        std::vector<Real> host;
        draw_products(layers, seed, first, drawn, [&](Matrices<Real> product, std::size_t begin) {
            host.resize(unsigned_of(product.count) * product.stride);
            check(cudaMemcpyAsync(host.data(), product.data, host.size() * sizeof(Real),
                                  cudaMemcpyDeviceToHost, stream_),
                  "cudaMemcpy");
            stream_.wait();
            for (std::size_t s = 0; s < unsigned_of(product.count); ++s)
                for (std::size_t j = 0; j < n; ++j)
                    std::copy_n(host.data() + s * product.stride + j * unsigned_of(product.leading), n,
                                matrices.data() + ((begin + s) * n + j) * n);
        });
    }

private:
    std::size_t matrix_numbers(int size) const {
        return unsigned_of(size) * unsigned_of(leading_dimension(size));
    }

    /// Every branch needs three matrices, laws two more, and aligned branches another: the batch shrinks if that does not
    /// fit. Vectors are few.
    std::size_t bytes_a_sample() const {
        return (5 * matrix_numbers(size_) + 8 * unsigned_of(size_) + 64) * sizeof(Real) +
               (5 * unsigned_of(size_) + 64) * sizeof(double) +
               (in_two_stages() ? TwoStages<Real>::bytes(size_) : 0);
    }

    bool in_two_stages() const { return size_ >= two_stages_from; }

    /// To a bidiagonal, in diagonal_ and beside_.
    void reduce(Matrices<Real> product) {
        if (in_two_stages())
            bidiagonalise_in_two_stages(product, two_stages_, diagonal_.data(), beside_.data(), stream_);
        else
            bidiagonalise(product, exchange_, diagonal_.data(), beside_.data(), stream_);
    }

    /// Matrices in a buffer that grows as needed.
    Matrices<Real> matrices(Buffer<Real>& buffer, int size, int count) {
        Matrices<Real> out{nullptr, size, leading_dimension(size), matrix_numbers(size), count};
        out.data = reserve(buffer, out.stride * unsigned_of(count));
        return out;
    }
    template <class T>
    T* reserve(Buffer<T>& buffer, std::size_t numbers) {
        if (buffer.size() < numbers) {
            buffer = Buffer<T>();
            buffer = Buffer<T>(numbers);
        }
        return buffer.data();
    }

    using Stacks = std::span<const std::vector<Layer>>;

    /// Calls one(stacks of the batch, begin, count) for batches of `drawn`.
    template <class One>
    void in_batches(Stacks layers, std::span<Drawn> drawn, int& batch, One one) {
        const bool each = layers.size() > 1;
        if (layers.empty() || (each && layers.size() != drawn.size()))
            throw std::invalid_argument(
                "cuda::Backend: expected one stack of layers for all samples, or one per sample");
        check(cudaSetDevice(device_), "cudaSetDevice");  // another thread may have opened the device
        shared_.upload(layers.front(), stream_);
        for (std::size_t begin = 0; begin < drawn.size();) {
            const std::size_t count = std::min(drawn.size() - begin, unsigned_of(batch));
            try {
                one(each ? layers.subspan(begin, count) : layers, begin, count);
            } catch (const std::bad_alloc&) {
                if (batch <= 1 || count <= 1) throw;
                release();
                batch = static_cast<int>((count + 1) / 2);
                continue;
            }
            begin += count;
        }
    }

    template <class Finish>
    void draw_products(Stacks layers, std::uint64_t seed, std::uint32_t first, std::span<Drawn> drawn,
                       Finish finish) {
        in_batches(layers, drawn, batch_, [&](Stacks own, std::size_t begin, std::size_t count) {
            one_batch(own, seed, first + static_cast<std::uint32_t>(begin), drawn.subspan(begin, count),
                      [&](Matrices<Real> product) { finish(product, begin); });
        });
    }

    void release() {
        for (auto* buffer : {&product_, &next_, &layer_, &factor_, &rest_, &gaussian_, &turned_, &read_,
                             &written_, &diagonal_, &beside_, &kappa_, &sign_})
            *buffer = Buffer<Real>();
        for (auto* buffer : {&slopes_, &values_, &parameters_, &inputs_, &carried_, &branch_})
            *buffer = Buffer<double>();
        input_exponents_ = Buffer<int>();
        states_ = Buffer<SampleState>();
        graded_.release();
        two_stages_.release();
        largest_ = Buffer<unsigned long long>();
    }

    /// For each stack and layer: the mixer, the factor of the normals (or of a law's matrix), the
    /// exponent.
    void upload_parameters(std::span<const std::vector<Layer>> stacks) {
        const auto n = unsigned_of(streams_);
        host_parameters_.clear();
        for (const auto& layers : stacks) {
            for (const auto& layer : layers) {
                host_parameters_.insert(host_parameters_.end(), layer.mixer.data(),
                                        layer.mixer.data() + n * n);
                const double sigma = layer.neurons ? layer.neurons->sigma_w : layer.sigma;
                const double size = factor_size(layer, streams_, width_);
                host_parameters_.push_back(layer.law ? sigma : sigma / std::sqrt(size));
                host_parameters_.push_back(layer.exponent);
            }
        }
        reserve(parameters_, host_parameters_.size());
        check(cudaMemcpyAsync(parameters_.data(), host_parameters_.data(),
                              host_parameters_.size() * sizeof(double), cudaMemcpyHostToDevice, stream_),
              "cudaMemcpy");
    }

    template <class Finish>
    void one_batch(std::span<const std::vector<Layer>> stacks, std::uint64_t seed, std::uint32_t first,
                   std::span<Drawn> drawn, Finish finish) {
        const auto count = static_cast<int>(drawn.size());
        const auto& layers = stacks.front();
        upload_parameters(stacks);
        host_states_.resize(drawn.size());
        for (std::size_t s = 0; s < drawn.size(); ++s)
            host_states_[s] = {0, exponent_of(stacks[stacks.size() > 1 ? s : 0]), 0};
        reserve(states_, drawn.size());
        check(cudaMemcpyAsync(states_.data(), host_states_.data(), drawn.size() * sizeof(SampleState),
                              cudaMemcpyHostToDevice, stream_),
              "cudaMemcpy");
        const std::size_t maxima = layers.size() * drawn.size();
        reserve(largest_, maxima);
        check(cudaMemsetAsync(largest_.data(), 0, maxima * sizeof(unsigned long long), stream_),
              "cudaMemset");
        reserve(diagonal_, drawn.size() * unsigned_of(size_));
        reserve(beside_, drawn.size() * unsigned_of(size_));
        reserve(values_, drawn.size() * unsigned_of(size_));

        auto product = matrices(product_, size_, count);
        auto next = matrices(next_, size_, count);
        for (std::size_t l = 0; l < layers.size(); ++l) {
            auto* const largest = largest_.data() + l * drawn.size();
            const Step step = step_of(stacks, l, seed, first, 0, largest);
            if (l == 0 && layers[l].propagated()) {
                reserve_forward(count);
                forward_ = forward_from(0);
                begin_forward(step.draws, count);
            }
            if (l == 0) {
                first_layer(step, product);
                continue;
            }
            add_layer(step, product, next);
            std::swap(product, next);
            rescale(product, largest, std::is_same_v<Real, double> ? 100 : 4, states_.data(), stream_);
        }
        finish(product);
        check(cudaMemcpyAsync(host_states_.data(), states_.data(), drawn.size() * sizeof(SampleState),
                              cudaMemcpyDeviceToHost, stream_),
              "cudaMemcpy");
        stream_.wait();
        for (std::size_t s = 0; s < drawn.size(); ++s)
            drawn[s] = {host_states_[s].norm2, host_states_[s].exponent, host_states_[s].info};
    }

    struct Step {
        const Layer& layer;
        std::size_t number;
        Draws draws;
        Skip skip;
        PerSample scale;
        PerSample exponent;
        unsigned long long* largest;
    };

    /// Layer l of the samples first, first + 1, …, which have the numbers `begin`, begin + 1, … in the batch.
    Step step_of(Stacks stacks, std::size_t l, std::uint64_t seed, std::uint32_t first, std::size_t begin,
                 unsigned long long* largest) const {
        const auto& layers = stacks.front();
        const std::size_t layer_numbers = unsigned_of(streams_) * unsigned_of(streams_) + 2;
        const std::size_t stride = stacks.size() > 1 ? layers.size() * layer_numbers : 0;
        const double* const own = parameters_.data() + begin * stride + l * layer_numbers;
        return {layers[l],
                l,
                {seed, first, layers[l].weights.value_or(static_cast<std::uint32_t>(l))},
                {{own, stride}, streams_, width_},
                {own + layer_numbers - 2, stride},
                {own + layer_numbers - 1, stride},
                largest};
    }

    void one_graded_batch(Stacks stacks, std::uint64_t seed, std::span<const std::uint32_t> samples,
                          std::span<Drawn> drawn, std::span<double> log_values) {
        const auto count = static_cast<int>(samples.size());
        const auto& layers = stacks.front();
        upload_parameters(stacks);
        reserve(values_, log_values.size());
        const auto drawn_layer = matrices(product_, size_, count);
        graded_.start(size_, count, stream_);
        const bool forward = layers.front().propagated();
        if (forward) reserve_forward(count);
        for (std::size_t l = 0; l < layers.size(); ++l) {
            for (std::size_t begin = 0; begin < samples.size();) {
                std::size_t end = begin + 1;
                while (end < samples.size() && samples[end] == samples[end - 1] + 1) ++end;
                auto part = drawn_layer;
                part.data += begin * part.stride;
                part.count = static_cast<int>(end - begin);
                const Step step = step_of(stacks, l, seed, samples[begin], begin, nullptr);
                if (forward) forward_ = forward_from(begin);
                if (forward && l == 0) begin_forward(step.draws, part.count);
                first_layer(step, part);
                begin = end;
            }
            graded_.multiply(constant(drawn_layer), step_of(stacks, l, seed, 0, 0, nullptr).exponent,
                             stream_);
        }
        graded_.log_values(values_.data(), stream_);
        std::vector<GradedState> states(samples.size());
        check(cudaMemcpyAsync(log_values.data(), values_.data(), log_values.size_bytes(),
                              cudaMemcpyDeviceToHost, stream_),
              "cudaMemcpy");
        check(cudaMemcpyAsync(states.data(), graded_.states(), states.size() * sizeof(GradedState),
                              cudaMemcpyDeviceToHost, stream_),
              "cudaMemcpy");
        stream_.wait();
        const auto n = unsigned_of(size_);
        for (std::size_t s = 0; s < samples.size(); ++s)
            drawn[s] = from_values(log_values.subspan(s * n, n), states[s].info);
    }

    static Matrices<const Real> constant(const Matrices<Real>& m) {
        return {m.data, m.size, m.leading, m.stride, m.count};
    }

    void reserve_forward(int count) {
        const auto numbers = unsigned_of(count) * unsigned_of(size_);
        for (auto* buffer : {&inputs_, &carried_, &branch_}) reserve(*buffer, numbers);
        reserve(input_exponents_, unsigned_of(count));
    }
    /// For the sample `begin` of the batch and those after it.
    Forward forward_from(std::size_t begin) const {
        const auto numbers = begin * unsigned_of(size_);
        return {inputs_.data() + numbers, input_exponents_.data() + begin, carried_.data() + numbers,
                branch_.data() + numbers};
    }
    /// The inputs of networks run forward (forward.hpp), in forward_.
    void begin_forward(Draws draws, int count) {
        draw_inputs(size_, count, draws, forward_.values, stream_);
        check(cudaMemsetAsync(forward_.exponents, 0, unsigned_of(count) * sizeof(int), stream_),
              "cudaMemset");
    }

    /// The slopes of a layer's neurons, on the device; `out` is workspace.
    const double* slopes_of(const Step& step, Matrices<Real> out) {
        const auto& [activation, variance, sigma_w, source] = *step.layer.neurons;
        const int kind = static_cast<int>(activation.kind);
        reserve(slopes_, unsigned_of(out.count) * unsigned_of(out.size));
        if (source == Slopes::propagated) {
            draw_normals(out, step.draws, 0, step.scale, nullptr, {}, stream_);  // W
            preactivations(constant(out), forward_, stream_);
            advance(kind, step.exponent, step.skip, out.count, forward_, slopes_.data(), stream_);
        } else {
            Draws draws = step.draws;
            draws.layer = static_cast<std::uint32_t>(step.number);
            draw_slopes({kind, activation.probability, std::sqrt(variance)}, out.size, out.count, draws,
                        slopes_.data(), stream_);
        }
        return slopes_.data();
    }

    /// F with its size and slopes; plus skip.
    void draw_factor(const Step& step, Skip skip, Matrices<Real> out) {
        if (step.layer.kept) return draw_aligned(step, skip, out);
        if (step.layer.law) return draw_law(step, skip, out);
        const double* const slopes = step.layer.neurons ? slopes_of(step, out) : nullptr;
        draw_normals(out, step.draws, 0, step.scale, slopes, skip, stream_);
    }

    /// A layer without noise passes x on.
    void advance_without_noise(const Step& step, int count) {
        if (!step.layer.propagated()) return;
        advance(static_cast<int>(step.layer.neurons->activation.kind), step.exponent, step.skip, count,
                forward_, nullptr, stream_);
    }

    /// U diag(law) Vᵀ (haar.hpp).
    void draw_law(const Step& step, Skip skip, Matrices<Real> out) {
        const auto gaussian = matrices(gaussian_, out.size, out.count);
        const auto turned = matrices(turned_, out.size, out.count);
        const auto numbers = unsigned_of(out.count) * unsigned_of(out.size);
        reserve(kappa_, numbers);
        reserve(sign_, numbers);
        const auto normals = static_cast<std::uint32_t>(unsigned_of(out.size) * unsigned_of(out.size));
        const auto factorise = [&](std::uint32_t skipped) {
            draw_normals(gaussian, step.draws, skipped, {}, nullptr, {}, stream_);
            factorise_qr(gaussian, exchange_, kappa_.data(), sign_.data(), stream_);
        };
        factorise(0);
        apply_reflections(constant(gaussian), kappa_.data(), sign_.data(), shared_[step.number].law,
                          static_cast<const Real*>(nullptr), {}, {}, turned, stream_);
        factorise(normals);
        apply_reflections(constant(gaussian), kappa_.data(), sign_.data(), nullptr,
                          static_cast<const Real*>(turned.data), step.scale, skip, out, stream_);
    }

    /// fixed + left G rightᵀ + skip (struct Kept), G with the law of the rest.
    void draw_aligned(const Step& step, Skip skip, Matrices<Real> out) {
        const auto& shared = shared_[step.number];
        if (step.layer.law) {
            const int m = out.size, free = static_cast<int>(step.layer.law->size());
            const auto rest = matrices(rest_, free, out.count);
            draw_law(step, {}, rest);
            const auto half = matrices(turned_, m, out.count);  // its first `free` columns
            multiply<Real>(m, free, free, out.count, {shared.left, half.leading, 0},
                           {rest.data, rest.leading, rest.stride}, {half.data, half.leading, half.stride},
                           nullptr, stream_);
            multiply<Real>(m, free, m, out.count, {half.data, half.leading, half.stride},
                           {shared.right, rest.leading, 0}, {out.data, out.leading, out.stride}, nullptr,
                           stream_);
        }
        add_shared(out, shared.fixed, skip, step.layer.law != nullptr, stream_);
    }

    void first_layer(const Step& step, Matrices<Real> product) {
        const auto& layer = step.layer;
        if (layer.noiseless()) {
            advance_without_noise(step, product.count);
            fill_layer(product, step.skip, nullptr, nullptr, Matrices<const Real>{}, stream_);
        } else if (layer.hyper_connection()) {
            const auto& shared = shared_[step.number];
            const auto factor = matrices(factor_, width_, product.count);
            draw_factor(step, {}, factor);
            fill_layer(product, step.skip, shared.pre, shared.post, constant(factor), stream_);
            if (shared.derivative != nullptr) add_shared(product, shared.derivative, {}, true, stream_);
        } else {
            draw_factor(step, step.skip, product);
        }
    }

    void add_layer(const Step& step, Matrices<Real> product, Matrices<Real> next) {
        const auto& layer = step.layer;
        const int count = product.count;
        if (layer.noiseless()) {
            advance_without_noise(step, count);
            apply_mixer(constant(product), step.skip, nullptr, static_cast<const Real*>(nullptr), 0, 0, next,
                        step.largest, stream_);
        } else if (layer.hyper_connection() && shared_[step.number].derivative == nullptr) {
            const auto factor = matrices(factor_, width_, count);
            draw_factor(step, {}, factor);
            const int leading = leading_dimension(width_);
            const std::size_t stride = unsigned_of(leading) * unsigned_of(size_);
            reserve(read_, stride * unsigned_of(count));
            reserve(written_, stride * unsigned_of(count));
            read_streams(constant(product), streams_, shared_[step.number].pre, read_.data(), leading, stride,
                         stream_);
            multiply<Real>(width_, width_, size_, count, {factor.data, factor.leading, factor.stride},
                           {read_.data(), leading, stride}, {written_.data(), leading, stride}, nullptr,
                           stream_);
            apply_mixer(constant(product), step.skip, shared_[step.number].post,
                        static_cast<const Real*>(written_.data()), leading, stride, next, step.largest,
                        stream_);
        } else {
            const auto drawn = matrices(layer_, size_, count);
            first_layer(step, drawn);
            multiply<Real>(size_, size_, size_, count, {drawn.data, drawn.leading, drawn.stride},
                           {product.data, product.leading, product.stride},
                           {next.data, next.leading, next.stride}, step.largest, stream_);
        }
    }

    int streams_, width_, size_;
    int device_ = 0;
    std::string name_;
    int batch_ = 1, graded_batch_ = 1;
    Stream stream_;
    Shared<Real> shared_;
    std::vector<double> host_parameters_;
    std::vector<SampleState> host_states_;
    Buffer<Real> product_, next_, layer_, factor_, rest_, gaussian_, turned_, read_, written_, diagonal_,
        beside_, kappa_, sign_;
    Buffer<double> slopes_, values_, parameters_;
    Buffer<double> inputs_, carried_, branch_;
    Buffer<int> input_exponents_;
    Forward forward_;  // in these
    Exchange<Real> exchange_;
    TwoStages<Real> two_stages_;
    GradedProducts graded_;
    Buffer<SampleState> states_;
    Buffer<unsigned long long> largest_;
};

Backend* open_backend(int streams, int width, Precision precision, std::string& why_not, int local_rank) {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess || devices == 0) {
        why_not = status == cudaSuccess ? "no CUDA device" : cudaGetErrorString(status);
        return nullptr;
    }
    if (static_cast<long>(streams) * width > max_householder_size) {
        why_not = "size " + std::to_string(static_cast<long>(streams) * width) + " is above " +
                  std::to_string(max_householder_size) + ", the largest on the GPU";
        return nullptr;
    }
    try {
        cudaDeviceProp properties = {};
        const int device = local_rank % devices;
        check(cudaSetDevice(device), "cudaSetDevice");
        check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
        if (properties.major < 8) {
            why_not = std::string(properties.name) + " has compute capability " +
                      std::to_string(properties.major) + "." + std::to_string(properties.minor) +
                      "; must be 8.0 or higher";
            return nullptr;
        }
        if (precision == Precision::f32) return new Device<float>(streams, width, properties.name);
        return new Device<double>(streams, width, properties.name);
    } catch (const std::bad_alloc&) {
        why_not = "the free memory of the device is too small for one sample";
    } catch (const std::exception& error) {
        why_not = error.what();
    }
    return nullptr;
}

}  // namespace
}  // namespace spectra::montecarlo::cuda

extern "C" __attribute__((visibility("default"))) spectra::montecarlo::cuda::Backend*
spectra_open_cuda_backend(int streams, int width, spectra::montecarlo::Precision precision,
                          std::string& why_not, int local_rank) {
    return spectra::montecarlo::cuda::open_backend(streams, width, precision, why_not, local_rank);
}
