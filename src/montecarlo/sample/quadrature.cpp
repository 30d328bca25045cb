#include "montecarlo/sample/quadrature.hpp"

#include "base/special_values.hpp"
#include "montecarlo/sample/product.hpp"
#include "montecarlo/sample/rounding.hpp"
#include "random/stream.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace spectra::montecarlo {
namespace {

/// Random vectors v with E vvᵀ = I/N and n orthogonal streams of p numbers and equal length, uniform
/// among those: vᵀ(T ⊗ I_p)v = tr T/n for every T. If mixers spread a law over streams, a probe then
/// gets the share of each stream exactly, and only differences between channels are random.
/// More streams than channels cannot be orthogonal; then v is uniform on the sphere.
std::vector<double> probes_of(int streams, int width, const QuadratureOptions& options,
                              std::uint32_t sample) {
    const auto size = static_cast<std::size_t>(streams) * static_cast<std::size_t>(width);
    std::vector<double> out(size * static_cast<std::size_t>(options.probes));
    for (int probe = 0; probe < options.probes; ++probe) {
        double* const begin = out.data() + static_cast<std::size_t>(probe) * size;
        random::Stream(options.seed, random::Purpose::probe, static_cast<std::uint32_t>(probe), sample)
            .fill_normal({begin, size});
        if (width < streams) continue;
        Eigen::Map<Eigen::MatrixXd> block(begin, width, streams);
        for (int i = 0; i < streams; ++i) {
            for (int pass = 0; pass < 2; ++pass)
                for (int j = 0; j < i; ++j) block.col(i) -= block.col(j).dot(block.col(i)) * block.col(j);
            block.col(i).normalize();
        }
    }
    return out;
}

double log_scale(long exponent) {
    return static_cast<double>(exponent) * std::numbers::ln2;
}

/// The estimates of one probe, from its nodes and weights.
struct Seen {
    double mean_square, log_mean, window, collapsed, hidden;
    double mean, entropy;  // ∫ s ρ and ∫ s ln s ρ in units of e^unit
};

Seen seen(const linalg::GaussQuadrature& probe, long exponent, double unit) {
    const double shift = log_scale(exponent);
    // Positions in the units of the probe.
    const auto place = [&](double s) { return std::exp(std::log(s) - shift); };
    const auto below = [&](double s) { return mass_below(probe, place(s)); };
    Seen out{};
    out.mean_square = probe.mean_square * std::exp(2 * shift);
    out.window = below(window_upper) - below(window_lower);
    out.collapsed = below(collapsed_below);
    out.hidden = linalg::hidden_below(probe, place(collapsed_below));
    for (std::size_t i = 0; i < probe.node.size(); ++i) {
        const double x = std::log(probe.node[i]) + shift;
        if (probe.weight[i] > 0) out.log_mean += probe.weight[i] * x;
        const double s = std::exp(x - unit);
        out.mean += probe.weight[i] * s;
        if (s > 0) out.entropy += probe.weight[i] * s * (x - unit);
    }
    return out;
}

class Totals {
public:
    void add(const ProbedSample& sample) {
        const double shift = log_scale(sample.exponent);
        const auto top = linalg::largest(sample.probes);
        const auto bottom = linalg::smallest(sample.probes);
        if (seen_.empty()) unit_ = top.value > 0 ? std::log(top.value) + shift : 0;
        auto& own = seen_.emplace_back();
        for (const auto& probe : sample.probes) resolved_ = resolved_ && !(probe.resolved_from() > 0);
        for (const auto& probe : sample.probes) own.push_back(seen(probe, sample.exponent, unit_));
        const double scale = std::exp(shift);
        if (!(top.value * scale <= largest_.value)) largest_ = {top.value * scale, top.error * scale};
        if (!(bottom.value * scale >= smallest_.value))
            smallest_ = {bottom.value * scale, bottom.error * scale};
    }

    void finish(Quadrature& out) const {
        out.metrics.largest = largest_.value;
        out.error.largest = largest_.error;
        out.metrics.smallest = smallest_.value;
        out.error.smallest = smallest_.error;
        for (const auto& [member, metric] : {std::pair{&Seen::mean_square, &Metrics::mean_square},
                                             {&Seen::log_mean, &Metrics::log_mean},
                                             {&Seen::window, &Metrics::window},
                                             {&Seen::collapsed, &Metrics::collapsed}}) {
            const auto of = [member = member](const Seen& seen) { return seen.*member; };
            out.metrics.*metric = mean(of);
            out.error.*metric = error(of);
        }
        out.error.collapsed = std::hypot(out.error.collapsed, mean([](const Seen& s) { return s.hidden; }));
        if (!resolved_) out.error.log_mean = std::numeric_limits<double>::quiet_NaN();
        // ln of the effective rank is ln μ − H/μ with H = ∫ s ln s ρ; its error to first order.
        const double mu = mean([](const Seen& s) { return s.mean; });
        const double h = mean([](const Seen& s) { return s.entropy; });
        out.metrics.effective_rank = mu > 0 ? std::exp(std::log(mu) - h / mu) : 0;
        out.error.effective_rank = out.metrics.effective_rank * error([mu, h](const Seen& s) {
                                       return s.mean / mu - s.entropy / mu + s.mean * h / (mu * mu);
                                   });
    }

private:
    template <class F>
    double mean(F of) const {
        double sum = 0;
        double count = 0;
        for (const auto& sample : seen_) {
            for (const auto& one : sample) {
                sum += of(one);
                ++count;
            }
        }
        return sum / count;
    }
    template <class F>
    double error(F of) const {
        std::vector<std::vector<double>> values;
        for (const auto& sample : seen_) {
            auto& own = values.emplace_back();
            for (const auto& one : sample) own.push_back(of(one));
        }
        return standard_error(values);
    }

