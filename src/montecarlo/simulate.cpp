#include "montecarlo/simulate.hpp"

#include "montecarlo/blas.hpp"
#include "montecarlo/cuda/module.hpp"
#include "montecarlo/histogram.hpp"
#include "montecarlo/rounding.hpp"
#include "montecarlo/sampler.hpp"
#include "montecarlo/singular_values.hpp"
#include "montecarlo/statistics.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <numbers>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

namespace spectra::montecarlo {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t values_limit = 256'000'000;  // bytes

std::size_t saturated(std::size_t a, std::size_t b, bool product) {
    std::size_t out = 0;
    const bool overflow = product ? __builtin_mul_overflow(a, b, &out) : __builtin_add_overflow(a, b, &out);
    return overflow ? std::numeric_limits<std::size_t>::max() : out;
}
std::size_t times(std::size_t a, std::size_t b) {
    return saturated(a, b, true);
}
std::size_t plus(std::size_t a, std::size_t b) {
    return saturated(a, b, false);
}
std::size_t unsigned_of(int x) {
    return static_cast<std::size_t>(std::max(x, 0));
}

std::size_t value_bytes(const Network& network, const Options& options) {
    return times(
        times(unsigned_of(options.samples), times(unsigned_of(network.streams), unsigned_of(network.width))),
        sizeof(double));
}

/// Doubles that drawing X takes in every thread.
std::size_t branch_memory(const Network& network) {
    const auto* isotropic = std::get_if<IsotropicBranch>(&network.branch);
    const auto* hyper = std::get_if<HyperConnectionBranch>(&network.branch);
    const auto* tied = std::get_if<TiedBranch>(&network.branch);
    const bool structured = hyper != nullptr || (tied != nullptr && tied->hyper_connection());
    const bool law =
        (isotropic != nullptr && !isotropic->law.empty()) || (hyper != nullptr && !hyper->law.empty());
    const std::size_t width = unsigned_of(network.width);
    const std::size_t all = times(unsigned_of(network.streams), width);
    const std::size_t size = structured ? width : all;
    // Y or F; beside it the normals of tied layers, or the reflections of a law with LAPACK's workspace.
    std::size_t out = times(tied != nullptr || law ? 2 : 1, times(size, size));
    if (law) out = plus(out, times(66, plus(size, 64)));
    return structured ? plus(out, times(2, times(width, all))) : out;
}

bool keeps_values(const Network& network, const Options& options) {
    if (options.keep == Keep::automatic) return value_bytes(network, options) <= values_limit;
    return options.keep == Keep::values;
}

int thread_count(const Options& options) {
    const int wanted = options.threads > 0 ? options.threads : omp_get_max_threads();
    return std::clamp(wanted, 1, std::max(options.samples, 1));
}

/// One sample's statistics; its singular values are written elsewhere.
struct Drawn {
    /// J = 2^of_matrix · matrix of squared Frobenius norm norm2.
    Drawn(double norm2, long of_matrix, int size, double rounding)
        : square(norm2 / size), exponent(2 * of_matrix) {
        if (norm2 > 0)
            log_floor = montecarlo::log_floor(
                0.5 * std::log(norm2) + static_cast<double>(of_matrix) * std::numbers::ln2, rounding);
    }

    double square = 0;  // ‖J‖_F² / N = square·2^exponent
    long exponent = 0;
    double log_floor = -infinity;
};

/// Of a sample with mixers of its own (Options::redrawn).
std::vector<Layer> redrawn_layers(const Network& network, const Options& options,
                                  const std::vector<Layer>& layers, std::uint32_t sample) {
    return with_mixers(layers, mixers::draw_layers(*options.redrawn, network.streams, network.depth(),
                                                   options.shared_mixers, options.seed, sample + 1));
}

/// What a thread needs to draw samples.
class Worker {
public:
    Worker(const Network& network, const Options& options, const std::vector<Layer>& layers,
           const Expectation& expected)
        : network_(network),
          options_(options),
          layers_(layers),
          expected_(expected),
          sampler_(network.streams, network.width),
          singular_values_(network.size()) {}

    Drawn draw(int sample, std::span<double> log_values) {
        const auto number = static_cast<std::uint32_t>(sample);
        double rounding = expected_.rounding;
        if (options_.redrawn) {
            const auto layers = redrawn_layers(network_, options_, layers_, number);
            rounding = expectation(layers).rounding;
            sampler_.draw(layers, options_.seed, number);
        } else {
            sampler_.draw(layers_, options_.seed, number);
        }
        const auto matrix = sampler_.matrix();
        const double norm2 = matrix.squaredNorm();
        if (!singular_values_.compute(matrix, sampler_.exponent(), log_values)) {
            throw std::runtime_error("singular values of sample " + std::to_string(sample) +
                                     " did not converge");
        }
        return {norm2, sampler_.exponent(), network_.size(), rounding};
    }

private:
    const Network& network_;
    const Options& options_;
    const std::vector<Layer>& layers_;
    const Expectation& expected_;
    Sampler sampler_;
    SingularValues singular_values_;
};

/// How one sample ended: drawn, failed, or neither where the run was stopped before it.
struct Outcome {
    std::optional<Drawn> drawn;
    std::exception_ptr failure;
    std::vector<double> buffer;          // its values, where they are only counted
    std::span<const double> log_values;  // where they are
};

/// What the samples add up to, in their own order whichever finishes first: sums do not depend on the
/// threads, a run that is stopped keeps the first so many, and of several errors the first sample's is
/// reported.
class Totals {
public:
    Totals(const Options& options, double log_mean_square, bool values, int threads)
        : histogram(log_mean_square),
          options_(options),
          values_(values),
          waiting_(4 * unsigned_of(threads)) {}

