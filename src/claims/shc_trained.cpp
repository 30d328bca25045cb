#include "claims/shc_trained.hpp"

#include "claims/seeds.hpp"
#include "claims/shc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace spectra::claims::shc {
namespace {

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Cosine between streams after the mixer, mean over the second half of the log and all sublayers but the first, before
/// which streams are equal. Identity mixers leave streams as the sublayer before left them.
double similarity(const TrainingResult& result) {
    const bool mixed = result.columns.contains("stream_cosine_mixed");
    const auto& all = result.column(mixed ? "stream_cosine_mixed" : "stream_cosine");
    const auto rows = result.column("step").size(), sublayers = all.size() / rows;
    std::vector<double> taken;
    for (auto row = rows / 2; row < rows; ++row)
        for (std::size_t k = 1; k < sublayers; ++k)
            taken.push_back(all[row * sublayers + (mixed ? k : k - 1)]);
    return mean(taken);
}

Seeds similarity(const TrainingResults& results, const std::string& name) {
    std::vector<double> values;
    for (const auto* const result : series(results, name)) values.push_back(similarity(*result));
    return over_seeds(values);
}

Seeds final_mean(const TrainingResults& results, const std::string& name, const std::string& diagnostic) {
    std::vector<double> values;
    for (const auto* const result : series(results, name))
        values.push_back(mean(result->column("final_" + diagnostic)));
    return over_seeds(values);
}

double final_largest(const TrainingResults& results, const std::string& name, const std::string& diagnostic) {
    double out = 0;
    for (const auto* const result : series(results, name))
        for (const double value : result->column("final_" + diagnostic)) out = std::max(out, value);
    return out;
}

/// Largest gradient norm after the warm-up over the median there: rows of the log are means over their steps.
double largest_over_median(const TrainingResult& result) {
    const auto& steps = result.column("step");
    const auto& norms = result.column("gradient_norm");
    std::vector<double> late;
    for (std::size_t k = 0; k < steps.size(); ++k)
        if (steps[k] > 100) late.push_back(norms[k]);
    std::sort(late.begin(), late.end());
    const auto half = late.size() / 2;
    const double median = late.size() % 2 == 1 ? late[half] : (late[half - 1] + late[half]) / 2;
    return late.back() / median;
}

}  // namespace

Outcome bistochastic_similarity(const TrainingResults& results) {
    const std::vector<std::string> names{"text-identity-stack", "text-bistochastic-stack", "text-mhc-lite"};
    if (auto open = undecided(results, names)) return *open;
    const auto plain = similarity(results, names[0]);
    Outcome out;
    out.numbers.push_back(number("cosine between streams, identity mixers", plain));
    int slightly = 0;
    for (const auto& [words, name] : {std::pair{"mHC", names[1]}, std::pair{"mHC-lite", names[2]}}) {
        const auto mixed = similarity(results, name);
        out.numbers.push_back(number(fmt::format("cosine between streams, {}", words), mixed));
        slightly += clearly_below(plain, mixed) && mixed.mean < plain.mean + 0.1 ? 1 : 0;
    }
    out.verdict = slightly == 2 ? Verdict::holds : slightly == 1 ? Verdict::holds_in_part : Verdict::refuted;
    return out;
}

Outcome sphere_similarity(const TrainingResults& results) {
    if (auto open = undecided(results, {"text-identity-stack", "text-shc"})) return *open;
    const auto plain = similarity(results, "text-identity-stack"), mixed = similarity(results, "text-shc");
    Outcome out;
    out.numbers = {number("cosine between streams, identity mixers", plain),
                   number("cosine between streams, sHC", mixed)};
    out.verdict = clearly_below(mixed, plain) ? Verdict::holds
                  : mixed.mean < plain.mean   ? Verdict::holds_in_part
                                              : Verdict::refuted;
    return out;
}

