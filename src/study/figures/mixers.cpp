#include "base/special_values.hpp"
#include "study/figures/mixer_stacks.hpp"
#include "study/figures/panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace spectra::study {

namespace {

constexpr Eigen::Index most_labelled = 8;  ///< streams up to which entries are written in their cells

/// With a minus sign; from five streams on without the zero before the point, which there is no room for.
std::string entry_text(double value, Eigen::Index n) {
    std::string text = fmt::format("{:.2f}", std::abs(value));
    if (n > 4 && text.starts_with("0.")) text.erase(0, 1);
    return (value <= -0.005 ? "−" : "") + text;
}

plot::Panel heat_map(const Mixer& a, const plot::ColourScale& scale) {
    const auto n = a.rows();
    plot::Series cells, sums;
    cells.label = "entry of the matrix";
    cells.mark = sums.mark = plot::Mark::cells;
    cells.scale = sums.scale = scale;
    const bool written = n <= most_labelled;
    const auto add = [&](plot::Series& to, Eigen::Index row, Eigen::Index column, double value,
                         double shown) {
        to.x.push_back(static_cast<double>(column + 1));
        to.y.push_back(static_cast<double>(row + 1));
        to.value.push_back(value);
        if (written) to.texts.push_back(entry_text(shown, n));
    };
    for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index j = 0; j < n; ++j) add(cells, i, j, a(i, j), a(i, j));
    plot::Panel panel;
    const double size = static_cast<double>(n) + 0.5, room = written ? 1 : 0;
    panel.x = {"column", plot::Scale::whole, 0.5, size + room};
    panel.y = {"row", plot::Scale::whole, size + room, 0.5};  // the first row is the upper one
    panel.series.push_back(std::move(cells));
    if (!written) return panel;
    for (Eigen::Index i = 0; i < n; ++i) add(sums, i, n, nan, a.row(i).sum());
    for (Eigen::Index j = 0; j < n; ++j) add(sums, n, j, nan, a.col(j).sum());
    panel.series.push_back(std::move(sums));
    return panel;
}

/// The connections to show, from 1: those asked for, or the first, the middle one and the last.
std::vector<std::size_t> shown(const FigureRequest& request, const MixerStack& stack) {
    const auto depth = stack.depth();
    std::vector<std::size_t> places;
    for (const int l : request.depths) {
        if (static_cast<std::size_t>(l) > depth)
            throw std::invalid_argument(fmt::format("`depths`: {}: {} has {} mixers", l, stack.label, depth));
        places.push_back(static_cast<std::size_t>(l));
    }
    if (!places.empty()) return places;
    for (const auto l : {std::size_t{1}, (depth + 1) / 2, depth})
        if (places.empty() || l > places.back()) places.push_back(l);
    return places;
}

std::string cut(const std::string& text, std::size_t length) {
    return text.size() <= length ? text : text.substr(0, length - 1) + "…";
}

}  // namespace

Drawing draw_mixers(const FigureRequest& request, Observer&) {
    const auto stacks = mixer_stacks(request, {"bistochastic", "permutation", "spectral-sphere"});
    plot::ColourScale scale;
    std::size_t columns = 0;
    for (const auto& stack : stacks) {
        const auto& mixers = stack.inputs.front();
        for (const auto& a : mixers) scale.limit = std::max(scale.limit, a.cwiseAbs().maxCoeff());
        scale.limit = std::max(scale.limit, products(mixers).back().cwiseAbs().maxCoeff());
        columns = std::max(columns, shown(request, stack).size() + 1);
    }
    scale.limit = std::ceil(100 * scale.limit - 1e-6) / 100;  // rounding above 1 is no other scale

    Drawing drawing;
    for (const auto& stack : stacks) {
        const auto& mixers = stack.inputs.front();
        const auto places = shown(request, stack);
        for (const auto l : places) {
            auto panel = heat_map(mixers[l - 1], scale);
            panel.heading = fmt::format("{}A({})", l == places.front() ? cut(stack.label, 20) + ": " : "", l);
            drawing.figure.panels.push_back(std::move(panel));
        }
        const Mixer product = products(mixers).back();
        auto panel = heat_map(product, scale);
        panel.heading = mixers.size() > 1 ? fmt::format("A({}) ⋯ A(1)", mixers.size()) : "the product";
        drawing.figure.panels.push_back(std::move(panel));
        for (auto k = places.size() + 1; k < columns; ++k) {
            drawing.figure.panels.emplace_back();
            drawing.figure.panels.back().absent = true;
        }
        const auto sums = [&](const char* which, const auto& values) {
            drawing.numbers.emplace_back(fmt::format("{}: product, smallest {} sum", stack.label, which),
                                         values.minCoeff());
            drawing.numbers.emplace_back(fmt::format("{}: product, largest {} sum", stack.label, which),
                                         values.maxCoeff());
        };
        sums("row", product.rowwise().sum());
        sums("column", product.colwise().sum());
    }
    drawing.figure.title = "Mixers and their product";
    drawing.figure.matrices = true;
    drawing.figure.columns = columns;
    drawing.figure.width = plot::page_width;
    const bool several = !request.files.empty() && stacks.front().inputs.size() > 1;
    drawing.figure.caption = {fmt::format(
        "A as it acts, x ↦ A x: row i is what stream i becomes; {}{}; row sums on the right, column sums below",
        origin(request, stacks), several ? ", shown at the first" : "")};
    return drawing;
}

}  // namespace spectra::study
