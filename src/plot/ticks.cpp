#include "plot/ticks.hpp"

#include "base/text.hpp"
#include "plot/lettering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace spectra::plot {
namespace {

std::string exponent_label(int exponent) {
    if (exponent == 0) return "1";
    static constexpr const char* raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string label = exponent < 0 ? "10⁻" : "10";
    for (const char digit : std::to_string(std::abs(exponent))) label += raised[digit - '0'];
    return label;
}

double round_step(double rough) {
    const double unit = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * unit >= rough * (1 - 1e-9)) return factor * unit;
    return 10 * unit;
}

/// Multiples of a step within the axis.
std::vector<Tick> number_ticks(double low, double high, double step, bool logarithmic) {
    std::vector<Tick> ticks;
    const double slack = 1e-9 * (high - low);
    for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k) {
        const double value = k * step;
        if (logarithmic && value <= 0) continue;
        ticks.push_back({logarithmic ? std::log10(value) : value, number_label(value)});
    }
    return ticks;
}

/// Powers of ten, every `stride`-th with a label; counts up to some thousands are labelled as numbers.
std::vector<Tick> power_ticks(const Axis& axis, int stride) {
    std::vector<Tick> ticks;
    const bool counts = axis.min > -0.5 && axis.max < 4.5;
    const auto label = [&](int e) { return counts ? number_label(std::pow(10.0, e)) : exponent_label(e); };
    for (int e = static_cast<int>(std::ceil(axis.min)); e <= axis.max; ++e) {
        const bool major = e % stride == 0;
        if (major || stride <= 5) ticks.push_back({double(e), major ? label(e) : "", !major});
    }
    return ticks;
}

/// Multiples 1 to 9 of the powers of ten, with labels for some.
std::vector<Tick> digit_ticks(const Axis& axis, std::initializer_list<int> labelled) {
    std::vector<Tick> ticks;
    for (int e = static_cast<int>(std::floor(axis.min)); e <= axis.max; ++e) {
        for (int digit = 1; digit < 10; ++digit) {
            const double place = e + std::log10(digit);
            if (place < axis.min || place > axis.max) continue;
            const bool major = std::find(labelled.begin(), labelled.end(), digit) != labelled.end();
            ticks.push_back({place, major ? power_of_ten(place) : "", !major});
        }
    }
    return ticks;
}

void add_digits_between(std::vector<Tick>& ticks, const Axis& axis) {
    for (auto& tick : digit_ticks(axis, {}))
        if (std::abs(tick.place - std::round(tick.place)) > 1e-9) ticks.push_back(tick);
}

class Fit {
public:
    Fit(const Axis& axis, double length, double points, bool across, double overhang)
        : axis_(axis), length_(length), points_(points), across_(across), overhang_(overhang) {}

    double place(const Tick& tick) const {
        return (tick.place - axis_.min) / (axis_.max - axis_.min) * length_;
    }
    double half(const Tick& tick) const {
        return 0.5 * (across_ ? text_width(tick.label, points_) : mm(points_));
    }

    /// Drops labels that would extend beyond the axis.
    void clip(std::vector<Tick>& ticks) const {
        for (auto& tick : ticks) {
            if (tick.label.empty()) continue;
            const double at = place(tick), reach = half(tick);
            if (at - reach < -overhang_ || at + reach > length_ + overhang_) tick.label.clear();
        }
    }

    bool roomy(const std::vector<Tick>& ticks) const {
        const double apart = (across_ ? 0.7 : 0.5) * mm(points_);
        double end = -1e9;
        for (const auto& tick : ticks) {
            if (tick.label.empty()) continue;
            if (place(tick) - half(tick) < end + apart) return false;
            end = place(tick) + half(tick);
        }
        return true;
    }

private:
    const Axis& axis_;
    double length_, points_;
    bool across_;
    double overhang_;
};

std::size_t labels(const std::vector<Tick>& ticks) {
    return static_cast<std::size_t>(
        std::count_if(ticks.begin(), ticks.end(), [](const Tick& tick) { return !tick.label.empty(); }));
}

/// From many ticks to few.
std::vector<std::vector<Tick>> candidates(const Axis& axis, double most) {
    std::vector<std::vector<Tick>> all;
    const double span = axis.max - axis.min;
    const bool logarithmic = axis.scale == Scale::logarithmic;
    const auto add_numbers = [&](double low, double high) {
        for (double count = most; count >= 1; --count)
            all.push_back(number_ticks(low, high, round_step((high - low) / count), logarithmic));
    };
    if (axis.scale == Scale::whole) {
        for (double count = most; count >= 1; --count)
            all.push_back(number_ticks(axis.min, axis.max, std::max(1.0, round_step(span / count)), false));
    } else if (!logarithmic) {
        add_numbers(axis.min, axis.max);
    } else if (span > 2.5) {
        for (int unit = 1; unit <= span; unit *= 10)
            for (const int factor : {1, 2, 5}) all.push_back(power_ticks(axis, factor * unit));
        if (span < 8) add_digits_between(all.front(), axis);
        for (auto& ticks : all)
            std::stable_sort(ticks.begin(), ticks.end(),
                             [](const Tick& a, const Tick& b) { return a.place < b.place; });
    } else if (span > 0.8) {
        all.push_back(digit_ticks(axis, {1, 2, 5}));
        all.push_back(digit_ticks(axis, {1, 5}));
        all.push_back(digit_ticks(axis, {1}));
    } else {
        add_numbers(std::pow(10.0, axis.min), std::pow(10.0, axis.max));
    }
    return all;
}

}  // namespace

std::vector<Tick> axis_ticks(const Axis& axis, double length, double points, bool across, double overhang) {
    constexpr double most = 8;
    const Fit fit(axis, length, points, across, overhang);
    std::vector<Tick> best;
    for (auto& ticks : candidates(axis, most)) {
        fit.clip(ticks);
        if (fit.roomy(ticks) && (best.empty() || labels(ticks) > labels(best))) best = std::move(ticks);
    }
    return best;
}

}  // namespace spectra::plot
