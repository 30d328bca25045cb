#include "dyson/ask/quantiles.hpp"

#include "base/special_values.hpp"
#include "dyson/equations/chain.hpp"
#include "dyson/exact/moments.hpp"
#include "dyson/law/potential.hpp"
#include "dyson/exact/support_bounds.hpp"
#include "dyson/solve/tracker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

namespace spectra::dyson {

namespace {

/// F at single places, remembered: a place is reached from the solution next to it.
class MassCurve {
public:
    struct Place {
        double log_s, mass;
        double slope;  ///< dF/d ln s; 0 in a gap, and where it is not known
    };

    MassCurve(const Network& network, const std::function<void()>& before_point)
        : network_(network), before_point_(before_point) {
        const auto range = support_bounds(network);
        for (const double seed : range.log_seeds)
            if (std::isfinite(seed)) seeds_.push_back(seed);
        std::sort(seeds_.begin(), seeds_.end());
        if (seeds_.empty()) seeds_.push_back(0.5 * log_mean_square(network));
        const auto variances = sigma2(network);
        const bool noise = std::all_of(variances.begin(), variances.end(), [](double v) { return v > 0; });
        if (!noise) return;  // atoms are possible: left to mass_below
        log_mean_square_ = log_mean_square(network);
        tracker_.emplace(make_operator_valued(network), range.log_far, seeds_);
        reader_.emplace(network);
    }

    /// The noiseless singular values, about which narrow bands lie.
    const std::vector<double>& seeds() const { return seeds_; }
    const std::map<double, Place>& known() const { return known_; }
    long newton_steps() const { return tracker_ ? tracker_->newton_steps() : 0; }

    const Place& at(double log_s) {
        if (before_point_) before_point_();
        if (const auto found = known_.find(log_s); found != known_.end()) return found->second;
        ++points;
        return known_[log_s] = tracker_ ? solved(log_s) : counted(log_s);
    }

    int points = 0, uncertified = 0;

private:
    Place counted(double log_s) {
        const auto point = mass_below(network_, {log_s}).front();
        if (!point.certified) ++uncertified;
        return {log_s, point.mass, 0};
    }

    /// From the next known solution, at once or by steps along the axis; else from above. A seed lies in a band of its
    /// own, as far as is known, and the tracker begins above it.
    Solution solution_at(double log_s) {
        constexpr double far = 100;  // from band to band
        if (std::binary_search(seeds_.begin(), seeds_.end(), log_s))
            if (auto solution = tracker_->solve(log_s, 0); solution.ok()) return solution;
        const auto apart = [&](const auto& known) { return std::abs(known.first - log_s); };
        const auto next = std::min_element(solutions_.begin(), solutions_.end(),
                                           [&](const auto& a, const auto& b) { return apart(a) < apart(b); });
        if (next != solutions_.end() && apart(*next) < far) {
            if (auto solution = tracker_->try_from(log_s, 0, next->second.m); solution.ok()) return solution;
            if (auto solution = tracker_->walk(next->second, log_s); solution.ok()) return solution;
        }
        return tracker_->solve(log_s, 0);
    }

    /// As mass_below.
    Place solved(double log_s) {
        constexpr double log_negligible = -28;
        if (log_mean_square_ - 2 * log_s < log_negligible) return {log_s, 1, 0};
        const auto solution = solution_at(log_s);
        const auto counted = mass_below(*reader_, countable(*tracker_, solution));
        if (!counted.certified)
            ++uncertified;
        else
            solutions_[log_s] = solution;
        if (solution.m.size() == 0) return {log_s, counted.mass, 0};
        const double slope =
            -2 / std::numbers::pi * tracker_->equation().scaled_green(solution.omega, solution.m).imag();
        return {log_s, counted.mass, std::max(slope, 0.0)};
    }

    const Network& network_;
    const std::function<void()>& before_point_;
    std::vector<double> seeds_;
    double log_mean_square_ = 0;
    std::optional<Tracker> tracker_;
    std::optional<PotentialReader> reader_;
    std::map<double, Place> known_;
    std::map<double, Solution> solutions_;
};

/// The search for F = u among the known places of a curve: Newton's method on F, whose slope every solved
/// point has, within a bracket. Steps begin at the end of the bracket whose mass is nearest to u, in the band
/// of u or at its edge: points of the gaps between bands cost most, and say nothing of where in a band u is.
class Search {
public:
    Search(MassCurve& mass, double u) : mass_(mass), u_(u), close_(3e-3 * std::min(u, 1 - u)) {}

    /// NaN where a point is not certified.
    double place() {
        for (const double seed : mass_.seeds()) mass_.at(seed);
        double step = 0.05;  // where nothing is known of the slope
        for (int k = 0; k < 100 && mass_.uncertified == 0; ++k) {
            const auto [low, high] = bracket();
            if (low != nullptr && high != nullptr && high->log_s - low->log_s < narrow(low->log_s))
                return 0.5 * (low->log_s + high->log_s);
            const bool from_low = high == nullptr || (low != nullptr && u_ - low->mass < high->mass - u_);
            const auto& here = from_low ? *low : *high;
            if (std::abs(here.mass - u_) < close_ && here.slope > 0)
                return here.log_s + (from_low ? 1 : -1) * newton_stride(here);
            const double room = low != nullptr && high != nullptr ? high->log_s - low->log_s : infinity;
            double stride = here.slope > 0 ? newton_stride(here) : step;
            if (std::isfinite(room) && !(here.slope > 0 && stride < 0.8 * room)) stride = 0.5 * room;
            step *= 2;
            mass_.at(here.log_s + (from_low ? stride : -stride));
        }
        return std::numeric_limits<double>::quiet_NaN();
    }

private:
    static double narrow(double log_s) { return 1e-7 * (1 + std::abs(log_s)); }

    /// Newton's step for F = u. Towards an end of the law the mass beyond falls as the distance to the power 3/2, where
    /// Newton's method gains a factor of three per step: its power 2/3 is taken for u near that end.
    double newton_stride(const MassCurve::Place& here) const {
        constexpr double near = 100, end = 0.05;  // farther inside, the power law does not hold
        const double distance = std::abs(u_ - here.mass);
        const double beyond = u_ < 0.5 ? here.mass : 1 - here.mass, wanted = std::min(u_, 1 - u_);
        if (!(wanted < end && beyond > wanted && beyond < near * wanted)) return distance / here.slope;
        return 1.5 * beyond * (1 - std::pow(wanted / beyond, 2.0 / 3)) / here.slope;
    }

    /// The known places next to u, null where there is none.
    std::pair<const MassCurve::Place*, const MassCurve::Place*> bracket() const {
        const MassCurve::Place *low = nullptr, *high = nullptr;
        for (const auto& [log_s, place] : mass_.known()) {
            if (place.mass < u_)
                low = &place;
            else if (high == nullptr)
                high = &place;
        }
        return {low, high};
    }

    MassCurve& mass_;
    double u_, close_;
};

}  // namespace

Quantiles quantiles(const Network& network, const std::vector<double>& shares,
                    const std::function<void()>& before_point) {
    MassCurve mass(network, before_point);
    Quantiles found;
    for (const double u : shares) found.log_s.push_back(Search(mass, u).place());
    found.points = mass.points;
    found.uncertified = mass.uncertified;
    found.newton_steps = mass.newton_steps();
    if (found.uncertified == 0)  // a share that was not found is none
        found.uncertified += static_cast<int>(
            std::count_if(found.log_s.begin(), found.log_s.end(), [](double x) { return std::isnan(x); }));
    return found;
}

}  // namespace spectra::dyson
