#include "dyson/law/theory.hpp"
#include "study/figures/panels.hpp"
#include "study/figures/trained_runs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace spectra::study {

namespace {

/// exp(−∫ (s/μ) ln(s/μ) ρ) of the operator-valued law; NaN where that is not certified.
double effective_rank(const Network& network) {
    dyson::Options options;
    options.threads = 1;
    options.points = 100;
    options.tolerance = 1e-6;
    const auto theory = dyson::solve(network, dyson::Method::operator_valued, options);
    return theory.summary.certified ? theory.law.metrics().effective_rank
                                    : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Drawing draw_rank(const FigureRequest& request, Observer& observer) {
    const auto mixers =
        mixers_or(request, {"identity", "cayley", "cayley-hybrid", "spectral-sphere", "bistochastic"});
    const auto depths = depths_of_curve(request, 100, 10);
    const auto runs = read_trained(request.files);
    const auto x = log10_of(depths);

    Drawing drawing;
    plot::Panel theory;
    for (const auto& mixer : mixers) {
        const auto networks = networks_at(request, mixer, depths);
        std::vector<double> rank(depths.size());
        for_all(request, observer, mixer, depths.size(),
                [&](std::size_t k) { rank[k] = effective_rank(networks[k]); });
        drawing.points += static_cast<int>(depths.size());
        for (const double value : rank) drawing.uncertified += std::isnan(value) ? 1 : 0;
        theory.series.push_back(line(mixer, theory.series.size(), x, std::move(rank)));
    }
    frame_x(theory, "depth L (layers)", plot::Scale::logarithmic);
    theory.y = {"effective rank of J (share)", plot::Scale::linear, 0, 1.03};
    drawing.figure.panels.push_back(std::move(theory));

    plot::Panel states;
    for (std::size_t k = 0; k < runs.size(); ++k)
        if (const auto* rank = runs[k].along("effective_rank")) {
            const std::size_t style = mixers.size() + 2 * k;
            auto first = along_places(runs[k], *rank, 0, style);
            auto last = along_places(runs[k], *rank, rank->rows - 1, style + 1);
            first.label += fmt::format(", step {:.0f}", runs[k].step.front());
            last.label += fmt::format(", step {:.0f}", runs[k].step.back());
            states.series.push_back(std::move(first));
            states.series.push_back(std::move(last));
        }
    add_framed(drawing, std::move(states), "sublayer", "effective rank of states (share)",
               plot::Scale::linear);

    drawing.figure.title = "Effective rank against depth";
    drawing.figure.panel_height = 44;
    drawing.figure.caption = {fmt::format("Operator-valued theory, p → ∞; {}; one mixer per layer",
                                          setting_words(request, default_noise)),
                              certificate_of(drawing)};
    if (drawing.figure.panels.size() > 1)
        drawing.figure.caption.front() += "; states of trained models as measured";
    return drawing;
}

}  // namespace spectra::study
