#include "montecarlo/run/simulate.hpp"

#include "montecarlo/run/workers.hpp"
#include "montecarlo/run/fingerprint.hpp"
#include "montecarlo/run/session.hpp"
#include "montecarlo/run/totals.hpp"
#include "montecarlo/sample/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace spectra::montecarlo {
namespace {

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

std::size_t value_bytes(const Network& network, const Options& options) {
    return times(
        times(unsigned_of(options.samples), times(unsigned_of(network.streams), unsigned_of(network.width))),
        sizeof(double));
}

/// Doubles per thread needed to draw X.
std::size_t branch_memory(const Network& network) {
    const auto* isotropic = std::get_if<IsotropicBranch>(&network.branch);
    const auto* hyper = std::get_if<HyperConnectionBranch>(&network.branch);
    const auto* tied = std::get_if<TiedBranch>(&network.branch);
    const auto* aligned = std::get_if<AlignedBranch>(&network.branch);
    const bool structured = hyper != nullptr || (tied != nullptr && tied->hyper_connection()) ||
                            (aligned != nullptr && aligned->hyper_connection());
    const bool law = aligned != nullptr ||
        (isotropic != nullptr && !isotropic->law.empty()) || (hyper != nullptr && !hyper->law.empty());
    const std::size_t width = unsigned_of(network.width);
    const std::size_t all = times(unsigned_of(network.streams), width);
    const std::size_t size = structured ? width : all;
    // Y or F; also the normals of tied layers, or the reflections of a law with LAPACK's workspace.
    std::size_t out = times(aligned != nullptr ? 6 : tied != nullptr || law ? 2 : 1, times(size, size));
    if (law) out = plus(out, times(66, plus(size, 64)));
    return structured ? plus(out, times(2, times(width, all))) : out;
}

bool keeps_values(const Network& network, const Options& options) {
    const auto* const from = options.resume;
    if (from != nullptr && from->samples > 0 && from->log_values.empty()) return false;
    if (options.keep == Keep::automatic) return value_bytes(network, options) <= values_limit;
    return options.keep == Keep::values;
}

int rank_count(const Options& options) {
    return options.ranks != nullptr ? options.ranks->size() : 1;
}

/// Samples that may wait for an earlier one. With ranks, enough that no rank waits for messages.
int window(const Network& network, const Options& options, int threads, int block) {
    const std::size_t ranks = unsigned_of(rank_count(options));
    std::size_t out = times(4, unsigned_of(threads));
    if (ranks > 1) {
        const std::size_t sample = times(unsigned_of(network.streams), unsigned_of(network.width));
        const std::size_t few =
            std::clamp<std::size_t>(2'000'000 / std::max<std::size_t>(sample, 1), 1, 4096);
        out = std::max({times(out, ranks), times(2, times(unsigned_of(block), ranks)), few});
    }
    return static_cast<int>(std::min<std::size_t>(out, 1 << 20));
}

/// GPU samples that one rank takes at a time.
int gpu_block(int samples, int ranks) {
    return std::clamp((samples - 1) / ranks + 1, 1, ranks > 1 ? largest_gpu_block : samples);
}

void check(const Network& network, const Options& options) {
    const auto refuse = [](const std::string& what) { throw std::invalid_argument(what); };
    if (options.samples < 0) refuse("samples is " + std::to_string(options.samples) + "; must be ≥ 0");
    if (options.until_error && !(*options.until_error > 0))
        refuse("until_error is " + std::to_string(*options.until_error) + "; must be > 0");
    if (options.probes < 1 || options.steps < 1)
        refuse("probes is " + std::to_string(options.probes) + " and steps " + std::to_string(options.steps) +
               "; both must be ≥ 1");
    if (std::holds_alternative<AlignedBranch>(network.branch) && probe_count(network, options) > 0)
        refuse("a quadrature draws no aligned branches; N must be at most " + std::to_string(largest_dense));
    if (options.redrawn) mixers::check(*options.redrawn, network.streams);
    if (options.resume == nullptr) return;
    const auto& from = *options.resume;
    if (from.samples < 0 || from.samples > options.samples)
        refuse("samples is " + std::to_string(options.samples) + "; must be ≥ the " +
               std::to_string(from.samples) + " saved samples");
    if (from.samples > 0 && from.log_values.empty() && options.keep == Keep::values)
        refuse("cannot keep values: the saved samples hold only a histogram");
}

/// Sets open options to those of the device on which the samples so far were drawn.
Options on_the_same_device(Options options, const std::string& device) {
    if (options.device == Device::automatic) options.device = device == "cpu" ? Device::cpu : Device::cuda;
    return options;
}

/// Where the samples of this process are drawn, with its precision and device.
struct Place {
    Place(const Run& run, Simulation& head) : backend(device_for(run, head.note)) {
        if (backend) {
            head.device = "cuda: " + backend->device();
            if (run.options.precision == Precision::f32) head.precision = "f32";
        }
        head.probes = run.probes;
        head.fingerprint = fingerprint(run.network, run.options, head.precision, head.device);
    }
    std::unique_ptr<cuda::Backend> backend;
};

/// Draws all samples, or those of the first rank, and adds up all of them.
Simulation simulate_first(const Network& network, const Options& options) {
    const int ranks = rank_count(options);
    const bool values = keeps_values(network, options);
    const int first = options.resume != nullptr ? options.resume->samples : 0;

    Simulation head;
    head.samples_requested = options.samples;
    head.width = network.width;
    const Run run(network, options);
    const Place place(run, head);
    if (options.resume != nullptr)
        check_same(head.fingerprint, options.resume->fingerprint, "in the saved samples");

    const int left = options.samples - first;
    const int block = place.backend ? gpu_block(std::max(left, 1), ranks) : 1;
    head.log_mean_square_expected = run.expected.log_mean_square;
    const Plan plan{first, block, window(network, options, run.threads, block), head.device,
                    head.fingerprint};
    Totals totals(options, head, run.expected.log_mean_square, network.size(), values, plan.window);
    if (options.resume != nullptr) totals.resume(*options.resume);

    const Share share{first, options.samples, 0, ranks, block};
    const auto draw_share = [&](Collector& collector) { draw(run, place.backend.get(), share, collector); };
    if (ranks > 1) {
        lead(*options.ranks, plan, options.stop, totals, draw_share);
    } else {
        draw_share(totals);
    }
    return totals.result();
}

/// The work of a rank other than the first.
Simulation simulate_other(const Network& network, const Options& options) {
    Simulation out;
    out.elsewhere = true;
    follow(
        *options.ranks,
        [&](const Plan& plan, Collector& collector) {
            const Options own = on_the_same_device(options, plan.device);
            const Run run(network, own);
            const Place place(run, out);
            check_same(out.fingerprint, plan.fingerprint, "on the first rank");
            draw(run, place.backend.get(),
                 {plan.first, options.samples, own.ranks->rank(), own.ranks->size(), plan.block}, collector);
        },
        options.stop);
    return out;
}

DensityEstimate density_estimate(const Counts& counts, int samples, int size) {
    DensityEstimate out;
    if (samples == 0) return out;
    out.edges = counts.edges;
    for (std::size_t b = 0; b < counts.counts.size(); ++b) {
        const double unit = 1 / ((counts.edges[b + 1] - counts.edges[b]) * size);
        const CountSum count{static_cast<std::uint64_t>(counts.counts[b]),
                             static_cast<std::uint64_t>(counts.count_squares[b])};
        out.density.push_back(unit * counts.counts[b] / samples);
        out.standard_error.push_back(unit * count.standard_error(unsigned_of(samples)));
    }
    return out;
}

/// N.
int size_of(const Simulation& simulation) {
    if (simulation.samples == 0) return 0;
    double total = static_cast<double>(simulation.log_values.size()) + simulation.below + simulation.above;
    for (const double count : simulation.counts) total += count;
    return static_cast<int>(total / simulation.samples);
}

template <class Histogram>
Counts counted(const Simulation& simulation) {
    Histogram histogram(simulation.log_mean_square_expected);
    const auto size = unsigned_of(size_of(simulation));
    for (std::size_t k = 0; k < simulation.log_values.size(); k += size)
        histogram.add(std::span(simulation.log_values).subspan(k, size));
    return histogram.counts();
}

}  // namespace

