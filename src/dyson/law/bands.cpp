#include "dyson/law/bands.hpp"

#include "base/parallel.hpp"
#include "base/special_values.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

namespace spectra::dyson {
namespace {

constexpr double pi = std::numbers::pi;
constexpr int max_scan_points = 20000;
constexpr int max_scan_failures = 10;
constexpr int max_scan_lost = 40;
constexpr double tail_mass = 1e-4;
constexpr double hidden_floor = 1e-5;  // from this floor on rounding is about to hide the points,
constexpr double hidden_tail = 200;    // and may hide this many tolerances of mass,
constexpr double lost_tail = 1000;     // or that many where it has hidden them
constexpr double largest_power = 10;   // of s; a narrow band falls faster, to an edge
constexpr double seed_reach = 1;
constexpr int max_halvings = 10;
constexpr double gap_reach = 8;  // e-folds; rounding matters at about twice that
constexpr int max_march = 500;
constexpr int max_approach = 3;  // halves of the way to the edge of a band nearby
constexpr double edge_tolerance = 1e-11;
constexpr double least_band = 1e-5;  // mass that a count must show
constexpr double far_reach = 3;      // e-folds above where the law is expected to end
constexpr std::size_t most_bands = 100;

double square(double v) {
    return v * v;
}

/// The value at 0 of the polynomial through (y, x), by Neville's scheme.
double value_at_zero(const std::vector<double>& y, std::vector<double> x) {
    for (std::size_t m = 1; m < x.size(); ++m)
        for (std::size_t i = 0; i + m < x.size(); ++i)
            x[i] = (y[i] * x[i + 1] - y[i + m] * x[i]) / (y[i] - y[i + m]);
    return x.front();
}

/// Weights that evaluate the polynomial through `places` at the position `at`.
std::vector<double> lagrange(const std::vector<double>& places, double at) {
    std::vector<double> weights(places.size(), 1.0);
    for (std::size_t i = 0; i < places.size(); ++i)
        for (std::size_t j = 0; j < places.size(); ++j)
            if (i != j) weights[i] *= (at - places[j]) / (places[i] - places[j]);
    return weights;
}

/// A guess by the polynomial in `variable` through the given solutions.
template <class Variable>
Unknowns polynomial_guess(const Equation& equation, const std::vector<const Solution*>& solutions, double at,
                          const Variable& variable) {
    std::vector<double> places;
    std::vector<const Unknowns*> values;
    for (const Solution* s : solutions) {
        places.push_back(variable(s->omega.log_scale));
        values.push_back(&s->m);
    }
    return equation.mix(values, lagrange(places, variable(at)).data());
}

}  // namespace

// ---- a band ----------------------------------------------------------------------------------------

double Band::theta_end() const {
    if (lower.soft && upper.soft) return pi;
    return lower.soft || upper.soft ? pi / 2 : 1;
}

double Band::x(double theta) const {
    // Measured from the nearer soft end, so that nodes next to an edge keep their distance to it.
    if (lower.soft && upper.soft) {
        const double half = std::sin(theta / 2), other = std::cos(theta / 2);
        return theta < pi / 2 ? lower.log_s + width() * half * half : upper.log_s - width() * other * other;
    }
    if (upper.soft) return upper.log_s - 2 * width() * square(std::sin((pi / 2 - theta) / 2));
    if (lower.soft) return lower.log_s + 2 * width() * square(std::sin(theta / 2));
    return lower.log_s + width() * theta;
}

double Band::slope(double theta) const {
    if (lower.soft && upper.soft) return width() / 2 * std::sin(theta);
    if (upper.soft) return width() * std::cos(theta);
    return lower.soft ? width() * std::sin(theta) : width();
}

double Band::theta(double x) const {
    const double u = std::clamp((x - lower.log_s) / width(), 0.0, 1.0);
    if (lower.soft && upper.soft) return 2 * std::asin(std::sqrt(u));
    if (upper.soft) return std::asin(u);
    return lower.soft ? 2 * std::asin(std::sqrt(u / 2)) : u;
}

Unknowns Band::guess(const Equation& equation, double at) const {
    const double place = x(at);
    const auto above =
        std::lower_bound(known.begin(), known.end(), place,
                         [](const Solution& s, double value) { return s.omega.log_scale < value; });
    if (above == known.begin()) return known.front().m;
    if (above == known.end()) return known.back().m;
    // Two on either side, unless they are much farther than the nearest.
    std::vector<const Solution*> nearest{&*(above - 1), &*above};
    const double gap = theta(above->omega.log_scale) - theta((above - 1)->omega.log_scale);
    const auto add = [&](const Solution& s) {
        const double distance = std::abs(theta(s.omega.log_scale) - at);
        if (distance < 3 * gap && distance > 0.1 * gap) nearest.push_back(&s);
    };
    if (above - known.begin() >= 2) add(*(above - 2));
    if (known.end() - above >= 2) add(*(above + 1));
    if (!(gap > 0)) return above->m;
    return polynomial_guess(equation, nearest, place, [&](double v) { return theta(v); });
}

const Solution& Band::nearest(double x) const {
    return *std::min_element(known.begin(), known.end(), [&](const Solution& a, const Solution& b) {
        return std::abs(a.omega.log_scale - x) < std::abs(b.omega.log_scale - x);
    });
}

// ---- finding them ----------------------------------------------------------------------------------

BandFinder::BandFinder(Tracker& tracker, const SupportBounds& range, double tolerance, int threads)
    : tracker_(tracker),
      marchers_(2, tracker),
      threads_(std::min(2, threads_or_all(threads))),
      range_(range),
      tolerance_(tolerance),
      steps_before_(tracker.newton_steps()),
      passes_before_(tracker.passes()) {
    add_seeds(range.log_seeds);
    lowest_noiseless_ = seeds_.empty() ? infinity : seeds_.front();
    jumps_ = tracker_.equation().start(range_.log_upper).size() > 0;
}

bool BandFinder::add_seeds(const std::vector<double>& log_places) {
    const std::size_t before = seeds_.size();
    std::copy_if(log_places.begin(), log_places.end(), std::back_inserter(seeds_),
                 [](double x) { return std::isfinite(x); });
    std::sort(seeds_.begin(), seeds_.end());
    return seeds_.size() > before;
}

long BandFinder::steps() const {
    return tracker_.newton_steps() - steps_before_ + beside().newton_steps;
}

BandFinder::Work BandFinder::beside() const {
    Work out;
    for (const Tracker& tracker : marchers_) {
        out.newton_steps += tracker.newton_steps();
        out.passes += tracker.passes() - passes_before_;
        out.descents += tracker.descents();
    }
    return out;
}

bool BandFinder::exhausted() const {
    return steps() > search_steps(tracker_.equation());
}

double BandFinder::density(const Solution& s) const {
    return density_log(tracker_.equation(), s);
}

double BandFinder::steady_exponent(const std::vector<Solution>& points, double limit) const {
    if (points.size() < 3) return 0;
    const Solution* last[3];
    for (std::size_t k = 0; k < 3; ++k) last[k] = &points[points.size() - 1 - k];
    double exponent[2];
    for (std::size_t k = 0; k < 2; ++k) {
        if (last[k]->state != State::certified || last[k + 1]->state != State::certified) return 0;
        exponent[k] = std::log(density(*last[k + 1]) / density(*last[k])) /
                      std::abs(last[k + 1]->omega.log_scale - last[k]->omega.log_scale);
    }
    // Next to an edge the density falls faster and faster.
    const bool steady = std::abs(exponent[0] - exponent[1]) < 0.1 * exponent[0];
    if (!(exponent[0] > 0) || !steady) return 0;
    return density(*last[0]) / exponent[0] <= limit ? exponent[0] : 0;
}

double BandFinder::negligible_tail(const Solution& last) const {
    return std::max(0.1 * tolerance_, std::min(tail_mass, 10 * last.floor));
}

double BandFinder::hidden_exponent(const std::vector<Solution>& points, double most) const {
    const double exponent = steady_exponent(points, most * tolerance_);
    return exponent < largest_power ? exponent : 0;
}

double BandFinder::tail_exponent(const std::vector<Solution>& points, double limit) const {
    const double exponent = steady_exponent(points, limit);
    if (exponent == 0 || range_.log_lower != -infinity) return 0;
    // Above the smallest noiseless singular value only the exact exponent of the law counts.
    const double exact = 2 / (1 + range_.kappa);
    const bool below_seeds = points.back().omega.log_scale < lowest_noiseless_;
    const bool own = range_.kappa > 0 && std::abs(exponent - exact) < 0.05 * exact;
    return below_seeds || own ? exponent : 0;
}

/// A search for an edge, step by step: what is known between one step and the next.
class BandFinder::March {
public:
    March(BandFinder& finder, Tracker& tracker, std::vector<Solution>& points, int direction, double bound,
          Support& support, const Band* nearby)
        : finder_(finder),
          tracker_(tracker),
          points_(points),
          direction_(direction),
          bound_(bound),
          support_(support),
          last_newton_step_(tracker.newton_steps() + search_steps(tracker.equation()) - finder.steps()) {
        if (nearby != nullptr) bound_ = finder.approach(tracker, points, direction, bound, *nearby);
        const std::size_t last = points.size() - 1;
        h_ = last > 0 ? std::abs(place(last) - place(last - 1)) : finder.range_.scan_step / 2;
        if (nearby != nullptr) h_ /= 2;  // the edge is about as far as the last step led
        start_ = place(last);
    }

