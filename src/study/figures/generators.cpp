#include "mixers/generating_set.hpp"
#include "study/figures/panels.hpp"

#include <fmt/format.h>

#include <cmath>

namespace spectra::study {

namespace {

constexpr int printed_count = 4;  ///< of the source paper's table
constexpr int most_permutations = 6;

/// "(0 1)(2 3)", streams from 0; "e" of the identity.
std::string cycles(const mixers::Permutation& p) {
    std::string words;
    std::vector<bool> seen(p.size(), false);
    for (std::size_t i = 0; i < p.size(); ++i) {
        if (seen[i] || p[i] == static_cast<int>(i)) continue;
        std::string cycle;
        for (auto k = i; !seen[k]; k = static_cast<std::size_t>(p[k])) {
            seen[k] = true;
            cycle += (cycle.empty() ? "" : " ") + std::to_string(k);
        }
        words += "(" + cycle + ")";
    }
    return words.empty() ? "e" : words;
}

std::string words_of(int n, const mixers::LargestGap& found) {
    std::string words = fmt::format("n = {}, K = {}:", n, found.permutations.size());
    for (const auto& p : found.permutations) words += " " + cycles(p);
    return words;
}

/// Whether the search takes it, for n of 2 to 5.
bool searched(int n, int count) {
    const bool few = n < 5 || count <= printed_count;
    return few && static_cast<std::size_t>(count) <= mixers::all_permutations(n).size();
}

}  // namespace

Drawing draw_generators(const FigureRequest& request, Observer& observer) {
    const std::vector<int> sizes =
        request.streams ? std::vector<int>{*request.streams} : std::vector<int>{3, 4, 5};
    Drawing drawing;
    plot::Panel gaps, times;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        const int n = sizes[k];
        std::vector<double> counts, values, sets, seconds;
        for (int count = 1; count <= most_permutations; ++count) {
            if (n >= 2 && n <= 5 && !searched(n, count)) continue;
            if (n == 6 && count > 3) continue;
            observer.stage(fmt::format("n = {}, K = {}", n, count));
            const auto found = mixers::largest_gap(n, count);
            counts.push_back(count);
            values.push_back(found.gap);
            sets.push_back(std::log10(found.sets));
            seconds.push_back(std::log10(std::max(found.seconds, 1e-6)));
            drawing.remarks.push_back(words_of(n, found));
            const auto number = [&](const char* what, double value) {
                drawing.numbers.emplace_back(fmt::format("n = {}, K = {}: {}", n, count, what), value);
            };
            number("largest gap", found.gap);
            if (count != printed_count) continue;
            number("sets", found.sets);
            number("classes tried", static_cast<double>(found.classes));
            number("classes that reach it", static_cast<double>(found.best_classes));
            number("seconds", found.seconds);
        }
        const auto label = fmt::format("n = {}", n);
        add_dotted(gaps, line(label, k, counts, values));
        auto points = line(label, k, sets, seconds);
        points.mark = plot::Mark::points;
        points.width = 9;
        times.series.push_back(std::move(points));
    }
    frame_x(gaps, "permutations K", plot::Scale::whole);
    frame_y(gaps, "largest gap 1 − |λ₂|", plot::Scale::linear);
    frame_x(times, "sets of K permutations", plot::Scale::logarithmic);
    frame_y(times, "time of the search (s)", plot::Scale::logarithmic);
    drawing.figure.panels = {std::move(gaps), std::move(times)};
    drawing.figure.columns = 2;
    drawing.figure.title = "Largest spectral gap of the walk on S_n by K permutations";
    drawing.figure.caption = {
        "All sets of K, one per class under relabelling of the streams; eigenvalues from the irreducible representations of "
        "S_n in Young's orthogonal form; times of this machine, one thread"};
    return drawing;
}

}  // namespace spectra::study
