#include "claims/jpmhc_trained.hpp"

#include "claims/seeds.hpp"

#include <algorithm>
#include <functional>

namespace spectra::claims::jpmhc {
namespace {

Seeds seconds_per_step(const TrainingResults& results, const std::string& name) {
    std::vector<double> values;
    for (const auto* const result : series(results, name))
        values.push_back(1 / result->at("steps_per_second"));
    return over_seeds(values);
}

/// The first step of the log at which the validation loss is no larger than the target.
double steps_to(const TrainingResult& result, double target) {
    const auto& losses = result.column("val_loss");
    const auto found =
        std::find_if(losses.begin(), losses.end(), [&](double loss) { return loss <= target; });
    return result.column("step").at(static_cast<std::size_t>(found - losses.begin()));
}

}  // namespace

Outcome cost_of_mixing(const TrainingResults& results) {
    Outcome out;
    const auto plain = seconds_per_step(results, "speed-gpt"),
               mixed = seconds_per_step(results, "speed-jpmhc"),
               identity = seconds_per_step(results, "speed-identity-stack");
    const double ratio = mixed.mean / plain.mean;
    out.numbers = {timed("JPmHC over plain residuals, time per step", ratio),
                   timed("identity mixers over plain residuals", identity.mean / plain.mean),
                   timed("seconds per step, plain residuals", plain.mean)};
    out.verdict = ratio <= 1.05 ? Verdict::holds : ratio <= 1.2 ? Verdict::holds_in_part : Verdict::refuted;
    return out;
}

Outcome recursive_convergence(const TrainingResults& results) {
    const std::string orthogonal = "text-recursive-cayley", bistochastic = "text-recursive-bistochastic";
    const int lost = diverged(results, {orthogonal}), others_lost = diverged(results, {bistochastic});
    if (lost + others_lost > 0)
        return {holds_if(lost == 0),
                {counted("trainings that diverged, Cayley mixers", lost),
                 counted("trainings that diverged, bistochastic mixers", others_lost)}};
    double target = 0;
    for (const auto& name : {orthogonal, bistochastic})
        for (const auto* const result : series(results, name))
            target = std::max(target, result->at("final_val_loss"));
    const auto steps = [&](const std::string& name) {
        std::vector<double> out;
        for (const auto* const result : series(results, name)) out.push_back(steps_to(*result, target));
        return out;
    };
    const auto first = steps(orthogonal), second = steps(bistochastic);
    const auto fast = over_seeds(first), slow = over_seeds(second);
    const bool each = std::equal(first.begin(), first.end(), second.begin(), std::less<>());
    Outcome out;
    out.numbers = {number("steps to the loss that all reach, Cayley mixers", fast),
                   number("steps to it, bistochastic mixers", slow), computed("that loss", target),
                   number("final loss, Cayley mixers", loss(results, orthogonal)),
                   number("final loss, bistochastic mixers", loss(results, bistochastic))};
    out.verdict = each && fast.mean <= 0.9 * slow.mean ? Verdict::holds
                  : fast.mean < slow.mean              ? Verdict::holds_in_part
                                                       : Verdict::refuted;
    return out;
}

}  // namespace spectra::claims::jpmhc
