#include "claims/jpmhc_counts.hpp"

#include "claims/sampling.hpp"
#include "mixers/registry.hpp"

#include <array>
#include <cmath>

namespace spectra::claims::jpmhc {
namespace {

constexpr double n = 4, d = 512, streams = n * d;

/// C(m, k), for results below 2^53.
double binomial(double m, int k) {
    double out = 1;
    for (int i = 0; i < k; ++i) out = out * (m - i) / (i + 1);
    return std::round(out);
}

/// P(c successes of m trials).
double binomial_probability(int m, int c, double p) {
    return std::exp(std::lgamma(m + 1.0) - std::lgamma(c + 1.0) - std::lgamma(m - c + 1.0) + c * std::log(p) +
                    (m - c) * std::log1p(-p));
}

double pass_estimate(int m, int c, int k) {
    return m - c < k ? 1 : 1 - binomial(m - c, k) / binomial(m, k);
}

/// Of one module: a fused projection of nd numbers to `outputs`, and what is beside it.
double fused(double outputs, double beside) {
    return outputs * streams + beside;
}

}  // namespace

Outcome reduction_factor() {
    const double factor = std::pow(512.0 / 4, 3);
    return {holds_if(factor > 0.3e5 && factor < 3e5), {counted("(p/n)³ at n = 4, p = 512", factor, 1e5)}};
}

Outcome operations_per_module() {
    constexpr double sweeps = 20, gauss_seidel = 16, steps = 2, permutations = 6;
    const double sinkhorn = sweeps * n * n + gauss_seidel * n * n, cayley = 2 * steps * n * n * n,
                 mixture = 2 * permutations * n;
    // One by one. A normalisation in log space: n² exponentials, n(n − 1) additions, n logarithms, n² subtractions, twice
    // per sweep; a Gauss-Seidel sweep: two products with a vector and 2n subtractions; then H, its sums and the result.
    const double forward = 2 * sweeps * (n * n + n * (n - 1) + n + n * n);
    const double backward =
        gauss_seidel * (2 * (2 * n * n - n) + 2 * n) + n * n + 2 * n * (n - 1) + 4 * n * n;
    // A Cayley step: n additions of I + Y, a product of n²(2n − 1) operations, n² scalings, n additions of I; before it
    // n² subtractions and n² scalings. Its backward pass takes twice the products.
    const double step = n + n * n * (2 * n - 1) + n * n + n, cayley_forward = steps * step + 2 * n * n;
    const double counted_sinkhorn = forward + backward, counted_cayley = 3 * cayley_forward;
    const bool orders = sinkhorn == 576 && cayley == 256 && mixture == 48;
    const double ratio = counted_sinkhorn / counted_cayley;
    return {orders && std::abs(ratio - 2.25) < 0.1 ? Verdict::holds
            : orders && ratio > 1                  ? Verdict::holds_in_part
                                                   : Verdict::refuted,
            {counted("Sinkhorn, T n² + k n²", sinkhorn, 576), counted("Cayley, 2 s n³", cayley, 256),
             counted("permutations, 2 K n", mixture, 48),
             counted("Sinkhorn, operations one by one", counted_sinkhorn, 576),
             counted("Cayley, operations one by one", counted_cayley, 256),
             computed("ratio of these", ratio, 2.25)}};
}

Outcome ratios_of_results() {
    struct Ratio {
        const char* name;
        double value, published, digit;
    };
    const std::array<Ratio, 7> ratios{{{"exact accuracy, 31.4 / 22.2", 31.4 / 22.2, 1.41, 0.005},
                                       {"pass@1, 40.5 / 34.1", 40.5 / 34.1, 1.19, 0.005},
                                       {"pass@1000, 62.7 / 56.1", 62.7 / 56.1, 1.12, 0.005},
                                       {"loss, 0.819 / 0.643", 0.819 / 0.643, 1.27, 0.005},
                                       {"reduction of the loss in %", 100 * (1 - 0.643 / 0.819), 21, 0.5},
                                       {"pass@1 to pass@1000 in points, Cayley", 62.7 - 40.5, 22.2, 0.05},
                                       {"pass@1 to pass@1000 in points, Sinkhorn", 56.1 - 34.1, 22.0, 0.05}}};
    Outcome out{Verdict::holds, {}};
    for (const auto& ratio : ratios) {
        // Half a unit of the last printed digit, and rounding.
        if (std::abs(ratio.value - ratio.published) > ratio.digit + 1e-9) out.verdict = Verdict::refuted;
        out.numbers.push_back(computed(ratio.name, ratio.value, ratio.published));
    }
    const double share = 161952.0 / 348854;
    if (share >= 0.5) out.verdict = Verdict::refuted;
    out.numbers.push_back(computed("161,952 steps over 348,854; less than half is claimed", share));
    return out;
}

Outcome pass_at_k() {
    double worst = 0;
    constexpr int samples = 50;
    for (const double p : {0.01, 0.2, 0.7})
        for (const int k : {1, 2, 5, 10}) {
            double mean = 0;
            for (int c = 0; c <= samples; ++c)
                mean += binomial_probability(samples, c, p) * pass_estimate(samples, c, k);
            worst = std::max(worst, std::abs(mean - (1 - std::pow(1 - p, k))));
        }
    return {holds_if(worst < 1e-9), {vanishing("largest bias over p and k, N = 50", worst)}};
}

Outcome numbers_of_subsets() {
    const std::array<std::pair<int, double>, 4> rows{{{6, 15}, {24, 10626}, {120, 8214570}, {720, 1e10}}};
    Outcome out{Verdict::holds, {}};
    for (const auto& [order, published] : rows) {
        const double found = binomial(order, 4);
        const bool same = order == 720 ? std::abs(std::log10(found) - 10) < 0.5 : found == published;
        if (!same) out.verdict = Verdict::refuted;
        out.numbers.push_back(counted("subsets of four of " + std::to_string(order), found, published));
    }
    return out;
}

Outcome module_parameters() {
    // One bias per number and one scale per stream for each mapping that belongs to streams; Cayley: LayerNorm instead.
    const double sinkhorn = fused(n + n + n * n, n + n + n * n + 3 * n),
                 cayley = fused(3 * n * n, 2 * streams);
    const double grassmann = fused(n + n + 8, n + n + 8 + 3 * n),
                 mixture = fused(n + n + 6, n + n + 6 + 2 * n);
    return {holds_if(sinkhorn == 49188 && cayley == 102400 && grassmann == 32796 && mixture == 28694),
            {counted("Sinkhorn", sinkhorn, 49188), counted("Cayley", cayley, 102400),
             counted("Grassmann", grassmann, 32796), counted("permutations", mixture, 28694)}};
}

Outcome parameter_overhead() {
    const double least = 4 * 28694.0, most = 4 * 102400.0;
    const double low = 100 * least / 7e6, high = 100 * most / 7e6;
    return {holds_if(std::abs(low - 1.6) < 0.1 && std::abs(high - 5.8) < 0.1),
            {counted("four modules of permutations", least, 115e3),
             counted("four modules of Cayley", most, 410e3), computed("the first in % of 7 M", low, 1.6),
             computed("the second in % of 7 M", high, 5.8)}};
}

Outcome gauss_seidel_sweeps() {
    const std::array<std::pair<int, int>, 6> rows{{{2, 7}, {3, 12}, {4, 16}, {5, 21}, {6, 26}, {8, 37}}};
    Outcome out{Verdict::holds, {}};
    for (const auto& [size, published] : rows) {
        const double found = std::ceil(std::log(0.01) / std::log(1 - 1.0 / size));
        if (found != published) out.verdict = Verdict::refuted;
        out.numbers.push_back(
            counted("⌈ln 0.01/ln(1 − 1/n)⌉ at n = " + std::to_string(size), found, published));
    }
    return out;
}

Outcome backward_nodes() {
    // Two normalisations per sweep, each of exp, sum, log and a subtraction.
    constexpr double per_projection = 20 * 2 * 4, published = 128000;
    // Two modules in each of twelve applications, at most sixteen times.
    constexpr double projections = 2 * 12 * 16;
    const double most = per_projection * projections;
    return {per_projection > published / 2 ? Verdict::holds
            : most > published / 4         ? Verdict::holds_in_part
                                           : Verdict::refuted,
            {counted("nodes of one projection", per_projection, published),
             counted("projections of a model, at most", projections),
             counted("nodes of all of them", most, published)}};
}

Outcome residual_parameters() {
    const auto numbers = [](const char* family) {
        const auto* const entry = mixers::find_entry(family);
        return static_cast<double>(entry->raw_count(4));
    };
    const double sinkhorn = numbers("bistochastic"), cayley = numbers("cayley"), grassmann = 4 * 2;
    return {holds_if(sinkhorn == 16 && cayley == 16 && grassmann == 8),
            {counted("Sinkhorn, raw numbers at n = 4", sinkhorn, 16), counted("Cayley", cayley, 16),
             counted("Grassmann, a frame of 4 × 2", grassmann, 8),
             counted("numbers of W = H − Hᵀ that matter to Cayley", 4 * 3 / 2.0)}};
}

Outcome recursive_model_parameters() {
    // Two blocks at d = 512: attention 4d², an MLP of ratio 4 with 8d², or 12d² where it is gated; four Cayley modules.
    const double plain = 2 * (4 + 8) * d * d + 4 * 102400, gated = 2 * (4 + 12) * d * d + 4 * 102400;
    return {holds_if(std::abs(plain - 7e6) < 0.7e6),
            {counted("two blocks and four Cayley modules, without embeddings", plain, 7e6),
             counted("the same with gated MLPs", gated)}};
}

}  // namespace spectra::claims::jpmhc
