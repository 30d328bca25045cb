#include "montecarlo/run/workers.hpp"

#include "base/special_values.hpp"
#include "linalg/blas.hpp"
#include "montecarlo/cuda/module.hpp"
#include "linalg/graded.hpp"
#include "montecarlo/sample/product.hpp"
#include "montecarlo/sample/quadrature.hpp"
#include "montecarlo/sample/sizes.hpp"
#include "parallel/ranks.hpp"
#include "montecarlo/sample/sampler.hpp"
#include "linalg/singular_values.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace spectra::montecarlo {
namespace {

/// For J = 2^of_matrix · matrix, with norm2 the squared Frobenius norm of the matrix.
Drawn statistics(double norm2, long of_matrix, int size, double rounding) {
    Drawn out{norm2 / size, 2 * of_matrix};
    if (norm2 > 0)
        out.log_floor =
            log_floor(0.5 * std::log(norm2) + static_cast<double>(of_matrix) * std::numbers::ln2, rounding);
    return out;
}

/// The layers of a sample with its own mixers (Options::redrawn).
std::vector<Layer> redrawn_layers(const Run& run, int sample) {
    const auto& options = run.options;
    return with_mixers(run.layers, mixers::draw_layers(*options.redrawn, run.network.streams,
                                                       run.network.depth(), options.shared_mixers,
                                                       options.seed, static_cast<std::uint32_t>(sample) + 1));
}

/// Plain values below e^7 floors may have relative errors above 1e-3: graded.hpp recomputes their samples.
constexpr double margin = 7;

/// The data of a thread that draws samples.
class Worker {
public:
    virtual ~Worker() = default;

    Drawn draw(int sample, std::span<double> log_values) {
        if (!run_.options.redrawn) return draw(run_.layers, run_.expected.rounding, sample, log_values);
        const auto layers = redrawn_layers(run_, sample);
        return draw(layers, expectation(layers).rounding, sample, log_values);
    }

protected:
    explicit Worker(const Run& run) : run_(run) {}
    virtual Drawn draw(const std::vector<Layer>& layers, double rounding, int sample,
                       std::span<double> log_values) = 0;

    const Run& run_;
};

/// All singular values of the N×N Jacobian.
class DenseWorker final : public Worker {
public:
    explicit DenseWorker(const Run& run)
        : Worker(run),
          sampler_(run.network.streams, run.network.width),
          singular_values_(run.network.size()) {}

private:
    Drawn draw(const std::vector<Layer>& layers, double rounding, int sample,
               std::span<double> log_values) override {
        const auto number = static_cast<std::uint32_t>(sample);
        sampler_.draw(layers, run_.options.seed, number);
        const auto matrix = sampler_.matrix();
        const double norm2 = matrix.squaredNorm();
        if (!singular_values_.compute(matrix, sampler_.exponent(), log_values)) {
            throw std::runtime_error("singular values of sample " + std::to_string(sample) +
                                     " did not converge");
        }
        Drawn out = statistics(norm2, sampler_.exponent(), run_.network.size(), rounding);
        if (log_values.front() > out.log_floor + margin || draw_graded(layers, number, log_values))
            out.log_floor = -infinity;
        return out;
    }

    /// False, with the values unchanged, if the layers do not determine them.
    bool draw_graded(const std::vector<Layer>& layers, std::uint32_t sample, std::span<double> log_values) {
        if (!graded_) graded_.emplace(run_.network.size());
        layer_.resize(log_values.size() * log_values.size());
        values_.resize(log_values.size());
        graded_->start();
        for (std::uint32_t l = 0; l < layers.size(); ++l) {
            sampler_.draw_layer(layers[l], l, run_.options.seed, sample, layer_.data());
            if (!graded_->multiply(layer_.data(), layers[l].exponent)) return false;
        }
        if (!graded_->log_values(values_) || graded_->relative_error() > 1e-3) return false;
        std::copy(values_.begin(), values_.end(), log_values.begin());
        return true;
    }

    Sampler sampler_;
    linalg::SingularValues singular_values_;
    std::optional<linalg::GradedProduct> graded_;
    linalg::AlignedDoubles layer_;
    std::vector<double> values_;
};

/// The law by quadrature: N quantiles of it.
class ProbingWorker final : public Worker {
public:
    ProbingWorker(const Run& run, const QuadratureOptions& options) : Worker(run), options_(options) {}

private:
    Drawn draw(const std::vector<Layer>& layers, double, int sample, std::span<double> log_values) override {
        const auto probed = probe_sample(layers, run_.network.streams, run_.network.width,
                                         static_cast<std::uint32_t>(sample), options_);
        const auto quantiles = linalg::log_quantiles(probed.probes, run_.network.size());
        const double shift = static_cast<double>(probed.exponent) * std::numbers::ln2;
        std::transform(quantiles.begin(), quantiles.end(), log_values.begin(),
                       [shift](double x) { return x + shift; });
        Drawn out;
        for (const auto& probe : probed.probes)
            out.square += probe.mean_square / static_cast<double>(probed.probes.size());
        out.exponent = 2 * probed.exponent;
        out.log_floor = probed.log_floor;
        return out;
    }