    std::vector<std::vector<Seen>> seen_;
    double unit_ = 0;
    bool resolved_ = true;
    linalg::Extreme largest_, smallest_;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

ProbedSample probe_sample(const std::vector<Layer>& layers, int streams, int width, std::uint32_t sample,
                          const QuadratureOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    Product product(layers, streams, width, options.seed, sample, options.memory, options.threads);
    linalg::GolubKahanOptions bidiagonalisation;
    bidiagonalisation.steps = options.steps;
    bidiagonalisation.extremes = options.extremes;
    bidiagonalisation.threads = options.threads;
    ProbedSample out;
    out.probes = linalg::golub_kahan(product, probes_of(streams, width, options, sample), bidiagonalisation);
    out.exponent = product.exponent();

    double resolved = 0;
    double mean_square = 0;
    for (const auto& probe : out.probes) {
        resolved = std::max(resolved, probe.resolved_from());
        mean_square += probe.mean_square / static_cast<double>(out.probes.size());
    }
    const double log_norm = 0.5 * std::log(mean_square * product.size()) + log_scale(out.exponent);
    out.log_floor = std::max(std::log(resolved) + log_scale(out.exponent),
                             log_floor(log_norm, expectation(layers).rounding));
    out.seconds = seconds_since(begin);
    return out;
}

Quadrature summary(const std::vector<ProbedSample>& samples, int values) {
    Quadrature out;
    Totals totals;
    double log_floor = -infinity;
    for (const auto& sample : samples) {
        for (const double x : linalg::log_quantiles(sample.probes, values))
            out.log_values.push_back(x + log_scale(sample.exponent));
        log_floor = std::max(log_floor, sample.log_floor);
        totals.add(sample);
        ++out.samples;
    }
    if (out.samples > 0) {
        out.probes = static_cast<int>(samples.front().probes.size());
        totals.finish(out);
        out.law = Spectrum::from_log_values(out.log_values, log_floor);
    }
    return out;
}

Quadrature quadrature(const std::function<std::vector<Layer>(std::uint32_t)>& layers_of, int streams,
                      int width, const QuadratureOptions& options) {
    if (options.samples < 0)
        throw std::invalid_argument("samples is " + std::to_string(options.samples) + "; must be ≥ 0");
    if (options.probes < 1)
        throw std::invalid_argument("probes is " + std::to_string(options.probes) + "; must be ≥ 1");
    const auto begin = std::chrono::steady_clock::now();
    std::vector<ProbedSample> samples;
    for (int s = 0; s < options.samples; ++s) {
        if (options.stop != nullptr && options.stop->load()) break;
        const auto number = static_cast<std::uint32_t>(s);
        samples.push_back(probe_sample(layers_of(number), streams, width, number, options));
        if (options.progress) options.progress(s + 1, options.samples);
    }
    auto out = summary(samples, streams * width);
    out.probes = options.probes;
    out.seconds = seconds_since(begin);
    return out;
}

double standard_error(const std::vector<std::vector<double>>& values) {
    double count = 0;
    double total = 0;
    for (const auto& sample : values) {
        total += std::accumulate(sample.begin(), sample.end(), 0.0);
        count += static_cast<double>(sample.size());
    }
    const double samples = static_cast<double>(values.size());
    double between = 0;
    double within = 0;
    for (const auto& sample : values) {
        const double size = static_cast<double>(sample.size());
        const double mean = std::accumulate(sample.begin(), sample.end(), 0.0) / size;
        between += size * (mean - total / count) * (mean - total / count);
        for (const double value : sample) within += (value - mean) * (value - mean);
    }
    double largest = 0;
    if (samples > 1) largest = between / (samples - 1);
    if (count > samples) largest = std::max(largest, within / (count - samples));
    if (!std::isfinite(between + within)) return std::numeric_limits<double>::quiet_NaN();
    return std::sqrt(largest / count);
}

std::size_t basis_bytes(int size, const QuadratureOptions& options) {
    const auto steps = static_cast<std::size_t>(
        std::min(size, options.extremes > 0 ? std::max(options.steps, linalg::GolubKahanOptions{}.most_steps)
                                            : options.steps));
    return static_cast<std::size_t>(size) * static_cast<std::size_t>(options.probes) * (2 * steps + 5) *
           sizeof(double);
}

}  // namespace spectra::montecarlo