    LogHistogram histogram;
    RunningMean mean_square;
    double log_floor = -infinity;
    double log_smallest = infinity;
    double log_largest = -infinity;
    int samples = 0;
    std::exception_ptr error;

    /// Waits while the sample is so far ahead of the first unfinished one that too much would pile up;
    /// false: the run has ended before it. (Waiting in OpenMP's own ordered regions burns a core.)
    bool may_begin(int sample) {
        std::unique_lock lock(mutex_);
        moved_.wait(lock, [this, sample] { return ended_ || unsigned_of(sample - next_) < waiting_.size(); });
        return !ended_ && !(options_.stop != nullptr && options_.stop->load());
    }

    /// Nothing after this will count.
    bool ended() const { return ended_; }

    /// Every sample ends here once.
    void finish(int sample, Outcome outcome) {
        const std::scoped_lock lock(mutex_);
        slot(sample) = std::move(outcome);
        while (slot(next_)) {
            if (!ended_) add(*slot(next_));
            slot(next_).reset();
            ++next_;
        }
        moved_.notify_all();
    }

private:
    std::optional<Outcome>& slot(int sample) { return waiting_[unsigned_of(sample) % waiting_.size()]; }

    void add(const Outcome& outcome) {
        if (!outcome.drawn) {
            error = outcome.failure;
            ended_ = true;
            return;
        }
        const auto& drawn = *outcome.drawn;
        if (!values_) histogram.add(outcome.log_values);
        mean_square.add(drawn.square, drawn.exponent);
        log_floor = std::max(log_floor, drawn.log_floor);
        log_smallest = std::min(log_smallest, outcome.log_values.front());
        log_largest = std::max(log_largest, outcome.log_values.back());
        ++samples;
        if (!options_.progress) return;
        try {
            options_.progress(samples, options_.samples);
        } catch (...) {
            error = std::current_exception();
            ended_ = true;
        }
    }

    const Options& options_;
    bool values_;
    std::mutex mutex_;
    std::condition_variable moved_;
    std::vector<std::optional<Outcome>> waiting_;  // a ring, by sample number
    int next_ = 0;                                 // the first sample that is not finished
    std::atomic<bool> ended_ = false;              // no sample after the ones added will be
};

void draw_on_threads(const Network& network, const Options& options, const std::vector<Layer>& layers,
                     const Expectation& expected, Totals& totals, std::span<double> kept, int threads) {
    const auto size = unsigned_of(network.size());
    const SingleThreadedBlas single_threaded;
    std::atomic<std::int64_t> next_sample{0};
#pragma omp parallel num_threads(threads)
    {
        std::optional<Worker> worker;
        while (!totals.ended()) {
            const std::int64_t ticket = next_sample.fetch_add(1);
            if (ticket >= options.samples) break;
            const int sample = static_cast<int>(ticket);
            Outcome outcome;
            if (totals.may_begin(sample)) {
                try {
                    if (!worker) worker.emplace(network, options, layers, expected);
                    std::span<double> log_values;
                    if (!kept.empty()) {
                        log_values = kept.subspan(unsigned_of(sample) * size, size);
                    } else {
                        outcome.buffer.resize(size);
                        log_values = outcome.buffer;
                    }
                    outcome.drawn = worker->draw(sample, log_values);
                    outcome.log_values = log_values;
                } catch (...) {
                    outcome.failure = std::current_exception();
                }
            }
            totals.finish(sample, std::move(outcome));
        }
    }
}

/// The GPU's backend where it is wanted and can be had; `note` says why not where it was asked for.
std::unique_ptr<cuda::Backend> device_for(const Network& network, const Options& options, int threads,
                                          std::string& note) {
    const bool f32 = options.precision == Precision::f32;
    if (options.device == Device::cpu) {
        if (f32) throw std::invalid_argument("precision is f32; on the cpu only f64 is accepted");
        return nullptr;
    }
    // A context takes half a second: what the processor does in that time stays there.
    const double size = network.size();
    const double work = options.samples * size * size * size * (2.0 * network.depth() + 10);
    if (options.device == Device::automatic && !f32 && work < 2e9 * threads) return nullptr;
    std::string why_not;
    auto out = cuda::open_backend(network.streams, network.width, options.precision, why_not);
    if (!out && (f32 || options.device == Device::cuda))
        note = "no GPU is used (" + why_not + "): simulated on the cpu in f64";
    return out;
}

/// All samples in order, a batch at a time.
void draw_on_device(cuda::Backend& backend, const Network& network, const Options& options,
                    const std::vector<Layer>& layers, const Expectation& expected, Totals& totals,
                    std::span<double> kept) {
    constexpr int most_at_once = 1024;  // so that a run can be stopped
    const double unit = options.precision == Precision::f32 ? 0x1p29 : 1;
    const auto size = unsigned_of(network.size());
    std::vector<std::vector<Layer>> stacks(1, layers);
    std::vector<double> buffer;
    for (int first = 0; first < options.samples && totals.may_begin(first);) {
        const int count = std::min({options.samples - first, backend.batch(), most_at_once});
        if (options.redrawn) {
            stacks.resize(unsigned_of(count));
#pragma omp parallel for
            for (int s = 0; s < count; ++s)
                stacks[unsigned_of(s)] =
                    redrawn_layers(network, options, layers, static_cast<std::uint32_t>(first + s));
        }
        std::span<double> log_values = kept;
        if (kept.empty()) {
            buffer.resize(unsigned_of(count) * size);
            log_values = buffer;
        } else {
            log_values = kept.subspan(unsigned_of(first) * size, unsigned_of(count) * size);
        }
        std::vector<cuda::Drawn> drawn(unsigned_of(count));
        backend.draw(stacks, options.seed, static_cast<std::uint32_t>(first), drawn, log_values);
        for (int s = 0; s < count; ++s) {
            const auto& one = drawn[unsigned_of(s)];
            Outcome outcome;
            if (one.info == 0) {
                const double rounding =
                    options.redrawn ? expectation(stacks[unsigned_of(s)]).rounding : expected.rounding;
                outcome.drawn.emplace(one.norm2, one.exponent, network.size(), unit * rounding);
                outcome.log_values = log_values.subspan(unsigned_of(s) * size, size);
            } else {
                outcome.failure = std::make_exception_ptr(std::runtime_error(
                    "the matrix of sample " + std::to_string(first + s) + " is not finite"));
            }
            totals.finish(first + s, std::move(outcome));
        }
        if (totals.ended()) return;
        first += count;
    }
}

}  // namespace

