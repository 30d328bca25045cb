#include "mixers/gate_regulariser.hpp"
#include "study/figures/panels.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace spectra::study {

namespace {

using mixers::GateRegulariser;

constexpr int steps = 400;
constexpr double rate = 0.1;           ///< of gradient descent; the penalty's weight λ is 1
constexpr double task_slope = 0.05;    ///< of a task that prefers γ = 0
constexpr double input_weight = 0.02;  ///< w of γ(x) = σ(w x + b)
constexpr double biased_start = 1.5;
constexpr double steepest = 8;  ///< slopes beyond it are left out

double gate_of(double logit) {
    return 1 / (1 + std::exp(-logit));
}

/// γ = σ(θ) after every step of gradient descent on f(γ) + task·γ, from θ = start. For inputs x = ±1 and γ(x) = σ(w x), θ is
/// the w of x = 1: the gradients of both inputs by w are equal, and those by the bias cancel.
std::vector<double> descend(const GateRegulariser& f, double start, double task) {
    std::vector<double> gates{gate_of(start)};
    double logit = start;
    for (int k = 0; k < steps; ++k) {
        const double gate = gates.back();
        logit -= rate * gate * (1 - gate) * (f.slope(gate) + task);
        gates.push_back(gate_of(logit));
    }
    return gates;
}

/// The first step after which γ is outside [0.1, 0.9]; infinite if none is.
double escape(const std::vector<double>& gates) {
    for (std::size_t k = 0; k < gates.size(); ++k)
        if (gates[k] < 0.1 || gates[k] > 0.9) return static_cast<double>(k);
    return std::numeric_limits<double>::infinity();
}

}  // namespace

Drawing draw_midpoint(const FigureRequest&, Observer&) {
    constexpr int points = 200;
    std::vector<double> gates, times;
    for (int k = 0; k <= points; ++k) gates.push_back(static_cast<double>(k) / points);
    for (int k = 0; k <= steps; ++k) times.push_back(k);

    Drawing drawing;
    plot::Panel values, slopes, escapes, others;
    for (std::size_t k = 0; k < mixers::gate_regularisers.size(); ++k) {
        const auto& f = mixers::gate_regularisers[k];
        std::vector<double> value, slope;
        for (const double gate : gates) {
            value.push_back(f.value(gate));
            slope.push_back(std::abs(f.slope(gate)) <= steepest ? f.slope(gate)
                                                                : std::numeric_limits<double>::quiet_NaN());
        }
        values.series.push_back(line(f.formula, k, gates, std::move(value)));
        slopes.series.push_back(line(f.formula, k, gates, std::move(slope)));
        auto course = descend(f, input_weight, 0);
        drawing.numbers.emplace_back(fmt::format("{}: slope at 0", f.formula), f.slope(0));
        drawing.numbers.emplace_back(fmt::format("{}: steps out of [0.1, 0.9]", f.formula), escape(course));
        others.series.push_back(line(f.formula, k, times, std::move(course)));
    }

    const auto& published = mixers::gate_regularisers.front();
    const auto add = [&](const std::string& label, const char* colour, plot::Dash dash,
                         std::vector<double> course) {
        if (!label.empty()) drawing.numbers.emplace_back(label + ": steps out of [0.1, 0.9]", escape(course));
        auto curve = line(label, 0, times, std::move(course));
        curve.colour = colour;
        curve.dash = dash;
        curve.width = 3;
        escapes.series.push_back(std::move(curve));
    };
    using plot::Dash;
    add("b = 0: stays", "#e69f00", Dash::dashed, descend(published, 0, 0));
    add(fmt::format("task of slope {:g}", task_slope), "#56b4e9", Dash::dotted,
        descend(published, 0, task_slope));
    auto upper = descend(published, input_weight, 0), lower = upper;
    for (auto& gate : lower) gate = 1 - gate;
    add(fmt::format("inputs ±1, w = {:g}", input_weight), "#7a3e9d", Dash::dash_dotted, std::move(upper));
    add("", "#7a3e9d", Dash::dash_dotted, std::move(lower));
    add(fmt::format("start b = {:g}", biased_start), "#7f7f7f", Dash::solid,
        descend(published, biased_start, 0));
    escapes.heading = "penalty 4γ(1 − γ)";
    others.heading = fmt::format("from b = {:g}", input_weight);

    const auto frame = [&](plot::Panel& panel, const char* x, const char* y) {
        frame_x(panel, x, plot::Scale::linear);
        frame_y(panel, y, plot::Scale::linear);
        drawing.figure.panels.push_back(std::move(panel));
    };
    frame(values, "gate γ", "penalty f(γ)");
    frame(slopes, "gate γ", "slope f′(γ)");
    frame(escapes, "step", "gate γ");
    frame(others, "step", "gate γ");
    drawing.figure.columns = 2;
    drawing.figure.title = "The midpoint of the gate: every symmetric penalty has slope 0 there";
    drawing.figure.caption = {fmt::format(
        "Gradient descent by the logit b of γ = σ(b), rate {:g}, penalty of weight 1; the gate stays at ½ only without a task, "
        "with b = 0 and equal inputs; slopes beyond ±{:g} are left out",
        rate, steepest)};
    return drawing;
}

}  // namespace spectra::study
