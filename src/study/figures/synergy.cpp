#include "base/text.hpp"
#include "study/figures/panels.hpp"
#include "study/figures/trained_runs.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <stdexcept>

namespace spectra::study {

namespace {

/// The runs of one configuration.
struct Group {
    const char* name;
    std::vector<std::string> architectures;
    std::vector<const TrainedRun*> runs = {};

    double mean() const {
        double sum = 0;
        for (const auto* run : runs) sum += run->loss.back();
        return sum / static_cast<double>(runs.size());
    }
    /// Of the mean; NaN of a single run.
    double variance() const {
        double sum = 0;
        for (const auto* run : runs) sum += std::pow(run->loss.back() - mean(), 2);
        const auto count = static_cast<double>(runs.size());
        return runs.size() > 1 ? sum / (count - 1) / count : std::numeric_limits<double>::quiet_NaN();
    }
};

std::array<Group, 4> grouped(const std::vector<TrainedRun>& runs) {
    std::array<Group, 4> groups{Group{"base", {"post-ln", "gpt"}}, Group{"mHC only", {"mgt-mhc"}},
                                Group{"DDL only", {"mgt-ddl"}}, Group{"both", {"mgt"}}};
    const auto refuse = [](const std::string& why) { throw std::invalid_argument("figure synergy: " + why); };
    for (const auto& run : runs) {
        if (run.task != runs.front().task || run.step.back() != runs.front().step.back())
            refuse(fmt::format("{} has {:.0f} steps of {}, {} has {:.0f} of {}; must be the same",
                               runs.front().label, runs.front().step.back(), runs.front().task, run.label,
                               run.step.back(), run.task));
        bool placed = false;
        for (auto& group : groups)
            for (const auto& architecture : group.architectures)
                if (run.architecture == architecture) {
                    group.runs.push_back(&run);
                    placed = true;
                }
        if (!placed)
            refuse(fmt::format("{}: architecture {}; must be post-ln or gpt, mgt-mhc, mgt-ddl and mgt",
                               run.label, in_quotes(run.architecture)));
    }
    for (const auto& group : groups) {
        if (group.runs.empty())
            refuse(fmt::format("no run of {}; give runs of post-ln (or gpt), mgt-mhc, mgt-ddl and mgt",
                               group.architectures.front()));
        for (const auto* run : group.runs)
            if (run->architecture != group.runs.front()->architecture)
                refuse(fmt::format("{} and {} cannot both be the base", run->architecture,
                                   group.runs.front()->architecture));
    }
    return groups;
}

/// What S and its standard error mean.
std::string verdict(double synergy, double error) {
    const char* const sign = synergy > 0 ? "more" : "less";
    if (std::isnan(error))
        return fmt::format(
            "S {} 0: together they gain {} than the sum of their gains; one seed each, so no error is known",
            synergy > 0 ? ">" : "≤", sign);
    if (std::abs(synergy) <= 2 * error)
        return fmt::format("S = {:.3g} ± {:.2g}: not distinguishable from 0 at two standard errors", synergy,
                           error);
    return fmt::format("S = {:.3g} ± {:.2g}: together they gain {} than the sum of their gains", synergy,
                       error, sign);
}

}  // namespace

Drawing draw_synergy(const FigureRequest& request, Observer&) {
    if (request.files.empty())
        throw std::invalid_argument(
            "figure synergy: no files given; use spectra figure synergy FILE.h5…, with runs of post-ln (or gpt), mgt-mhc, "
            "mgt-ddl and mgt written by spectra train");
    const auto runs = read_trained(request.files);
    const auto groups = grouped(runs);
    Drawing drawing;
    plot::Panel curves, ends;
    double variance = 0;
    for (std::size_t k = 0; k < groups.size(); ++k) {
        const auto& group = groups[k];
        variance += group.variance();
        for (const auto* run : group.runs) {
            auto curve = line(run == group.runs.front() ? group.name : "", k, run->step, log10_of(run->loss));
            curves.series.push_back(std::move(curve));
            auto end = line("", k, {static_cast<double>(k + 1)}, {run->loss.back()});
            end.mark = plot::Mark::points;
            end.width = 9;
            ends.series.push_back(std::move(end));
        }
        drawing.numbers.emplace_back(
            fmt::format("validation loss, {} ({})", group.name, group.runs.front()->architecture),
            group.mean());
    }
    const double base = groups[0].mean();
    const double synergy = groups[1].mean() + groups[2].mean() - base - groups[3].mean();
    const double error = std::sqrt(variance);
    for (std::size_t k = 1; k < groups.size(); ++k)
        drawing.numbers.emplace_back(fmt::format("gain, {}", groups[k].name), base - groups[k].mean());
    drawing.numbers.emplace_back("synergy S", synergy);
    if (!std::isnan(error)) drawing.numbers.emplace_back("standard error of S", error);
    drawing.remarks.push_back(verdict(synergy, error));

    add_framed(drawing, std::move(curves), "step", "validation loss", plot::Scale::logarithmic);
    add_framed(drawing, std::move(ends), "base, mHC, DDL, both", "final validation loss",
               plot::Scale::linear);
    drawing.figure.panels.back().x.min = 0.5;
    drawing.figure.panels.back().x.max = 4.5;
    drawing.figure.title =
        fmt::format("{}: synergy of gate and Delta update S = {:.3g}", runs.front().task, synergy);
    drawing.figure.columns = 2;
    drawing.figure.caption = {fmt::format(
        "{} runs of {:.0f} steps; S = gain of both − gain of mHC − gain of DDL, gains over the base in validation "
        "loss; {}",
        runs.size(), runs.front().step.back(), drawing.remarks.front())};
    return drawing;
}

}  // namespace spectra::study