DensityEstimate log_density_estimate(const Simulation& simulation) {
    const Counts counts = simulation.log_values.empty()
                              ? Counts{simulation.log_edges, simulation.counts, simulation.count_squares, {}}
                              : counted<LogHistogram>(simulation);
    return density_estimate(counts, simulation.samples, size_of(simulation));
}

DensityEstimate linear_density_estimate(const Simulation& simulation) {
    const Counts counts =
        simulation.log_values.empty() ? simulation.linear : counted<LinearHistogram>(simulation);
    return density_estimate(counts, simulation.samples, size_of(simulation));
}

std::size_t memory_needed(const Network& network, const Options& options) {
    const std::size_t n = unsigned_of(network.streams);
    const std::size_t size = times(n, unsigned_of(network.width));
    const std::size_t layers = times(plus(times(n, n), times(2, n)), network.mixers.size());
    const int threads = thread_count(options);
    const int block = options.device == Device::cpu ? 1 : largest_gpu_block;

    std::size_t worker = 0;
    if (const int probes = probe_count(network, options); probes > 0) {
        // The bases of the probes; layers are recomputed if they do not fit.
        worker = times(times(2, unsigned_of(options.steps + 4)), times(unsigned_of(probes), size));
    } else {
        // On threads: two matrices of the sampler, one more with workspace for the singular values, the
        // memory of X, and the memory of graded.hpp, with a layer, for lost values.
        worker = plus(times(3, times(size, size)), plus(times(81, size), branch_memory(network)));
        worker = plus(worker, plus(times(7, times(size, size)), times(80, size)));
    }
    if (options.redrawn) worker = plus(worker, times(2, layers));
    std::size_t drawing = times(worker, unsigned_of(threads));
    // For a GPU: the data sent and received.
    if (options.device != Device::cpu) {
        const std::size_t sample = plus(times(2, size), options.redrawn ? times(2, layers) : 0);
        drawing =
            std::max(drawing, times(sample, unsigned_of(std::min(block, std::max(options.samples, 1)))));
    }
    const std::size_t waiting =
        times(size, unsigned_of(std::min(window(network, options, threads, block), options.samples)));
    const std::size_t doubles = plus(layers, plus(drawing, waiting));

    // Values twice: as drawn, and sorted in the law; once more while samples are saved.
    std::size_t results = times(keeps_values(network, options) ? 2 : 0, value_bytes(network, options));
    if (options.checkpoint) results = times(2, results);
    return plus(times(doubles, sizeof(double)), plus(results, times(4, Tally::memory())));
}

Simulation simulate(const Network& network, const Options& options) {
    check(network, options);
    if (options.ranks != nullptr && options.ranks->rank() > 0) return simulate_other(network, options);
    return simulate_first(
        network, options.resume != nullptr ? on_the_same_device(options, options.resume->device) : options);
}

}  // namespace spectra::montecarlo