    /// Until a second point is known.
    void begin() {
        while (points_.size() < 2 && !over()) step();
    }
    Edge finish() {
        while (!over()) step();
        return edge_.value_or(Edge{points_.back().omega.log_scale, false});
    }

private:
    bool over() const { return edge_ || steps_ >= max_march || tracker_.newton_steps() > last_newton_step_; }
    double place(std::size_t k) const { return points_[k].omega.log_scale; }
    double ahead(double x) const { return direction_ * (x - points_.back().omega.log_scale); }

    std::optional<double> predicted() const;
    Solution next(double x, double step, std::optional<double> edge);
    /// Where the march ends at its last point, if it does: in a tail.
    std::optional<Edge> cut();
    void step();

    BandFinder& finder_;
    Tracker& tracker_;
    std::vector<Solution>& points_;
    int direction_;
    double bound_;
    Support& support_;
    long last_newton_step_;
    double h_, start_;
    int steps_ = 0, failures_ = 0, agreed_ = 0;
    bool moved_ = false;  ///< since the last prediction
    std::optional<double> previous_;
    std::optional<Edge> edge_;
};

/// Towards a soft edge the density vanishes as a square root, towards a hard one (a hyper-connection's branch at its
/// smallest singular values) it grows as an inverse square root: its square, or the inverse of that, is analytic there. The
/// prediction uses the last points over which this falls; there is none unless it falls faster and faster.
std::optional<double> BandFinder::March::predicted() const {
    const auto density = [&](std::size_t k) { return finder_.density(points_[k]); };
    const std::size_t count = points_.size();
    if (count < 3) return {};
    const bool hard = density(count - 1) > density(count - 2);
    std::vector<double> x, y;
    for (std::size_t k = count; k-- > 0 && x.size() < 5;) {
        const double value = hard ? 1 / square(density(k)) : square(density(k));
        if (!y.empty() && !(value > y.back())) break;
        x.push_back(place(k));
        y.push_back(value);
    }
    if (x.size() < 3) return {};
    const double last = std::log(y[1] / y[0]) / std::abs(x[1] - x[0]);
    const double before = std::log(y[2] / y[1]) / std::abs(x[2] - x[1]);
    if (!(last > 1.15 * before)) return {};
    const double edge = value_at_zero(y, x);
    const double reach = ahead(edge);
    return reach > 0 && reach <= ahead(bound_) ? std::optional(edge) : std::nullopt;
}

Solution BandFinder::March::next(double x, double step, std::optional<double> edge) {
    const double near = points_.back().omega.log_scale;
    std::vector<const Solution*> last;
    for (std::size_t i = points_.size(); i-- > 0 && last.size() < 3;) {
        if (!last.empty() && std::abs(place(i) - near) < 0.02 * step) continue;
        last.push_back(&points_[i]);
        if (step > 2 * std::abs(place(i) - near) && last.size() == 2) break;
    }
    const auto variable = [&](double v) {
        return edge ? std::sqrt(std::max(0.0, direction_ * (*edge - v))) : v;
    };
    return tracker_.try_from(x, 0, polynomial_guess(tracker_.equation(), last, x, variable));
}

std::optional<Edge> BandFinder::March::cut() {
    const Solution& last = points_.back();
    if (direction_ < 0) {
        const double exponent = finder_.tail_exponent(points_, finder_.negligible_tail(last));
        if (exponent > 0) {
            support_.tail_exponent = exponent;
            support_.mass_below = finder_.density(last) / exponent;
            return Edge{last.omega.log_scale, false};
        }
    }
    double exponent =
        finder_.steady_exponent(points_, std::clamp(1e7 * last.floor, 0.1, 10.0) * finder_.tolerance_);
    if (exponent == 0 && last.floor > hidden_floor) exponent = finder_.hidden_exponent(points_, hidden_tail);
    if (exponent > 0) return Edge{last.omega.log_scale, false, finder_.density(last) / exponent};
    return {};
}

void BandFinder::March::step() {
    ++steps_;
    const double near = points_.back().omega.log_scale;
    const std::optional<double> edge = predicted();
    const double resolution = 1 + std::abs(near);
    if (moved_) {
        // For narrow bands it must be a share of their width.
        const double close =
            std::clamp(1e-8 * std::abs(near - start_), 4e-16 * resolution, edge_tolerance * resolution);
        const bool same = edge && previous_ && std::abs(*edge - *previous_) < close;
        agreed_ = same ? agreed_ + 1 : 0;
        if (agreed_ >= 2) {
            edge_ = {*edge, true};
            return;
        }
        previous_ = edge;
    }
    moved_ = false;
    if (ahead(bound_) < 1e-13 * resolution) {
        edge_ = {edge.value_or(bound_), true};
        return;
    }
    double step = std::min(h_, 0.5 * ahead(bound_));
    if (edge) step = std::min(step, 0.85 * ahead(*edge));
    const double x = near + direction_ * step;
    if (x == near) {
        edge_ = {edge.value_or(near), true};
        return;
    }
    Solution s = next(x, step, edge);
    if (!s.ok() && s.floor > 0) {
        const double exponent = finder_.hidden_exponent(points_, lost_tail);
        if (exponent > 0) {
            edge_ = {near, false, finder_.density(points_.back()) / exponent};
            return;
        }
    }
    if (!s.ok() && ++failures_ % 4 == 0) s = tracker_.solve(x, 0);
    if (s.state == State::certified) {
        const double most = std::max(2.0, 0.3 * std::abs(x - start_));
        const int steps = s.steps - s.probes;
        h_ = std::min(most, steps <= 3 ? 1.7 * step : steps >= 6 ? 0.6 * step : step);
        points_.push_back(std::move(s));
        failures_ = 0;
        moved_ = true;
        edge_ = cut();
    } else if (s.state == State::gap) {
        bound_ = x;
    } else {
        h_ = step / 3;
        if (failures_ > 40) edge_ = {near, false};
    }
}

Edge BandFinder::march(std::vector<Solution>& points, int direction, double bound, Support& support) {
    return March(*this, tracker_, points, direction, bound, support, nullptr).finish();
}

Solution BandFinder::inside_near(double seed, double above) {
    Solution s = tracker_.solve(seed, 0);
    const double reached = s.omega.direction.imag();
    if (s.state == State::failed && s.omega.log_scale == seed && reached < 1e-4) {
        // If noiseless singular values coincide, the density may have a peak too sharp for rounding: enter
        // the band beside it.
        for (const double factor : {30.0, -30.0, 1e3, -1e3, 3e4, -3e4}) {
            Solution beside = tracker_.solve(seed + factor * reached, 0);
            if (beside.state == State::certified && beside.omega.log_scale < above) return beside;
        }
    }
    if (s.state != State::gap) return s;
    // Noise raises small singular values and hardly ever lowers one.
    for (const double offset : {0.3, 0.7, 1.2, 2.0, 3.0, -0.3, -0.8, -1.5}) {
        if (seed + offset >= above) continue;
        s = tracker_.solve(seed + offset, 0);
        if (s.state == State::certified) break;
    }
    return s;
}

Solution BandFinder::inside_near(double seed, double above, const Band& nearby) {
    for (const double place : {seed, nearby.soft() ? nearby.x(nearby.theta_end() / 2) : seed}) {
        if (place >= above || place <= nearby.lower.log_s || place >= nearby.upper.log_s) continue;
        Solution s = tracker_.try_from(place, 0, nearby.guess(tracker_.equation(), nearby.theta(place)));
        if (s.state == State::certified) return s;
    }
    return inside_near(seed, above);
}

double BandFinder::approach(Tracker& tracker, std::vector<Solution>& points, int direction, double bound,
                            const Band& nearby) const {
    const Edge& edge = direction > 0 ? nearby.upper : nearby.lower;
    const auto known_at = [&](double x) { return nearby.guess(tracker.equation(), nearby.theta(x)); };
    for (int k = 0; k < max_approach; ++k) {
        const double near = points.back().omega.log_scale, x = std::midpoint(near, edge.log_s);
        if (near <= nearby.lower.log_s || near >= nearby.upper.log_s || direction * (bound - x) <= 0)
            return bound;
        // As far from the solution of that network as at the last point.
        const Unknowns there = known_at(x), here = known_at(near);
        const double weights[3] = {1, 1, -1};
        Solution s =
            tracker.try_from(x, 0, tracker.equation().mix({&there, &points.back().m, &here}, weights));
        if (s.state == State::gap) return x;
        if (!s.ok()) return bound;
        points.push_back(std::move(s));
    }
    return bound;
}

double BandFinder::lowest() const {
    return range_.log_lower > -infinity ? range_.log_lower - 0.1 : seeds_.front() - 30 * (1 + range_.kappa);
}

Band BandFinder::band_around(const Solution& first, double below, double above, Support& support,
                             const Band* nearby) {
    Band band;
    std::vector<Solution> up{first}, down{first};
    March upwards(*this, marchers_.front(), up, +1, above, support, nearby);
    upwards.begin();
    if (up.size() > 1) down.insert(down.begin(), up[1]);
    const std::size_t shared = down.size();
    March downwards(*this, marchers_.back(), down, -1, below, support, nearby);
    parallel_for(2, threads_, [&](std::size_t k) {
        if (k == 0)
            band.upper = upwards.finish();
        else
            band.lower = downwards.finish();
    });
    for (std::size_t i = down.size(); i-- > shared;) band.known.push_back(std::move(down[i]));
    for (Solution& s : up) band.known.push_back(std::move(s));
    return band;
}

Support BandFinder::around_seeds(const Support* near) {
    const auto band_at = [&](double seed) -> const Band* {
        const Band* nearest = nullptr;
        double least = infinity;
        if (near != nullptr)
            for (const Band& band : near->bands) {
                const double distance = std::max(band.lower.log_s - seed, seed - band.upper.log_s);
                if (distance < least && !band.known.empty()) nearest = &band, least = distance;
            }
        return nearest;
    };
    Support support;
    double above = range_.log_upper + 0.1;  // the support is found down to here
    for (std::size_t k = seeds_.size(); k-- > 0;) {
        const double seed = seeds_[k];
        if (seed >= above || support.tail_exponent > 0) continue;
        const Band* const nearby = band_at(seed);
        const Solution first =
            nearby != nullptr ? inside_near(seed, above, *nearby) : inside_near(seed, above);
        if (first.state != State::certified || first.omega.log_scale >= above) continue;
        // Where a tail is cut depends on the steps that led there: it is found as without a band nearby.
        const bool alike = nearby != nullptr && nearby->soft();
        Band band = alike ? band_around(first, lowest(), above, support, nearby) : Band();
        if (!alike || !band.soft()) {
            support.tail_exponent = support.mass_below = 0;
            band = band_around(first, lowest(), above, support, nullptr);
        }
        above = band.lower.log_s;
        if (band.width() > 0) support.bands.insert(support.bands.begin(), std::move(band));
    }
    return support;
}

// ---- by counts ---------------------------------------------------------------------------------------

Solution BandFinder::counted_between(double lower, double upper, const MassAbove& mass_above) {
    struct Place {
        double x = 0, above = std::numeric_limits<double>::quiet_NaN();
        Solution solution = {};
    };
    const double width = upper - lower;
    std::optional<Solution> inside;
    const Unknowns* guess = nullptr;
    // A gap point with its count, or a point of the support, at one of several positions.
    const auto probe = [&](std::initializer_list<double> positions) {
        Place place;
        for (const double x : positions) {
            if (exhausted()) break;
            Solution s = tracker_.solve(x, 0, guess);
            if (s.state == State::certified) inside = std::move(s);
            if (inside) break;
            if (s.state != State::gap) continue;
            place = {x, mass_above(s), std::move(s)};
            if (std::isfinite(place.above)) break;
        }
        return place;
    };
    const auto at = [&](double f) { return f < 0.5 ? lower + f * width : upper - (1 - f) * width; };
    Place high = probe({at(1 - 1e-4), at(1 - 1e-2), at(0.9)});
    if (inside) return *inside;
    Place low = probe({at(1e-4), at(1e-2), at(0.1)});
    if (inside) return *inside;
    while (low.above - high.above > least_band && high.x - low.x > 1e-14 * (1 + std::abs(high.x))) {
        const auto between = [&](double f) { return std::lerp(low.x, high.x, f); };
        guess = &high.solution.m;
        Place middle = probe({between(0.5), between(0.43), between(0.58), between(0.25), between(0.8)});
        if (inside) return *inside;
        if (!std::isfinite(middle.above)) break;
        (middle.above - high.above > least_band ? low : high) = std::move(middle);
    }
    return {};
}

bool BandFinder::add_counted(Support& support, const MassAbove& mass_above) {
    bool any = false;
    const double top = std::min(range_.log_upper, range_.log_far + far_reach) + 0.1;
    // Between bands `b − 1` and `b`, from the top downwards; a band that is added leaves two gaps to look at.
    for (std::size_t b = support.bands.size() + 1; b-- > 0;) {
        const bool lowest_gap = b == 0;
        if (lowest_gap && (support.tail_exponent > 0 || (seeds_.empty() && range_.log_lower == -infinity)))
            break;
        const double lower = lowest_gap ? lowest() : support.bands[b - 1].upper.log_s;
        const double upper = b < support.bands.size() ? support.bands[b].lower.log_s : top;
        if (!(upper - lower > 1e-13 * (1 + std::abs(upper)))) continue;
        const Solution first = counted_between(lower, upper, mass_above);
        if (first.state != State::certified) continue;
        Band band = band_around(first, lower, upper, support, nullptr);
        if (!(band.width() > 0)) continue;
        support.bands.insert(support.bands.begin() + static_cast<std::ptrdiff_t>(b), std::move(band));
        any = true;
        if (support.bands.size() > most_bands) break;
        b += 2;  // the gap above the new band, then the one below
    }
    return any;
}

void BandFinder::split(Support& support, double hole) {
    for (std::size_t b = 0; b < support.bands.size(); ++b) {
        const Band band = support.bands[b];
        if (!(band.lower.log_s < hole && hole < band.upper.log_s)) continue;
        Band below = band, beyond = band;
        std::erase_if(below.known, [&](const Solution& s) { return s.omega.log_scale >= hole; });
        std::erase_if(beyond.known, [&](const Solution& s) { return s.omega.log_scale <= hole; });
        std::vector<Band> parts;
        if (!below.known.empty()) {
            below.upper = march(below.known, +1, hole, support);
            parts.push_back(std::move(below));
        }
        if (!beyond.known.empty()) {
            std::reverse(beyond.known.begin(), beyond.known.end());
            beyond.lower = march(beyond.known, -1, hole, support);
            std::reverse(beyond.known.begin(), beyond.known.end());
            parts.push_back(std::move(beyond));
        }
        const auto at = support.bands.erase(support.bands.begin() + static_cast<std::ptrdiff_t>(b));
        support.bands.insert(at, parts.begin(), parts.end());
        return;
    }
}

// ---- the scan --------------------------------------------------------------------------------------

double BandFinder::distance_to_seed(double x) const {
    double nearest = infinity;
    for (const double seed : seeds_) nearest = std::min(nearest, std::abs(x - seed));
    return nearest;
}

/// Positions from top to bottom, dense next to the seeds and the top, including the seeds and their
/// midpoints.
std::vector<double> BandFinder::scan_places(double top, double bottom, double step) const {
    std::vector<double> places;
    for (double x = top; x > bottom && static_cast<int>(places.size()) < max_scan_points;
         x -= step * (1 + 0.1 * std::min(range_.log_upper - x, distance_to_seed(x))))
        places.push_back(x);
    places.push_back(bottom);
    for (std::size_t k = 0; k < seeds_.size(); ++k) {
        if (seeds_[k] > bottom && seeds_[k] < top) places.push_back(seeds_[k]);
        if (k > 0) {
            const double middle = (seeds_[k - 1] + seeds_[k]) / 2;
            if (middle > bottom && middle < top) places.push_back(middle);
        }
    }
    std::sort(places.rbegin(), places.rend());
    places.erase(std::unique(places.begin(), places.end(), [](double a, double b) { return a - b < 1e-12; }),
                 places.end());
    return places;
}

/// Far from every seed and from the support found so far: the middle of a wide gap, where a solution
/// would be expensive and give no information. The mass shows whether anything was missed there.
bool BandFinder::in_wide_gap(double x, double reach) const {
    if (!jumps_ || seeds_.empty() || scan_.empty() || scan_.back().state == State::certified) return false;
    if (range_.kappa > 0 && x < seeds_.front()) return false;
    if (distance_to_seed(x) < reach) return false;
    for (std::size_t k = scan_.size(); k-- > 0;)
        if (scan_[k].state == State::certified) return scan_[k].omega.log_scale - x > reach;
    return true;
}

/// Adds the point x to the scan; inside the support with as many points in between as Newton needs.
void BandFinder::scan_point(double x) {
    const auto guess = [&](double at) {
        const Solution& last = scan_.back();
        if (scan_.size() < 2) return last.m;
        const Solution& before = scan_[scan_.size() - 2];
        const double h = last.omega.log_scale - before.omega.log_scale;
        if (before.state != last.state || last.state != State::certified || h == 0 ||
            std::abs(at - last.omega.log_scale) > 3 * std::abs(h))
            return last.m;
        return polynomial_guess(tracker_.equation(), {&before, &last}, at, [](double v) { return v; });
    };
    int halvings = 0;
    for (double y = x;;) {
        if (scan_.empty() || !scan_.back().ok()) {
            scan_.push_back(tracker_.solve(y, 0));
            return;
        }
        const Unknowns from = guess(y);
        if (scan_.back().state == State::certified && halvings < max_halvings) {
            Solution direct = tracker_.try_from(y, 0, from);
            if (!direct.ok()) {
                ++halvings;
                y = (scan_.back().omega.log_scale + y) / 2;
                continue;
            }
            scan_.push_back(std::move(direct));
        } else {
            scan_.push_back(tracker_.solve(y, 0, &from));
        }
        if (y == x) return;
        y = x;
    }
}

/// Points by decreasing x, from above the support to its lower end.
void BandFinder::scan(double refine) {
    scan_.clear();
    const double step = range_.scan_step / refine;
    const double reach = gap_reach * refine;
    const double top = range_.log_upper + 0.1;
    const bool open = range_.log_lower == -infinity;
    // An open lower end is searched for in steps.
    double bottom = open ? top - 20 : range_.log_lower - 0.1;
    double x_top = top;
    int failures = 0, lost_in_gaps = 0;
    while (static_cast<int>(scan_.size()) < max_scan_points) {
        for (const double x : scan_places(x_top, bottom, step)) {
            if (!scan_.empty() && x >= scan_.back().omega.log_scale) continue;
            if (in_wide_gap(x, reach)) continue;
            if (exhausted()) return;
            const bool beside_gap = !scan_.empty() && scan_.back().state == State::gap;
            scan_point(x);
            if (jumps_ && beside_gap && !scan_.back().ok() && distance_to_seed(x) > seed_reach) {
                scan_.pop_back();  // the middle of the same gap
                if (++lost_in_gaps > max_scan_lost) return;
                continue;
            }
            if (!open) continue;
            if (tail_exponent(scan_, negligible_tail(scan_.back())) > 0) return;
            if (!scan_.back().ok()) {
                const Solution lost = scan_.back();
                scan_.pop_back();
                if (tail_exponent(scan_, tail_mass) > 0) return;
                scan_.push_back(lost);
                if (++failures > max_scan_failures) return;
            }
        }
        if (!open) return;
        const Solution& last = scan_.back();
        if (last.state == State::gap) {
            const bool below_seeds = !seeds_.empty() && last.omega.log_scale < seeds_.front() - reach;
            if (below_seeds && jumps_) return;
            const double below = tracker_.cumulative(last.omega.log_scale);
            if (std::abs(below - range_.atom_at_zero) < 1e-6) return;
        }
        x_top = bottom;
        bottom -= std::max(20.0, 0.5 * (top - bottom));
    }
}

/// Bands from the scan: runs of points inside the support, with their edges.
Support BandFinder::by_scan(double refine) {
    scan(refine);
    Support support;
    const double exponent = tail_exponent(scan_, tail_mass);
    if (exponent > 0) {
        support.tail_exponent = exponent;
        support.mass_below = density(scan_.back()) / exponent;
    }
    for (std::size_t k = scan_.size(); k-- > 0;) {  // increasing x
        if (scan_[k].state == State::gap) continue;
        std::size_t end = k;
        while (end > 0 && scan_[end - 1].state != State::gap) --end;
        Band band;
        for (std::size_t i = k + 1; i-- > end;)
            if (scan_[i].state == State::certified) band.known.push_back(scan_[i]);
        if (!band.known.empty()) {
            band.lower = {scan_[k].omega.log_scale, false};
            band.upper = {scan_[end].omega.log_scale, true};
            if (end > 0 && scan_[end].ok())
                band.upper = march(band.known, +1, scan_[end - 1].omega.log_scale, support);
            if (k + 1 < scan_.size() && scan_[k].ok()) {
                std::reverse(band.known.begin(), band.known.end());
                band.lower = march(band.known, -1, scan_[k + 1].omega.log_scale, support);
                std::reverse(band.known.begin(), band.known.end());
            }
            if (band.width() > 0) support.bands.push_back(std::move(band));
        }
        k = end;
    }
    return support;
}

double density_log(const Equation& equation, const Solution& solution) {
    if (solution.state == State::gap) return 0;
    return std::max(0.0, -2 / pi * equation.scaled_green(solution.omega, solution.m).imag());
}

}  // namespace spectra::dyson