std::size_t memory_needed(const Network& network, const Options& options) {
    const std::size_t n = unsigned_of(network.streams);
    const std::size_t size = times(n, unsigned_of(network.width));
    const std::size_t layers = times(plus(times(n, n), times(2, n)), network.mixers.size());
    // Two matrices of the sampler, one more with workspace for the singular values, and what X takes.
    std::size_t worker = plus(times(3, times(size, size)), plus(times(81, size), branch_memory(network)));
    if (options.redrawn) worker = plus(worker, times(2, layers));
    const std::size_t doubles = plus(layers, times(worker, unsigned_of(thread_count(options))));
    // Values twice: as they came, and sorted in the law.
    const std::size_t results = keeps_values(network, options) ? times(2, value_bytes(network, options))
                                                               : times(8, LogHistogram::memory());
    return plus(times(doubles, sizeof(double)), results);
}

Simulation simulate(const Network& network, const Options& options) {
    if (options.samples < 0) {
        throw std::invalid_argument("samples is " + std::to_string(options.samples) +
                                    "; it must be at least 0");
    }
    if (options.redrawn) mixers::check(*options.redrawn, network.streams);
    const auto begin = std::chrono::steady_clock::now();
    const bool values = keeps_values(network, options);
    const auto size = unsigned_of(network.size());

    Simulation out;
    out.samples_requested = options.samples;
    out.width = network.width;
    if (values) out.log_values.resize(unsigned_of(options.samples) * size);

    const auto layers = scaled_layers(network);
    const Expectation expected = expectation(layers);
    const int threads = thread_count(options);
    Totals totals(options, expected.log_mean_square, values, threads);
    if (const auto backend = device_for(network, options, threads, out.note)) {
        out.device = "cuda: " + backend->device();
        if (options.precision == Precision::f32) out.precision = "f32";
        draw_on_device(*backend, network, options, layers, expected, totals,
                       values ? std::span(out.log_values) : std::span<double>());
    } else {
        draw_on_threads(network, options, layers, expected, totals,
                        values ? std::span(out.log_values) : std::span<double>(), threads);
    }
    if (totals.error) std::rethrow_exception(totals.error);

    out.samples = totals.samples;
    if (out.samples > 0) {
        out.mean_square = totals.mean_square.mean();
        out.mean_square_error = totals.mean_square.standard_error();
        out.smallest = std::exp(totals.log_smallest);
        out.largest = std::exp(totals.log_largest);
    }
    if (values) {
        out.log_values.resize(unsigned_of(out.samples) * size);
        out.law = Spectrum::from_log_values(out.log_values, totals.log_floor);
    } else {
        out.log_edges = totals.histogram.edges();
        out.counts = totals.histogram.counts();
        out.below = totals.histogram.below();
        out.above = totals.histogram.above();
        out.law = Spectrum::from_histogram(out.log_edges, out.counts, out.below, out.above, totals.log_floor);
    }
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return out;
}

}  // namespace spectra::montecarlo
