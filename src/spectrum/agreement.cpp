#include "base/special_values.hpp"
#include "spectrum/spectrum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace spectra {
namespace {

/// Widest interval in ln s for one quadrature: four nodes are exact to rounding for a cubic times e^x there.
constexpr double widest = 0.5;

/// A tail is followed until e^{−36} of its mass is left.
constexpr double negligible_log = 36;

/// One law, traversed from left to right: F = continuous piece + steps, on the interval that starts at
/// the last position reached.
class Walker {
public:
    explicit Walker(const Spectrum& law) : law_(&law), pieces_(&law.continuous().pieces) {
        at_zero_ = law.cdf(-infinity);
        reach(-infinity);
    }

    double at_zero() const { return at_zero_; }

    /// The lowest finite point where F changes; a tail begins where it is negligible.
    double start() const {
        double lowest = next();
        const auto& continuous = law_->continuous();
        if (continuous.has_tail()) {
            lowest = std::min(lowest, continuous.lowest() - negligible_log / continuous.tail_exponent);
        }
        return lowest;
    }

    /// The highest point where F changes.
    double end() const {
        if (law_->is_empirical()) return law_->log_values().back();
        const auto& atoms = law_->density().atoms;
        const double step = atoms.empty() ? -infinity : atoms.back().log_place;
        return pieces_->empty() ? step : std::max(step, pieces_->back().upper);
    }

    /// The next position where F is not smooth, ∞ if there is none.
    double next() const { return std::min(next_step(), next_knot()); }

    /// Enters the interval that begins at x.
    void reach(double x) {
        if (law_->is_empirical()) {
            const auto& values = law_->log_values();
            while (steps_ < values.size() && values[steps_] <= x) ++steps_;
            level_ = static_cast<double>(steps_) / static_cast<double>(values.size());
        } else {
            const auto& atoms = law_->density().atoms;
            while (steps_ < atoms.size() && atoms[steps_].log_place <= x) level_ += atoms[steps_++].mass;
        }
        while (begun_ < pieces_->size() && (*pieces_)[begun_].lower <= x) ++begun_;
        in_tail_ = begun_ == 0 && law_->continuous().has_tail();
        piece_ = begun_ == 0 || (*pieces_)[begun_ - 1].upper <= x ? nullptr : &(*pieces_)[begun_ - 1];
        flat_ = begun_ == 0 ? 0 : (*pieces_)[begun_ - 1].to;
        constant_ = !in_tail_ && (piece_ == nullptr || piece_->constant());
    }

    bool constant() const { return constant_; }

    /// F inside the interval, its ends as limits from inside.
    double value(double x) const {
        if (piece_ != nullptr) return level_ + piece_->value(x);
        if (in_tail_) return level_ + law_->continuous().tail_value(x);
        return level_ + flat_;
    }

private:
    double next_step() const {
        if (law_->is_empirical()) {
            const auto& values = law_->log_values();
            return steps_ < values.size() ? values[steps_] : infinity;
        }
        const auto& atoms = law_->density().atoms;
        return steps_ < atoms.size() ? atoms[steps_].log_place : infinity;
    }

    double next_knot() const {
        if (piece_ != nullptr) return piece_->upper;
        return begun_ < pieces_->size() ? (*pieces_)[begun_].lower : infinity;
    }

    const Spectrum* law_;
    const std::vector<Cumulative::Piece>* pieces_;
    double at_zero_ = 0;
    std::size_t steps_ = 0;  // passed
    std::size_t begun_ = 0;  // pieces
    double level_ = 0;       // mass of the steps passed
    double flat_ = 0;        // continuous mass of the pieces passed
    const Cumulative::Piece* piece_ = nullptr;
    bool in_tail_ = false;
    bool constant_ = true;
};

struct Sums {
    double log = 0;      // ∫ |D| dx
    double linear = 0;   // ∫ |D| e^x dx, in units of e^reference
    double largest = 0;  // sup |D|
};

class Sweep {
public:
    Sweep(const Spectrum& a, const Spectrum& b) : a_(a), b_(b), reference_(std::max(a_.end(), b_.end())) {}

    Agreement run(double floor) {
        Agreement out;
        out.log_floor = floor;
        const double lowest = std::min(a_.start(), b_.start());
        const double zero_gap = a_.at_zero() - b_.at_zero();
        if (lowest == infinity) {  // all mass of both laws is at s = 0
            out.wasserstein1 = 0;
            out.wasserstein1_log = 0;
            out.kolmogorov_smirnov = std::abs(zero_gap);
            return out;
        }
        if (floor == -infinity) {
            if (zero_gap != 0) out.log_floor = lowest;
            floor = lowest;
            out.kolmogorov_smirnov = std::abs(zero_gap);
        } else {
            out.kolmogorov_smirnov = 0;
        }
        // Below everything F_a − F_b is constant.
        out.wasserstein1 = std::abs(zero_gap) * std::exp(lowest - reference_);

        double from = lowest;
        a_.reach(from);
        b_.reach(from);
        Sums above;
        double linear = 0;
        while (true) {
            double to = std::min(a_.next(), b_.next());
            if (from < floor && floor < to && to < infinity) to = floor;
            if (to == infinity) break;
            Sums part;
            integrate(from, to, part);
            linear += part.linear;
            if (from >= floor) {
                above.log += part.log;
                above.largest = std::max(above.largest, part.largest);
            }
            from = to;
            a_.reach(from);
            b_.reach(from);
        }
        above.largest = std::max(above.largest, std::abs(difference(from)));
        out.wasserstein1 = (out.wasserstein1 + linear) * std::exp(reference_);
        out.wasserstein1_log = above.log;
        out.kolmogorov_smirnov = std::max(out.kolmogorov_smirnov, above.largest);
        return out;
    }

private:
    double difference(double x) const { return a_.value(x) - b_.value(x); }

