#include "claims/mgt_trained.hpp"

#include "claims/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

namespace spectra::claims::mgt {
namespace {

constexpr int depths[] = {12, 24, 48, 100};

std::string model(const char* name, int depth) {
    return fmt::format("text-{}-{}", name, depth);
}

std::vector<std::string> at_all_depths(const std::vector<const char*>& names) {
    std::vector<std::string> out;
    for (const auto* const name : names)
        for (const int depth : depths) out.push_back(model(name, depth));
    return out;
}

/// Effective rank, equation (8), after the last block.
std::vector<double> last_ranks(const TrainingResults& results, const std::string& name) {
    std::vector<double> out;
    for (const auto* const result : series(results, name))
        out.push_back(result->column("final_sequence_rank").back());
    return out;
}

double mean(const double* begin, const double* end) {
    return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

/// The step function of depth that fits numbers best, by least squares.
struct Step {
    double before = 0, after = 0;  ///< its two values
    double share = 0;              ///< of the variance that it explains
};

Step best_step(const std::vector<double>& y) {
    const double *const begin = y.data(), *const end = begin + y.size();
    const double middle = mean(begin, end);
    const double all =
        std::accumulate(begin, end, 0.0, [&](double s, double v) { return s + (v - middle) * (v - middle); });
    Step best;
    for (const auto* cut = begin + 1; cut < end; ++cut) {
        const double before = mean(begin, cut), after = mean(cut, end);
        const double between = static_cast<double>(cut - begin) * (before - middle) * (before - middle) +
                               static_cast<double>(end - cut) * (after - middle) * (after - middle);
        if (all > 0 && between / all > best.share) best = {before, after, between / all};
    }
    return best;
}

}  // namespace

Outcome post_ln_rank(const TrainingResults& results) {
    if (auto open = undecided(results, at_all_depths({"post-ln"}))) return *open;
    Outcome out;
    std::vector<double> means;
    for (const int depth : depths) {
        const auto rank = over_seeds(last_ranks(results, model("post-ln", depth)));
        out.numbers.push_back(number(fmt::format("effective rank, Post-LN, {} layers", depth), rank));
        means.push_back(rank.mean);
    }
    const bool falls = std::adjacent_find(means.begin(), means.end(), std::less_equal<>()) == means.end();
    out.verdict = falls && means.back() < 0.05       ? Verdict::holds
                  : means.back() < means.front() / 2 ? Verdict::holds_in_part
                                                     : Verdict::refuted;
    return out;
}

Outcome mgt_rank(const TrainingResults& results) {
    if (auto open = undecided(results, at_all_depths({"mgt"}))) return *open;
    Outcome out;
    for (const int depth : depths)
        out.numbers.push_back(number(fmt::format("effective rank, MGT, {} layers", depth),
                                     over_seeds(last_ranks(results, model("mgt", depth)))));
    const auto deepest = last_ranks(results, model("mgt", 100));
    const bool each = std::all_of(deepest.begin(), deepest.end(), [](double rank) { return rank > 0.5; });
    out.verdict = each                             ? Verdict::holds
                  : out.numbers.back().value > 0.5 ? Verdict::holds_in_part
                                                   : Verdict::refuted;
    return out;
}

Outcome rank_decay(const TrainingResults& results) {
    if (auto open = undecided(results, at_all_depths({"post-ln", "mgt"}))) return *open;
    Outcome out;
    bool everywhere = true, deepest = false;
    for (const int depth : depths) {
        bool better = true;
        for (const auto& [words, key] :
             {std::pair{"ρ", "rank_preservation"}, std::pair{"slope of ln rank per layer", "rank_decay"}}) {
            const auto plain = value(results, model("post-ln", depth), key),
                       full = value(results, model("mgt", depth), key);
            better = better && clearly_below(plain, full);
            out.numbers.push_back(number(fmt::format("{}, Post-LN, {} layers", words, depth), plain));
            out.numbers.push_back(number(fmt::format("{}, MGT, {} layers", words, depth), full));
        }
        everywhere = everywhere && better;
        deepest = better;
    }
    out.verdict = everywhere ? Verdict::holds : deepest ? Verdict::holds_in_part : Verdict::refuted;
    return out;
}

Outcome synergy(const TrainingResults& results) {
    const std::vector<std::string> names{model("post-ln", 48), model("mgt-mhc", 48), model("mgt-ddl", 48),
                                         model("mgt", 48)};
    if (auto open = undecided(results, names)) return *open;
    Outcome out;
    for (const auto& name : names)
        out.numbers.push_back(number("loss, " + name.substr(5), loss(results, name)));
    std::vector<double> synergies;
    for (std::size_t k = 0; k < std::size(training_seeds); ++k) {
        const auto of = [&](std::size_t which) {
            return series(results, names[which])[k]->at("final_val_loss");
        };
        synergies.push_back(of(1) + of(2) - of(0) - of(3));
    }
    const auto s = over_seeds(synergies);
    out.numbers.push_back(number("synergy S", s));
    out.verdict = s.mean > 2 * s.error() ? Verdict::holds
                  : s.mean > 0           ? Verdict::holds_in_part
                                         : Verdict::refuted;
    return out;
}

Outcome gates_by_depth(const TrainingResults& results) {
    if (auto open = undecided(results, {model("mgt", 100)})) return *open;
    std::vector<double> early, negative_early, negative_deep, half, last;
    bool positive = true, reversed = true, sharper = true;
    for (const auto* const result : series(results, model("mgt", 100))) {
        const auto& beta = result->column("beta");
        const auto& negative = result->column("final_beta_negative");
        const auto sublayers = negative.size(), rows = result->column("step").size(), quarter = sublayers / 4;
        const auto row = [&](std::size_t which) {
            const auto begin = beta.begin() + static_cast<std::ptrdiff_t>(which * sublayers);
            return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(sublayers));
        };
        const auto at_end = row(rows - 1);
        const auto step = best_step(at_end);
        early.push_back(mean(at_end.data(), at_end.data() + quarter));
        negative_early.push_back(mean(negative.data(), negative.data() + quarter));
        negative_deep.push_back(mean(negative.data() + sublayers - quarter, negative.data() + sublayers));
        half.push_back(best_step(row(rows / 2)).share);
        last.push_back(step.share);
        positive = positive && early.back() > 0;
        reversed = reversed && negative_deep.back() >= 0.25 && negative_deep.back() > negative_early.back();
        sharper = sharper && last.back() > half.back() && step.before > step.after;
    }
    Outcome out;
    out.numbers = {
        number("mean β of the first quarter of sublayers", over_seeds(early)),
        number("share of β < 0 there", over_seeds(negative_early)),
        number("share of β < 0 in the last quarter", over_seeds(negative_deep)),
        number("variance of β by depth that one step explains, after half of the steps", over_seeds(half)),
        number("the same at the end", over_seeds(last))};
    out.verdict = positive && reversed && sharper ? Verdict::holds
                  : positive && reversed          ? Verdict::holds_in_part
                                                  : Verdict::refuted;
    return out;
}

Outcome depth_scaling(const TrainingResults& results) {
    Outcome out;
    std::vector<Seeds> plain, full;
    for (const int depth : {24, 48, 100})
        for (const auto& [words, name, all] :
             {std::tuple{"Post-LN", "post-ln-20m", &plain}, std::tuple{"MGT", "mgt-20m", &full}}) {
            const auto series_name = model(name, depth);
            all->push_back(loss(results, series_name));
            if (const int count = diverged(results, {series_name}); count > 0)
                out.numbers.push_back(
                    counted(fmt::format("trainings that diverged, {}, {} layers", words, depth), count));
            else
                out.numbers.push_back(number(fmt::format("loss, {}, {} layers", words, depth), all->back()));
        }
    const bool improves = clearly_below(full.back(), full.front()),
               degrades = clearly_below(plain.front(), plain.back()),
               better = clearly_below(full.back(), plain.back());
    out.verdict = improves && degrades && better ? Verdict::holds
                  : better                       ? Verdict::holds_in_part
                                                 : Verdict::refuted;
    return out;
}

}  // namespace spectra::claims::mgt