Outcome trained_entries(const TrainingResults& results) {
    if (auto open = undecided(results, {"text-shc", "text-bistochastic-stack", "text-mhc-lite"}))
        return *open;
    Outcome out;
    out.numbers = {
        number("sHC, share of entries below −0.01", final_mean(results, "text-shc", "negative_share")),
        number("sHC, share of entries farther than 0.05 from 0 and 1",
               final_mean(results, "text-shc", "fractional_share")),
        number("mHC, the same", final_mean(results, "text-bistochastic-stack", "fractional_share")),
        number("mHC-lite, the same", final_mean(results, "text-mhc-lite", "fractional_share")),
        vanishing("sHC, largest defect of a row sum", final_largest(results, "text-shc", "row_sum_defect"),
                  1e-4),
        vanishing("sHC, largest defect of a column sum",
                  final_largest(results, "text-shc", "column_sum_defect"), 1e-4)};
    const auto at = [&](std::size_t k) { return out.numbers[k].value; };
    const bool continuous = at(0) >= 0.05 && at(1) >= 0.2, concentrated = at(2) <= 0.05 && at(3) <= 0.05,
               exact = at(4) < 1e-4 && at(5) < 1e-4;
    out.verdict = continuous && concentrated && exact ? Verdict::holds
                  : continuous                        ? Verdict::holds_in_part
                                                      : Verdict::refuted;
    return out;
}

Outcome losses(const TrainingResults& results) {
    Outcome out;
    std::vector<Seeds> all;
    for (const auto& [words, name] :
         {std::pair{"sHC", "text-shc"}, std::pair{"mHC", "text-bistochastic-stack"},
          std::pair{"mHC-lite", "text-mhc-lite"}, std::pair{"plain residuals", "text-gpt"},
          std::pair{"HC", "text-hc"}}) {
        all.push_back(loss(results, name));
        if (const int count = diverged(results, {name}); count > 0)
            out.numbers.push_back(counted(fmt::format("trainings that diverged, {}", words), count));
        else
            out.numbers.push_back(number(fmt::format("loss, {}", words), all.back()));
    }
    const auto best = [&](const auto& below) { return below(all[0], all[1]) && below(all[0], all[2]); };
    const auto better = [&](const auto& below) { return below(all[1], all[3]) && below(all[2], all[3]); };
    const auto means = [](const Seeds& a, const Seeds& b) { return a.mean < b.mean; };
    out.verdict = best(clearly_below) && better(clearly_below) ? Verdict::holds
                  : best(means) || better(means)               ? Verdict::holds_in_part
                                                               : Verdict::refuted;
    return out;
}

Outcome gradient_norms(const TrainingResults& results) {
    constexpr double limit = 5;
    Outcome out;
    int hc = 0, others = 0;  // trainings with exploding gradients
    for (const auto& [words, name, count] :
         {std::tuple{"HC", "text-hc", &hc}, std::tuple{"plain residuals", "text-gpt", &others},
          std::tuple{"mHC", "text-bistochastic-stack", &others},
          std::tuple{"mHC-lite", "text-mhc-lite", &others}, std::tuple{"sHC", "text-shc", &others}}) {
        const int gone = diverged(results, {name});
        std::vector<double> ratios;
        for (const auto* const result : series(results, name))
            if (!result->diverged()) ratios.push_back(largest_over_median(*result));
        *count += gone + static_cast<int>(std::count_if(ratios.begin(), ratios.end(),
                                                        [](double ratio) { return ratio > limit; }));
        if (gone > 0)
            out.numbers.push_back(counted(fmt::format("trainings that diverged, {}", words), gone));
        else
            out.numbers.push_back(
                number(fmt::format("largest gradient norm over the median, {}", words), over_seeds(ratios)));
    }
    out.verdict = hc == 0 ? Verdict::refuted : others == 0 ? Verdict::holds : Verdict::holds_in_part;
    return out;
}

Outcome throughput_by_streams(const TrainingResults& results) {
    Outcome out;
    const auto speed = [&](int streams) {
        const double mean =
            value(results, fmt::format("speed-mhc-lite-{}", streams), "steps_per_second").mean;
        out.numbers.push_back(timed(fmt::format("steps per second, n = {}", streams), mean));
        return mean;
    };
    const double two = speed(2);
    speed(4);
    const double six = speed(6), seven = speed(7);
    // Weight, gradient and Adam's two moments in float32, and a base model of 0.12 B, in GiB.
    const auto memory = [&](int streams) {
        const double parameters = 0.12e9 + auxiliary_parameters(streams, std::tgamma(streams + 1.0));
        out.numbers.push_back(computed(fmt::format("GiB of parameters and their moments, n = {}", streams),
                                       16 * parameters / (1 << 30)));
        return out.numbers.back().value;
    };
    const bool falls = six >= two / 2 && seven < six / 2, exceeds = memory(7) < 48 && memory(8) > 48;
    out.verdict = falls && exceeds   ? Verdict::holds
                  : falls || exceeds ? Verdict::holds_in_part
                                     : Verdict::refuted;
    return out;
}

}  // namespace spectra::claims::shc