    void integrate(double from, double to, Sums& sums) const {
        if (a_.constant() && b_.constant()) {
            const double d = std::abs(difference(from));
            sums.log += d * (to - from);
            // e^to − e^from without cancellation; a plain difference if expm1 would overflow.
            const double width = to - from;
            sums.linear += d * (width < 1 ? std::exp(from - reference_) * std::expm1(width)
                                          : std::exp(to - reference_) - std::exp(from - reference_));
            sums.largest = std::max(sums.largest, d);
            return;
        }
        const double width = to - from;
        const int parts = static_cast<int>(std::clamp(std::ceil(width / widest), 1.0, 1e5));
        double left = from;
        for (int k = 1; k <= parts; ++k) {
            const double right = k == parts ? to : from + width * (k / static_cast<double>(parts));
            smooth(left, right, sums);
            left = right;
        }
    }

    /// Gauss-Legendre with four nodes; if the sign changes, each side separately.
    void smooth(double from, double to, Sums& sums) const {
        std::array<double, 6> place{from, 0, 0, 0, 0, to};
        std::array<double, 6> value{};
        const double half = 0.5 * (to - from);
        const double middle = from + half;
        for (std::size_t k = 0; k < 4; ++k) place[k + 1] = middle + half * node[k];
        bool negative = false;
        bool positive = false;
        for (std::size_t k = 0; k < 6; ++k) {
            value[k] = difference(place[k]);
            negative = negative || value[k] < 0;
            positive = positive || value[k] > 0;
        }
        if (negative && positive) {
            double left = from;
            for (std::size_t k = 0; k + 1 < 6; ++k) {
                if ((value[k] < 0 && value[k + 1] > 0) || (value[k] > 0 && value[k + 1] < 0)) {
                    const double root = crossing(place[k], place[k + 1], value[k] < 0);
                    one_sign(left, root, sums);
                    left = root;
                }
            }
            one_sign(left, to, sums);
        } else {
            double log = 0;
            double linear = 0;
            for (std::size_t k = 0; k < 4; ++k) {
                log += weight[k] * value[k + 1];
                linear += weight[k] * value[k + 1] * std::exp(place[k + 1] - reference_);
            }
            sums.log += std::abs(log) * half;
            sums.linear += std::abs(linear) * half;
        }
        std::size_t peak = 0;
        for (std::size_t k = 1; k < 6; ++k) {
            if (std::abs(value[k]) > std::abs(value[peak])) peak = k;
        }
        double largest = std::abs(value[peak]);
        if (peak != 0 && peak != 5 && largest > sums.largest * 0.99) {
            largest = std::max(largest, peak_between(place[peak - 1], place[peak + 1]));
        }
        sums.largest = std::max(sums.largest, largest);
    }

    void one_sign(double from, double to, Sums& sums) const {
        const double half = 0.5 * (to - from);
        const double middle = from + half;
        double log = 0;
        double linear = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const double x = middle + half * node[k];
            const double d = weight[k] * difference(x);
            log += d;
            linear += d * std::exp(x - reference_);
        }
        sums.log += std::abs(log) * half;
        sums.linear += std::abs(linear) * half;
    }

    double crossing(double from, double to, bool rising) const {
        for (int step = 0; step < 60; ++step) {
            const double middle = 0.5 * (from + to);
            if (!(from < middle && middle < to)) break;
            ((difference(middle) < 0) == rising ? from : to) = middle;
        }
        return 0.5 * (from + to);
    }

    /// The largest |D| between two places with one peak between them, by golden section.
    double peak_between(double from, double to) const {
        constexpr double ratio = 0.6180339887498949;
        for (int step = 0; step < 40; ++step) {
            const double left = to - ratio * (to - from);
            const double right = from + ratio * (to - from);
            if (std::abs(difference(left)) < std::abs(difference(right))) {
                from = left;
            } else {
                to = right;
            }
        }
        return std::abs(difference(0.5 * (from + to)));
    }

    static constexpr std::array<double, 4> node{-0.8611363115940526, -0.3399810435848563, 0.3399810435848563,
                                                0.8611363115940526};
    static constexpr std::array<double, 4> weight{0.3478548451374538, 0.6521451548625461, 0.6521451548625461,
                                                  0.3478548451374538};

    Walker a_, b_;
    double reference_;  // the highest point of both: e^{x − reference} never overflows
};

/// Values that belong to an atom of the other law lie beside it by rounding. Moved onto the atom, they do not
/// count as half of its mass on the wrong side.
Spectrum settled(const Spectrum& values, const Spectrum& law) {
    constexpr double rounding = 1e-10;
    if (!values.is_empirical() || law.density().atoms.empty()) return values;
    std::vector<double> places = values.log_values();
    for (double& place : places)
        for (const auto& atom : law.density().atoms)
            if (std::abs(place - atom.log_place) < rounding) place = atom.log_place;
    return Spectrum::from_log_values(std::move(places), values.log_floor());
}

}  // namespace

Agreement agreement(const Spectrum& a, const Spectrum& b) {
    if (a.empty() || b.empty()) return {};
    Agreement out = Sweep(settled(a, b), settled(b, a)).run(std::max(a.log_floor(), b.log_floor()));
    for (const Spectrum* law : {&a, &b}) {
        // {ln s < floor}, and {ln s ≤ −∞} if there is none.
        out.left_out += law->count_below(std::max(out.log_floor, -std::numeric_limits<double>::max()));
    }
    return out;
}

}  // namespace spectra