    QuadratureOptions options_;
};

/// How a quadrature is distributed: one sample per thread if the layers of all fit in memory, otherwise one
/// sample at a time on all threads.
struct Spread {
    int samples_at_once = 1;
    QuadratureOptions options;
};

Spread spread_of(const Run& run, int samples) {
    const auto available = static_cast<std::size_t>(std::max(sysconf(_SC_AVPHYS_PAGES), 1L)) *
                           static_cast<std::size_t>(std::max(sysconf(_SC_PAGESIZE), 1L));
    const std::size_t all = Product::bytes(run.layers, run.network.streams, run.network.width);
    const auto threads = unsigned_of(std::min(run.threads, std::max(samples, 1)));
    Spread out;
    out.options.probes = run.probes;
    out.options.steps = run.options.steps;
    out.options.seed = run.options.seed;
    const std::size_t room = available / 2;
    if (all <= room / threads) {
        out.samples_at_once = static_cast<int>(threads);
        out.options.memory = all;
    } else {
        out.options.threads = run.threads;
        out.options.memory = room;
    }
    return out;
}

void draw_on_threads(const Run& run, const Share& share, Collector& collector) {
    const auto size = unsigned_of(run.network.size());
    const linalg::SingleThreadedBlas single_threaded;
    Spread spread{run.threads, {}};
    if (run.probes > 0) spread = spread_of(run, share.end - share.first);
    const auto make_worker = [&]() -> std::unique_ptr<Worker> {
        if (run.probes > 0) return std::make_unique<ProbingWorker>(run, spread.options);
        return std::make_unique<DenseWorker>(run);
    };
    std::atomic<std::int64_t> next{0};
#pragma omp parallel num_threads(spread.samples_at_once)
    {
        std::unique_ptr<Worker> worker;
        while (!collector.ended()) {
            const std::int64_t number = share.sample(next.fetch_add(1));
            if (number >= share.end) break;
            const int sample = static_cast<int>(number);
            Outcome outcome;
            if (collector.may_begin(sample)) {
                try {
                    if (!worker) worker = make_worker();
                    std::span<double> log_values = collector.room(sample, 1);
                    if (log_values.empty()) {
                        outcome.buffer.resize(size);
                        log_values = outcome.buffer;
                    }
                    outcome.drawn = worker->draw(sample, log_values);
                    outcome.log_values = log_values;
                } catch (...) {
                    outcome.failure = std::current_exception();
                }
            }
            collector.finish(sample, std::move(outcome));
        }
    }
}

/// Recomputes those samples of a GPU batch that lost small values to rounding, by the algorithm of
/// graded.hpp. If the device does not support it (f32, large N), their floor stays.
template <class ValuesOf>
void draw_lost(const Run& run, cuda::Backend& backend, std::span<const std::vector<Layer>> stacks, int first,
               const std::vector<int>& lost, const ValuesOf& values_of, std::vector<Drawn>& found) {
    if (lost.empty()) return;
    const auto size = unsigned_of(run.network.size());
    std::vector<std::vector<Layer>> own;
    std::vector<std::uint32_t> samples;
    for (const int s : lost) {
        samples.push_back(static_cast<std::uint32_t>(first + s));
        if (stacks.size() > 1) own.push_back(stacks[unsigned_of(s)]);
    }
    std::vector<cuda::Drawn> drawn(lost.size());
    std::vector<double> values(lost.size() * size);
    backend.draw_graded(own.empty() ? stacks : std::span<const std::vector<Layer>>(own), run.options.seed,
                        samples, drawn, values);
    for (std::size_t k = 0; k < lost.size(); ++k) {
        if (drawn[k].info != 0) continue;
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(k * size), size, values_of(lost[k]).begin());
        found[unsigned_of(lost[k])].log_floor = -infinity;
    }
}

