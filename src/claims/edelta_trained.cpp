#include "claims/edelta_trained.hpp"

#include "claims/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

namespace spectra::claims::edelta {
namespace {

/// A model of a table and the published loss.
struct Row {
    const char* words;
    const char* series;  ///< after the task
    double published;
};

bool within_a_fifth(double found, double published) {
    return std::abs(found / published - 1) <= 0.2;
}

/// Means within 20 % of the published ones: all of them, some, none.
Outcome losses(const TrainingResults& results, const std::string& task, const std::vector<Row>& rows) {
    Outcome out;
    std::size_t near = 0;
    for (const auto& row : rows) {
        const auto found = loss(results, task + row.series);
        near += within_a_fifth(found.mean, row.published) ? 1 : 0;
        out.numbers.push_back(number(row.words, found, row.published));
    }
    const auto& first = *series(results, task + rows.front().series).front();
    for (const auto& [words, key] :
         {std::pair{"copying the input", "baseline_copy"}, std::pair{"running mean", "baseline_running_mean"},
          std::pair{"noise floor", "baseline_noise_floor"}})
        if (first.values.contains(key)) out.numbers.push_back(computed(words, first.at(key)));
    out.verdict = near == rows.size() ? Verdict::holds : near > 0 ? Verdict::holds_in_part : Verdict::refuted;
    return out;
}

/// A column of table 6: published losses of GPT, DDL, mHC, JPmHC and the hybrid.
Outcome table_6(const TrainingResults& results, const std::string& task,
                const std::array<double, 5>& published) {
    auto out = losses(results, task,
                      {{"GPT", "-gpt", published[0]},
                       {"DDL, published pooling", "-ddl-published", published[1]},
                       {"mHC", "-mhc", published[2]},
                       {"JPmHC", "-jpmhc", published[3]},
                       {"hybrid, published pooling", "-edelta-published", published[4]}});
    out.numbers.push_back(number("DDL, causal pooling", loss(results, task + "-ddl")));
    out.numbers.push_back(number("hybrid, causal pooling", loss(results, task + "-edelta")));
    return out;
}

Number ratio(std::string name, const TrainingResults& results, const std::string& above,
             const std::string& below, std::optional<double> published = {}) {
    return computed(std::move(name), loss(results, above).mean / loss(results, below).mean, published);
}

/// How much ln of the validation loss zigzags from row to row of the second half of the log: the root mean square of its
/// second differences.
double roughness(const TrainingResult& result) {
    const auto& losses = result.column("val_loss");
    double sum = 0;
    int count = 0;
    for (std::size_t k = losses.size() / 2; k + 1 < losses.size(); ++k, ++count) {
        const double second = std::log(losses[k + 1]) - 2 * std::log(losses[k]) + std::log(losses[k - 1]);
        sum += second * second;
    }
    return std::sqrt(sum / count);
}

/// The first row of the log from which on a column stays within a tenth of its whole way of its last value.
std::size_t converged(const std::vector<double>& column) {
    const double last = column.back(), tenth = std::abs(last - column.front()) / 10;
    auto row = column.size();
    while (row > 0 && std::abs(column[row - 1] - last) <= tenth) --row;
    return row;
}

/// The first row at which a column has made a share of its way from first to last.
std::size_t reached(const std::vector<double>& column, double share) {
    const double way = column.back() - column.front();
    const auto found = std::find_if(column.begin(), column.end(), [&](double value) {
        return way > 0 ? value - column.front() >= share * way : value - column.front() <= share * way;
    });
    return static_cast<std::size_t>(found - column.begin());
}

Seeds roughness(const TrainingResults& results, const std::string& name) {
    std::vector<double> values;
    for (const auto* const result : series(results, name)) values.push_back(roughness(*result));
    return over_seeds(values);
}

}  // namespace

Outcome gyroscope_losses(const TrainingResults& results) {
    return table_6(results, "gyroscope", {3.78e-3, 3.36e-3, 4.02e-3, 3.08e-4, 1.02e-3});
}

Outcome stability_losses(const TrainingResults& results) {
    return table_6(results, "stability", {1.64e-5, 1.53e-5, 8.65e-3, 8.19e-6, 4.35e-6});
}

Outcome hybrid_on_gyroscope(const TrainingResults& results) {
    Outcome out;
    out.numbers = {
        ratio("GPT over hybrid, published pooling", results, "gyroscope-gpt", "gyroscope-edelta-published",
              3.7),
        ratio("DDL over hybrid, published pooling", results, "gyroscope-ddl-published",
              "gyroscope-edelta-published", 3.3),
        ratio("GPT over hybrid, causal pooling", results, "gyroscope-gpt", "gyroscope-edelta", 3.7),
        ratio("DDL over hybrid, causal pooling", results, "gyroscope-ddl", "gyroscope-edelta", 3.3)};
    const auto better = [&](std::size_t k) { return out.numbers[k].value > 1; };
    const bool published = better(0) && better(1), causal = better(2) && better(3);
    out.verdict = published && causal   ? Verdict::holds
                  : published || causal ? Verdict::holds_in_part
                                        : Verdict::refuted;
    return out;
}

Outcome best_on_gyroscope(const TrainingResults& results) {
    const double best = loss(results, "gyroscope-jpmhc").mean;
    Outcome out;
    out.numbers.push_back(number("JPmHC", loss(results, "gyroscope-jpmhc"), 3.08e-4));
    bool lowest = true;
    for (const auto& [words, name] :
         {std::pair{"GPT", "gyroscope-gpt"}, std::pair{"DDL", "gyroscope-ddl-published"},
          std::pair{"mHC", "gyroscope-mhc"}, std::pair{"hybrid", "gyroscope-edelta-published"}}) {
        const auto found = loss(results, name);
        lowest = lowest && best < found.mean;
        out.numbers.push_back(number(words, found));
    }
    out.verdict = holds_if(lowest);
    return out;
}

Outcome hybrid_on_stability(const TrainingResults& results) {
    Outcome out;
    out.numbers = {
        ratio("JPmHC over hybrid, published pooling", results, "stability-jpmhc",
              "stability-edelta-published", 1.9),
        ratio("GPT over hybrid, published pooling", results, "stability-gpt", "stability-edelta-published",
              3.8),
        ratio("JPmHC over hybrid, causal pooling", results, "stability-jpmhc", "stability-edelta", 1.9),
        ratio("GPT over hybrid, causal pooling", results, "stability-gpt", "stability-edelta", 3.8)};
    const auto better = [&](std::size_t k) { return out.numbers[k].value > 1; };
    const bool published = better(0) && better(1), causal = better(2) && better(3);
    out.verdict = published && causal ? Verdict::holds
                  : published         ? Verdict::holds_in_part
                                      : Verdict::refuted;
    return out;
}

Outcome mhc_on_stability(const TrainingResults& results) {
    const auto mhc = loss(results, "stability-mhc"), stack = loss(results, "stability-bistochastic-stack"),
               plain = loss(results, "stability-gpt");
    Outcome out;
    out.numbers = {number("mHC as published, a branch of 32 channels", mhc, 8.65e-3),
                   number("bistochastic mixers, a branch of all channels", stack),
                   number("plain residuals", plain, 1.64e-5)};
    const bool fails = mhc.mean > 100 * plain.mean;
    out.verdict = !fails                          ? Verdict::refuted
                  : stack.mean > 100 * plain.mean ? Verdict::holds
                  : stack.mean > 10 * plain.mean  ? Verdict::holds_in_part
                                                  : Verdict::refuted;
    return out;
}

Outcome exact_orthogonality(const TrainingResults& results) {
    const auto steps = loss(results, "stability-jpmhc"), exact = loss(results, "stability-jpmhc-exact"),
               hybrid = loss(results, "stability-edelta-published");
    Outcome out;
    out.numbers = {number("JPmHC, two steps of Cayley's map", steps, 8.19e-6),
                   number("JPmHC, exact map", exact), number("hybrid, published pooling", hybrid, 4.35e-6)};
    const double chance = std::hypot(steps.spread, exact.spread);
    out.verdict = exact.mean <= hybrid.mean + hybrid.spread ? Verdict::holds
                  : exact.mean < steps.mean - 2 * chance    ? Verdict::holds_in_part
                                                            : Verdict::refuted;
    return out;
}

Outcome norm_deviations(const TrainingResults& results) {
    const std::vector<Row> rows{{"hybrid, published pooling", "-edelta-published", 0.001},
                                {"JPmHC", "-jpmhc", 0.004},
                                {"GPT", "-gpt", 0.474},
                                {"DDL, published pooling", "-ddl-published", 0.506},
                                {"mHC", "-mhc", 0.543}};
    Outcome out;
    std::size_t near = 0;
    for (const auto& row : rows) {
        const auto found = value(results, std::string("stability") + row.series, "norm_deviation");
        near += std::abs(found.mean - row.published) <= 0.1 * row.published + 0.02 ? 1 : 0;
        out.numbers.push_back(number(row.words, found, row.published));
    }
    out.verdict = near == rows.size() ? Verdict::holds : near > 0 ? Verdict::holds_in_part : Verdict::refuted;
    return out;
}

Outcome norm_preservation(const TrainingResults& results) {
    Outcome out;
    std::vector<double> once;
    for (const auto& [words, name] :
         {std::pair{"hybrid, published pooling", "stability-edelta-published"},
          std::pair{"JPmHC", "stability-jpmhc"}, std::pair{"GPT", "stability-gpt"},
          std::pair{"JPmHC, exact map", "stability-jpmhc-exact"}}) {
        out.numbers.push_back(number(fmt::format("{}, one pass over unit vectors", words),
                                     value(results, name, "norm_deviation")));
        once.push_back(out.numbers.back().value);
        out.numbers.push_back(
            number(fmt::format("{}, rolled out", words), value(results, name, "norm_deviation_rollout")));
    }
    const bool hybrid = once[0] < once[2] / 10, jpmhc = once[1] < once[2] / 10;
    out.verdict = hybrid && jpmhc   ? Verdict::holds
                  : hybrid || jpmhc ? Verdict::holds_in_part
                                    : Verdict::refuted;
    return out;
}

Outcome smoothness(const TrainingResults& results) {
    Outcome out;
    int halved = 0, smoother = 0;
    for (const std::string task : {"gyroscope", "stability"}) {
        std::vector<double> rough;
        for (const auto& [words, name] :
             {std::pair{"hybrid, published pooling", "-edelta-published"},
              std::pair{"DDL, published pooling", "-ddl-published"}, std::pair{"GPT", "-gpt"}}) {
            out.numbers.push_back(number(fmt::format("{}, {}: roughness of ln loss", task, words),
                                         roughness(results, task + name)));
            rough.push_back(out.numbers.back().value);
        }
        halved += rough[0] < rough[1] / 2 ? 1 : 0;
        smoother += rough[0] < rough[1] ? 1 : 0;
    }
    out.verdict = halved == 2 ? Verdict::holds : smoother > 0 ? Verdict::holds_in_part : Verdict::refuted;
    return out;
}

Outcome near_pi_losses(const TrainingResults& results) {
    Outcome out;
    int better = 0;
    struct Task {
        const char *name, *words;
        double ratio;
        std::vector<Row> rows;
    };
    for (const auto& task : {Task{"near-pi-single",
                                  "single plane",
                                  4.5,
                                  {{"hybrid", "-edelta-published", 1.44e-6},
                                   {"JPmHC", "-jpmhc", 6.54e-6},
                                   {"GPT", "-gpt", 1.19e-5},
                                   {"DDL", "-ddl-published", 1.11e-5},
                                   {"mHC", "-mhc", 9.64e-3}}},
                             Task{"near-pi-multi",
                                  "all planes",
                                  1.4,
                                  {{"hybrid", "-edelta-published", 1.24e-6},
                                   {"JPmHC", "-jpmhc", 1.69e-6},
                                   {"GPT", "-gpt", 3.34e-6},
                                   {"DDL", "-ddl-published", 3.75e-6},
                                   {"mHC", "-mhc", 1.63e-3}}}}) {
        for (const auto& row : task.rows)
            out.numbers.push_back(number(fmt::format("{}, {}", row.words, task.words),
                                         loss(results, std::string(task.name) + row.series), row.published));
        for (const auto& [words, name] : {std::pair{"hybrid", "-edelta"}, std::pair{"DDL", "-ddl"}})
            out.numbers.push_back(number(fmt::format("{} with causal pooling, {}", words, task.words),
                                         loss(results, std::string(task.name) + name)));
        out.numbers.push_back(ratio(fmt::format("JPmHC over hybrid, {}", task.words), results,
                                    std::string(task.name) + "-jpmhc",
                                    std::string(task.name) + "-edelta-published", task.ratio));
        better += out.numbers.back().value > 1 ? 1 : 0;
        out.numbers.push_back(
            computed(fmt::format("negating the turned coordinates, {}", task.words),
                     series(results, std::string(task.name) + "-gpt").front()->at("baseline_negation")));
    }
    out.verdict = better == 2 ? Verdict::holds : better == 1 ? Verdict::holds_in_part : Verdict::refuted;
    return out;
}

Outcome charted_losses(const TrainingResults& results) {
    Outcome out;
    int near = 0, all = 0;
    const std::pair<const char*, Outcome (*)(const TrainingResults&)> tables[] = {
        {"gyroscope", gyroscope_losses}, {"stability", stability_losses}, {"near π", near_pi_losses}};
    for (const auto& [words, table] : tables) {
        int agree = 0, bars = 0;
        for (const auto& number : table(results).numbers) {
            if (!number.published || !number.spread) continue;  // what no chart shows, or a ratio of two bars
            agree += within_a_fifth(number.value, *number.published) ? 1 : 0;
            ++bars;
        }
        out.numbers.push_back(
            counted(fmt::format("{}: losses within 20 % of their bars, of {}", words, bars), agree));
        near += agree;
        all += bars;
    }
    out.verdict = near == all ? Verdict::holds : 2 * near >= all ? Verdict::holds_in_part : Verdict::refuted;
    return out;
}

Outcome bistochastic_near_pi(const TrainingResults& results) {
    Outcome out;
    bool far = true;
    for (const auto& [task, words, published] : {std::tuple{"near-pi-single", "single plane", 9.64e-3},
                                                 std::tuple{"near-pi-multi", "all planes", 1.63e-3}}) {
        const auto mixed = loss(results, std::string(task) + "-bistochastic-stack");
        out.numbers.push_back(number(fmt::format("bistochastic mixers, {}", words), mixed, published));
        out.numbers.push_back(number(fmt::format("identity mixers, {}", words),
                                     loss(results, std::string(task) + "-identity-stack")));
        far = far && mixed.mean > published / 100;
    }
    out.verdict = holds_if(far);
    return out;
}

Outcome gate_starts(const TrainingResults& results) {
    Outcome out;
    // The means of the three starts on a task.
    const auto of_task = [&](const char* task, const char* words, const std::string& pooling) {
        std::vector<double> means;
        for (const auto& [start, name] : {std::pair{"bias -1.5", "-bias--1.5"}, std::pair{"bias 0", ""},
                                          std::pair{"bias 1.5", "-bias-1.5"}}) {
            out.numbers.push_back(number(fmt::format("{}, {}", words, start),
                                         loss(results, fmt::format("{}-edelta{}{}", task, pooling, name))));
            means.push_back(out.numbers.back().value);
        }
        return means;
    };
    const auto factor = [](const std::vector<double>& means) {
        const auto [least, most] = std::minmax_element(means.begin(), means.end());
        return *most / *least;
    };
    const auto single = of_task("near-pi-single", "near π, single plane", "-published"),
               all = of_task("near-pi-multi", "near π, all planes", "-published");
    auto six = single;
    six.insert(six.end(), all.begin(), all.end());
    out.numbers.push_back(computed("near π: largest mean of six over the smallest", factor(six), 4));
    of_task("stability", "stability, causal pooling", "");
    of_task("gyroscope", "gyroscope, causal pooling", "");
    constexpr double limit = 4.5;  // the paper's "about 4"
    out.verdict = factor(six) <= limit                              ? Verdict::holds
                  : factor(single) <= limit && factor(all) <= limit ? Verdict::holds_in_part
                                                                    : Verdict::refuted;
    return out;
}

Outcome gate_poles(const TrainingResults& results) {
    Outcome out;
    const auto at_pole = [](double gate, double sign) { return sign * (gate - 0.5) > 0.4; };
    // The shares of biased gates at their poles, and how many neutral models have gates that are not all at one.
    const auto of_task = [&](const char* task, const char* words, const std::string& pooling) {
        int as_claimed = 0;
        for (const auto& [start, name, sign] :
             {std::tuple{"bias -1.5", "-bias--1.5", -1.0}, std::tuple{"bias 1.5", "-bias-1.5", 1.0}}) {
            double share = 0, count = 0;
            for (const auto* const result :
                 series(results, fmt::format("{}-edelta{}{}", task, pooling, name)))
                for (const double gate : result->column("final_gate")) {
                    share += at_pole(gate, sign) ? 1 : 0;
                    ++count;
                }
            out.numbers.push_back(computed(
                fmt::format("{}, {}: share of gates within 0.1 of that pole", words, start), share / count));
            as_claimed += out.numbers.back().value > 0.9 ? 1 : 0;
        }
        int specialised = 0;
        for (const auto* const result : series(results, fmt::format("{}-edelta{}", task, pooling))) {
            const auto& gates = result->column("final_gate");
            const auto all_at = [&](double sign) {
                return std::all_of(gates.begin(), gates.end(),
                                   [&](double gate) { return at_pole(gate, sign); });
            };
            specialised += !all_at(-1) && !all_at(1) ? 1 : 0;
        }
        out.numbers.push_back(counted(
            fmt::format("{}, bias 0: models of three with gates not all at one pole", words), specialised));
        return as_claimed + (specialised >= 2 ? 1 : 0);
    };
    const int found = of_task("near-pi-single", "near π, single plane", "-published") +
                      of_task("near-pi-multi", "near π, all planes", "-published");
    of_task("stability", "stability, causal pooling", "");
    of_task("gyroscope", "gyroscope, causal pooling", "");
    out.verdict = found == 6 ? Verdict::holds : found > 0 ? Verdict::holds_in_part : Verdict::refuted;
    return out;
}

Outcome regulariser_weight(const TrainingResults& results) {
    const std::string model = "gyroscope-edelta-published", causal = "gyroscope-edelta";
    const auto none = loss(results, model + "-weight-0"), low = loss(results, model + "-weight-0.05"),
               usual = loss(results, model), high = loss(results, model + "-weight-0.2");
    Outcome out;
    out.numbers = {number("λ = 0", none, 8.2e-4), number("λ = 0.05", low, 6.1e-4),
                   number("λ = 0.1", usual, 5.69e-4), number("λ = 0.2", high, 5.8e-4)};
    for (const auto& [words, name] : {std::pair{"λ = 0", "-weight-0"}, std::pair{"λ = 0.05", "-weight-0.05"},
                                      std::pair{"λ = 0.1", ""}, std::pair{"λ = 0.2", "-weight-0.2"}})
        out.numbers.push_back(number(fmt::format("{}, causal pooling", words), loss(results, causal + name)));
    const bool worse = none.mean > 1.2 * usual.mean, saturates = std::abs(high.mean / usual.mean - 1) < 0.2;
    out.verdict = worse && saturates   ? Verdict::holds
                  : worse || saturates ? Verdict::holds_in_part
                                       : Verdict::refuted;
    return out;
}

Outcome wider_and_shallower(const TrainingResults& results) {
    const std::string model = "gyroscope-edelta-published", causal = "gyroscope-edelta";
    const auto usual = loss(results, model), three = loss(results, model + "-3x184"),
               two = loss(results, model + "-2x224");
    Outcome out;
    out.numbers = {number("6 blocks of 128 channels", usual, 1.02e-3),
                   number("3 blocks of 184", three, 3.97e-3), number("2 blocks of 224", two, 4.01e-3)};
    for (const auto& [words, name] :
         {std::pair{"6 blocks of 128 channels", ""}, std::pair{"3 blocks of 184", "-3x184"},
          std::pair{"2 blocks of 224", "-2x224"}})
        out.numbers.push_back(number(fmt::format("{}, causal pooling", words), loss(results, causal + name)));
    const int worse = (three.mean > usual.mean ? 1 : 0) + (two.mean > usual.mean ? 1 : 0);
    out.verdict = worse == 2 ? Verdict::holds : worse == 1 ? Verdict::holds_in_part : Verdict::refuted;
    return out;
}

Outcome reflection_parameters(const TrainingResults& results) {
    Outcome out;
    std::size_t near = 0;
    for (const auto& [words, name, which, published] :
         {std::tuple{"β of DDL", "reflection-ddl-500", "beta", 1.995},
          std::tuple{"cosine of DDL", "reflection-ddl-500", "cosine", 0.96},
          std::tuple{"γ of the hybrid", "reflection-edelta-500", "gate", 0.051},
          std::tuple{"cosine of the hybrid", "reflection-edelta-500", "cosine", 0.96}}) {
        const auto found = value(results, name, which);
        near += std::abs(found.mean - published) <= 0.01 ? 1 : 0;
        out.numbers.push_back(number(words, found, published));
    }
    const auto jpmhc = value(results, "reflection-jpmhc-500", "cosine");
    out.numbers.push_back(number("cosine of JPmHC", jpmhc, -0.25));
    near += jpmhc.mean < 0 ? 1 : 0;
    out.verdict = near == out.numbers.size() ? Verdict::holds
                  : near > 0                 ? Verdict::holds_in_part
                                             : Verdict::refuted;
    return out;
}

Outcome reflection_by_samples(const TrainingResults& results) {
    Outcome out;
    std::vector<double> betas;
    bool negative = true;
    for (const int size : {10, 25, 50, 100, 200, 500}) {
        out.numbers.push_back(number(fmt::format("β of DDL, {} samples", size),
                                     value(results, fmt::format("reflection-ddl-{}", size), "beta"),
                                     size == 500 ? std::optional(1.995) : std::nullopt));
        betas.push_back(out.numbers.back().value);
    }
    for (const int size : {10, 25, 50, 100, 200, 500}) {
        const auto name = fmt::format("reflection-jpmhc-{}", size);
        out.numbers.push_back(number(fmt::format("cosine of JPmHC, {} samples", size),
                                     value(results, name, "cosine"),
                                     size == 500 ? std::optional(-0.25) : std::nullopt));
        for (const auto* const result : series(results, name))
            negative = negative && result->at("cosine") < 0;
    }
    const bool grows = std::adjacent_find(betas.begin(), betas.end(), std::greater_equal<>()) == betas.end();
    out.verdict = grows && negative   ? Verdict::holds
                  : grows || negative ? Verdict::holds_in_part
                                      : Verdict::refuted;
    return out;
}

Outcome parameters_before_alignment(const TrainingResults& results) {
    Outcome out;
    int literal = 0, weak = 0;  // operators of which it is so for every seed
    for (const auto& [words, model, name, parameter] :
         {std::tuple{"β", "DDL", "reflection-ddl-500", "beta"},
          std::tuple{"γ", "the hybrid", "reflection-edelta-500", "gate"}}) {
        std::vector<double> settled, half, most;
        for (const auto* const result : series(results, name)) {
            const auto& steps = result->column("step");
            const auto& cosine = result->column("cosine");
            settled.push_back(steps.at(converged(result->column(parameter))));
            half.push_back(steps.at(reached(cosine, 0.5)));
            most.push_back(steps.at(reached(cosine, 0.9)));
        }
        const auto before = [&](const std::vector<double>& later) {
            return std::equal(settled.begin(), settled.end(), later.begin(), std::less<>());
        };
        literal += before(half) ? 1 : 0;
        weak += before(most) ? 1 : 0;
        out.numbers.push_back(
            number(fmt::format("steps until {} of {} has converged", words, model), over_seeds(settled)));
        out.numbers.push_back(number(
            fmt::format("steps until the cosine of {} has made half of its way", model), over_seeds(half)));
        out.numbers.push_back(number(fmt::format("steps until the cosine of {} has made nine tenths", model),
                                     over_seeds(most)));
    }
    out.verdict = literal == 2 ? Verdict::holds : weak > 0 ? Verdict::holds_in_part : Verdict::refuted;
    return out;
}

}  // namespace spectra::claims::edelta