/// Draws `count` samples from `first` on at once.
void draw_batch(const Run& run, cuda::Backend& backend, int first, int count, Collector& collector) {
    const auto& options = run.options;
    const double unit = options.precision == Precision::f32 ? 0x1p29 : 1;
    const auto size = unsigned_of(run.network.size());
    std::vector<std::vector<Layer>> redrawn;
    if (options.redrawn) {
        redrawn.resize(unsigned_of(count));
#pragma omp parallel for num_threads(run.threads)
        for (int s = 0; s < count; ++s) redrawn[unsigned_of(s)] = redrawn_layers(run, first + s);
    }
    std::vector<double> buffer;
    std::span<double> log_values = collector.room(first, count);
    const bool kept = !log_values.empty();
    if (!kept) {
        buffer.resize(unsigned_of(count) * size);
        log_values = buffer;
    }
    const auto values_of = [&](int s) { return log_values.subspan(unsigned_of(s) * size, size); };
    const auto stacks =
        options.redrawn ? std::span<const std::vector<Layer>>(redrawn) : std::span(&run.layers, 1);
    std::vector<cuda::Drawn> drawn(unsigned_of(count));
    backend.draw(stacks, options.seed, static_cast<std::uint32_t>(first), drawn, log_values);

    std::vector<Drawn> found(unsigned_of(count));
    std::vector<int> lost;
    for (int s = 0; s < count; ++s) {
        const auto& one = drawn[unsigned_of(s)];
        if (one.info != 0) continue;
        const double rounding =
            options.redrawn ? expectation(redrawn[unsigned_of(s)]).rounding : run.expected.rounding;
        Drawn& out = found[unsigned_of(s)];
        out = statistics(one.norm2, one.exponent, run.network.size(), unit * rounding);
        if (values_of(s).front() > out.log_floor + margin)
            out.log_floor = -infinity;
        else
            lost.push_back(s);
    }
    draw_lost(run, backend, stacks, first, lost, values_of, found);

    for (int s = 0; s < count; ++s) {
        Outcome outcome;
        if (drawn[unsigned_of(s)].info == 0) {
            outcome.drawn = found[unsigned_of(s)];
            outcome.log_values = values_of(s);
            if (!kept) {
                outcome.buffer.assign(outcome.log_values.begin(), outcome.log_values.end());
                outcome.log_values = outcome.buffer;
            }
        } else {
            outcome.failure = std::make_exception_ptr(
                std::runtime_error("the matrix of sample " + std::to_string(first + s) + " is not finite"));
        }
        collector.finish(first + s, std::move(outcome));
    }
}

void draw_on_device(const Run& run, cuda::Backend& backend, const Share& share, Collector& collector) {
    for (std::int64_t k = 0; share.sample(k) < share.end && !collector.ended();) {
        const auto first = static_cast<int>(share.sample(k));
        const int left = std::min(share.block - static_cast<int>(k % share.block), share.end - first);
        const int count = std::min({left, backend.batch(), largest_gpu_block});
        if (!collector.may_begin(first, count)) {
            collector.finish(first, {});
            return;
        }
        draw_batch(run, backend, first, count, collector);
        k += count;
    }
}

}  // namespace

Run::Run(const Network& the_network, const Options& the_options)
    : network(the_network),
      options(the_options),
      layers(scaled_layers(the_network, the_options.slopes)),
      expected(expectation(layers)),
      threads(thread_count(the_options)),
      probes(probe_count(the_network, the_options)) {}

int probe_count(const Network& network, const Options& options) {
    const std::int64_t size = std::int64_t{network.streams} * network.width;  // may exceed an int
    const bool dense =
        options.method == Method::dense || (options.method == Method::automatic && size <= largest_dense);
    return dense ? 0 : options.probes;
}

int thread_count(const Options& options) {
    int wanted = options.threads;
    if (wanted <= 0) {
        wanted = omp_get_max_threads();
        if (options.ranks != nullptr) wanted = parallel::threads_of(*options.ranks);
    }
    return std::clamp(wanted, 1, std::max(options.samples, 1));
}

std::unique_ptr<cuda::Backend> device_for(const Run& run, std::string& note) {
    const auto& options = run.options;
    const auto& network = run.network;
    const bool f32 = options.precision == Precision::f32;
    if (run.probes > 0) {
        if (f32) throw std::invalid_argument("precision is f32; a quadrature must use f64");
        if (options.device == Device::cuda) note = "no GPU is used: a quadrature runs on the cpu";
        return nullptr;
    }
    if (options.device == Device::cpu) {
        if (f32) throw std::invalid_argument("precision is f32; the cpu must use f64");
        return nullptr;
    }
    // Creating a context takes half a second: less work than that stays on the CPU.
    const double size = network.size();
    const double work = options.samples * size * size * size * (2.0 * network.depth() + 10);
    if (options.device == Device::automatic && !f32 && work < 2e9 * run.threads) return nullptr;
    std::string why_not;
    const int gpu = options.ranks != nullptr ? options.ranks->local_rank() : options.gpu;
    auto out = cuda::open_backend(network.streams, network.width, options.precision, why_not, gpu);
    if (!out && (f32 || options.device == Device::cuda))
        note = "no GPU is used (" + why_not + "): simulated on the cpu in f64";
    return out;
}

void draw(const Run& run, cuda::Backend* backend, const Share& share, Collector& collector) {
    if (backend != nullptr) {
        draw_on_device(run, *backend, share, collector);
    } else {
        draw_on_threads(run, share, collector);
    }
}

}  // namespace spectra::montecarlo
