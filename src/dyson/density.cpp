#include "dyson/density.hpp"

#include "dyson/panel.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <limits>
#include <numbers>
#include <optional>

namespace spectra::dyson {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = std::numbers::pi;
constexpr int max_scan_points = 20000;
constexpr int max_scan_failures = 10;
constexpr double tail_noise = 1e-9;
constexpr double tail_mass = 1e-4;
constexpr double seed_reach = 1;
constexpr int max_halvings = 10;
constexpr double gap_reach = 8;  // e-folds; rounding is felt at about twice that
constexpr int max_generations = 12;
constexpr int max_rescans = 3;
constexpr int max_splits = 40;

struct Edge {
    double log_s = 0;
    bool soft = true;  ///< a square-root edge; otherwise the range was cut inside the support
};

struct Band {
    Edge lower, upper;
    std::vector<Solution> known;  ///< solved points inside, increasing

    // Both ends soft: x = middle − half·cos θ on [0, π]. Cut below: x = lower + width·sin θ on [0, π/2].
    double theta_end() const { return lower.soft ? pi : pi / 2; }
    double width() const { return upper.log_s - lower.log_s; }
    double x(double theta) const {
        if (lower.soft) {
            // Measured from the nearer end, so that nodes next to an edge keep their distance to it.
            const double half = std::sin(theta / 2), other = std::cos(theta / 2);
            return theta < pi / 2 ? lower.log_s + width() * half * half
                                  : upper.log_s - width() * other * other;
        }
        const double half = std::sin((pi / 2 - theta) / 2);
        return upper.log_s - 2 * width() * half * half;
    }
    double slope(double theta) const {
        return lower.soft ? width() / 2 * std::sin(theta) : width() * std::cos(theta);
    }
    double theta(double x) const {
        const double u = std::clamp((x - lower.log_s) / width(), 0.0, 1.0);
        return lower.soft ? 2 * std::asin(std::sqrt(u)) : std::asin(u);
    }

    /// A guess between the two neighbouring known points, linear in θ and in the logarithm.
    Unknowns guess(const Equation& equation, double at) const {
        const double xa = x(at);
        const auto above =
            std::lower_bound(known.begin(), known.end(), xa,
                             [](const Solution& s, double value) { return s.omega.log_scale < value; });
        if (above == known.begin()) return known.front().m;
        if (above == known.end()) return known.back().m;
        const auto below = above - 1;
        const double t0 = theta(below->omega.log_scale), t1 = theta(above->omega.log_scale);
        const double f = t1 > t0 ? (at - t0) / (t1 - t0) : 0;
        const double weights[2] = {1 - f, f};
        return equation.mix({&below->m, &above->m}, weights);
    }
};

struct Panel {
    std::size_t band = 0;
    double theta0 = 0, theta1 = 0;
    std::vector<Unknowns> guesses;
    std::vector<Solution> nodes;
    std::array<double, panel::nodes> integrand{};  ///< density per θ
    double error = 0;
    double noise = 0;  ///< what the nodes' own accuracy leaves in the integral
    double parent_error = infinity;

    double half() const { return (theta1 - theta0) / 2; }
    double theta(double t) const { return theta0 + half() * (1 + t); }
};

class Solver {
public:
    Solver(const Tracker& tracker, const Range& range, const std::vector<Density::Atom>& atoms,
           const DensityOptions& options)
        : range_(range), atoms_(atoms), options_(options), tracker_(tracker) {
        std::sort(atoms_.begin(), atoms_.end(),
                  [](const auto& a, const auto& b) { return a.log_place < b.log_place; });
        seeds_ = range_.log_seeds;
        std::erase_if(seeds_, [](double seed) { return !std::isfinite(seed); });
        std::sort(seeds_.begin(), seeds_.end());
        jumps_ = tracker_.equation().start(range_.log_upper).size() > 0;
    }

    SolvedLaw run() {
        SolvedLaw best;
        double best_defect = infinity;
        double refine = 1;
        for (int round = 0; round <= max_rescans; ++round, refine *= 3) {
            SolvedLaw law = once(refine);
            const double mass = total_mass_;
            const double defect = std::abs(mass - 1);
            if (defect < best_defect) {
                best_defect = defect;
                best = std::move(law);
            }
            if (best_defect <= std::max(1e-7, 10 * options_.tolerance)) break;
        }
        best.complete = true;
        int failed = 0;
        for (const Solution& s : best.nodes) failed += s.ok() ? 0 : 1;
        if (failed > 0) {
            best.complete = false;
            best.message = std::to_string(failed) + " of " + std::to_string(best.nodes.size()) +
                           " points are not certified";
        } else if (!(best_defect <= 1e-5)) {
            best.complete = false;
            best.message = "the mass found differs from 1 by " + std::to_string(best_defect);
        } else {
            best.message = "certified";
        }
        best.newton_steps = newton_steps_ + tracker_.newton_steps();
        best.passes = passes_ + tracker_.passes();
        best.descents = descents_ + tracker_.descents();
        return best;
    }

private:
    double density(const Solution& s) { return density_log(tracker_.equation(), s); }

    // ---- 1. scan -------------------------------------------------------------------------------

    double distance_to_seed(double x) const {
        double nearest = infinity;
        for (const double seed : seeds_) nearest = std::min(nearest, std::abs(x - seed));
        return nearest;
    }

    /// From top to bottom, dense next to the seeds and the top, the seeds and their midpoints among them.
    std::vector<double> scan_places(double top, double bottom, double step) const {
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
        places.erase(
            std::unique(places.begin(), places.end(), [](double a, double b) { return a - b < 1e-12; }),
            places.end());
        return places;
    }

    /// Far from every seed and from the support found so far: the middle of a wide gap, where a solution
    /// would say nothing and cost much. That nothing was missed there is for the mass to say.
    bool in_wide_gap(double x, double reach) const {
        if (!jumps_ || seeds_.empty() || scan_.empty() || scan_.back().state == State::certified)
            return false;
        if (range_.kappa > 0 && !seeds_.empty() && x < seeds_.front()) return false;
        if (distance_to_seed(x) < reach) return false;
        for (std::size_t k = scan_.size(); k-- > 0;)
            if (scan_[k].state == State::certified) return scan_[k].omega.log_scale - x > reach;
        return true;
    }

    /// What the last points of the scan suggest at x.
    Unknowns scan_guess(double x) const {
        const Solution& last = scan_.back();
        if (scan_.size() > 1) {
            const Solution& before = scan_[scan_.size() - 2];
            const double h = last.omega.log_scale - before.omega.log_scale;
            if (before.state == last.state && last.state == State::certified && h != 0) {
                const double f = (x - last.omega.log_scale) / h;
                if (std::abs(f) < 3) {
                    const double weights[2] = {-f, 1 + f};
                    return tracker_.equation().mix({&before.m, &last.m}, weights);
                }
            }
        }
        return last.m;
    }

    /// Adds the point x to the scan; inside the support with as many between as Newton needs to follow.
    void scan_point(double x) {
        int halvings = 0;
        for (double y = x;;) {
            if (scan_.empty() || !scan_.back().ok()) {
                scan_.push_back(tracker_.solve(y, 0));
                return;
            }
            const Unknowns guess = scan_guess(y);
            const double from = scan_.back().omega.log_scale;
            if (scan_.back().state == State::certified && halvings < max_halvings) {
                Solution direct = tracker_.try_from(y, 0, guess);
                if (!direct.ok()) {
                    ++halvings;
                    y = (from + y) / 2;
                    continue;
                }
                scan_.push_back(std::move(direct));
            } else {
                scan_.push_back(tracker_.solve(y, 0, &guess));
            }
            if (y == x) return;
            y = x;
        }
    }

    /// Points by decreasing x, from above the support to its lower end.
    void scan(double refine) {
        scan_.clear();
        tail_exponent_ = 0;
        mass_below_ = 0;
        const double step = range_.scan_step / refine;
        const double reach = gap_reach * refine;
        const double top = range_.log_upper + 0.1;
        const bool open = range_.log_lower == -infinity;
        // An open lower end is looked for in stretches.
        double bottom = open ? top - 20 : range_.log_lower - 0.1;
        double x_top = top;
        int failures = 0;
        while (static_cast<int>(scan_.size()) < max_scan_points) {
            for (const double x : scan_places(x_top, bottom, step)) {
                if (!scan_.empty() && x >= scan_.back().omega.log_scale) continue;
                if (in_wide_gap(x, reach)) continue;
                const bool beside_gap = !scan_.empty() && scan_.back().state == State::gap;
                scan_point(x);
                if (jumps_ && beside_gap && !scan_.back().ok() && distance_to_seed(x) > seed_reach) {
                    scan_.pop_back();  // a gap's middle again
                    continue;
                }
                if (!open) continue;
                if (reached_tail(0.1 * options_.tolerance)) return;
                // Where rounding begins to show, the power law is the better continuation.
                if (!scan_.back().ok()) {
                    const Solution lost = scan_.back();
                    scan_.pop_back();
                    if (reached_tail(tail_mass)) return;
                    scan_.push_back(lost);
                    if (++failures > max_scan_failures) return;
                } else if (scan_.back().floor > tail_noise && reached_tail(tail_mass)) {
                    return;
                }
            }
            if (!open) return;
            const Solution& last = scan_.back();
            if (last.state == State::gap && range_.kappa == 0) {
                const bool below_seeds =
                    !seeds_.empty() && last.omega.log_scale < seeds_.front() - reach && range_.kappa == 0;
                if (below_seeds && jumps_) return;
                const double below = tracker_.cumulative(last.omega.log_scale);
                if (std::abs(below - range_.atom_at_zero) < 1e-6) return;
            }
            x_top = bottom;
            bottom -= std::max(20.0, 0.5 * (top - bottom));
        }
    }

    /// True where the density falls as a power, steadily, and what is left below is negligible. Next to the
    /// lower edge of a band it falls faster and faster.
    bool reached_tail(double limit) {
        if (scan_.size() < 3) return false;
        const Solution* last[3];
        for (std::size_t k = 0; k < 3; ++k) last[k] = &scan_[scan_.size() - 1 - k];
        double exponent[2];
        for (std::size_t k = 0; k < 2; ++k) {
            if (last[k]->state != State::certified || last[k + 1]->state != State::certified) return false;
            exponent[k] = std::log(density(*last[k + 1]) / density(*last[k])) /
                          (last[k + 1]->omega.log_scale - last[k]->omega.log_scale);
        }
        const double left = density(*last[0]) / exponent[0];
        const bool steady = std::abs(exponent[0] - exponent[1]) < 0.1 * exponent[0];
        // Above the smallest noiseless singular value only the law's own exponent will do.
        const double exact = 2 / (1 + range_.kappa);
        const bool below_seeds = seeds_.empty() || last[0]->omega.log_scale < seeds_.front();
        const bool own = range_.kappa > 0 && std::abs(exponent[0] - exact) < 0.05 * exact;
        if (!(exponent[0] > 0) || !steady || left > limit || !(below_seeds || own)) return false;
        tail_exponent_ = exponent[0];
        mass_below_ = left;
        return true;
    }

    // ---- 2. edges ------------------------------------------------------------------------------

    /// The edge between a point inside the support and one in a gap; solved points inside are kept. At a soft
    /// edge the density vanishes as a square root, at a hard one (a hyper-connection's branch at its smallest
    /// singular values) it grows as the inverse of one: its square, or one over it, is analytic there.
    double find_edge(const Solution& inside, double gap, std::vector<Solution>& kept) {
        struct Sample {
            double x, y;
        };
        bool hard = false;
        const auto vanishing = [&](const Solution& s) {
            return hard ? 1 / square(density(s)) : square(density(s));
        };
        std::vector<Sample> samples{{inside.omega.log_scale, vanishing(inside)}};
        Solution nearest = inside;
        double prediction = gap, previous = infinity;
        for (int k = 0; k < 60; ++k) {
            const double near = samples.back().x;
            const bool predicted = samples.size() >= 2;
            if (predicted) {
                prediction = extrapolate(samples);
                if (!((prediction - near) * (gap - prediction) >= 0)) prediction = infinity;
                if (prediction != infinity &&
                    std::abs(prediction - previous) < 1e-11 * (1 + std::abs(near)) && samples.size() >= 4)
                    return prediction;
                previous = prediction;
            }
            const bool usable = predicted && prediction != infinity;
            if (std::abs(gap - near) < 1e-13 * (1 + std::abs(near))) break;
            const double x = usable ? prediction + 0.15 * (near - prediction) : 0.5 * (near + gap);
            if (x == near || x == gap) break;
            Unknowns guess = nearest.m;
            if (!hard) guess.imag() *= std::sqrt(usable ? 0.15 : 0.5);
            const Solution s = tracker_.solve(x, 0, &guess);
            if (s.state == State::certified) {
                if (vanishing(s) < samples.back().y) {
                    samples.push_back({x, vanishing(s)});
                } else {
                    hard = !hard;  // it turned: begin again from here
                    samples.assign(1, {x, vanishing(s)});
                }
                if (samples.size() > 5) samples.erase(samples.begin());
                nearest = s;
                kept.push_back(s);
            } else {
                gap = x;
                if (!s.ok() && std::abs(gap - near) < 1e-9) break;
            }
        }
        return previous != infinity && samples.size() >= 2 ? previous : gap;
    }

    static double square(double v) { return v * v; }

    /// x at y = 0 by Neville's scheme through all samples, x as a function of y.
    template <class Samples>
    static double extrapolate(const Samples& samples) {
        std::vector<double> p;
        for (const auto& s : samples) p.push_back(s.x);
        const std::size_t count = samples.size();
        for (std::size_t m = 1; m < count; ++m)
            for (std::size_t i = 0; i + m < count; ++i)
                p[i] =
                    (samples[i].y * p[i + 1] - samples[i + m].y * p[i]) / (samples[i].y - samples[i + m].y);
        return p[0];
    }

    /// Bands from the scan: runs of points inside the support, with their edges.
    std::vector<Band> find_bands() {
        std::vector<Band> bands;
        for (std::size_t k = scan_.size(); k-- > 0;) {  // increasing x
            if (scan_[k].state == State::gap) continue;
            Band band;
            const bool cut = k + 1 == scan_.size();
            std::size_t end = k;
            std::vector<Solution> lower_points, upper_points;
            if (scan_[k].ok() && !cut)
                band.lower = {find_edge(scan_[k], scan_[k + 1].omega.log_scale, lower_points), true};
            else
                band.lower = {scan_[k].omega.log_scale, false};
            while (end > 0 && scan_[end - 1].state != State::gap) --end;
            if (end > 0 && scan_[end].ok())
                band.upper = {find_edge(scan_[end], scan_[end - 1].omega.log_scale, upper_points), true};
            else
                band.upper = {scan_[end].omega.log_scale, true};
            for (const auto* part : {&lower_points, &upper_points})
                band.known.insert(band.known.end(), part->begin(), part->end());
            for (std::size_t i = end; i <= k; ++i)
                if (scan_[i].state == State::certified) band.known.push_back(scan_[i]);
            std::sort(band.known.begin(), band.known.end(), [](const Solution& a, const Solution& b) {
                return a.omega.log_scale < b.omega.log_scale;
            });
            k = end;
            if (!band.known.empty() && band.width() > 0) bands.push_back(std::move(band));
        }
        return bands;
    }

    // ---- 3. panels -----------------------------------------------------------------------------

    std::vector<Panel> first_panels(const std::vector<Band>& bands) const {
        const double share = static_cast<double>(options_.points) /
                             static_cast<double>(panel::nodes * std::max<std::size_t>(1, bands.size()));
        const int count = std::max(2, static_cast<int>(std::ceil(share)));
        std::vector<Panel> panels;
        for (std::size_t b = 0; b < bands.size(); ++b) {
            for (int k = 0; k < count; ++k) {
                Panel p;
                p.band = b;
                p.theta0 = bands[b].theta_end() * k / count;
                p.theta1 = bands[b].theta_end() * (k + 1) / count;
                for (std::size_t i = 0; i < panel::nodes; ++i)
                    p.guesses.push_back(bands[b].guess(tracker_.equation(), p.theta(panel::rule().place[i])));
                panels.push_back(std::move(p));
            }
        }
        return panels;
    }

    void solve_panel(Tracker& tracker, const Band& band, Panel& p) const {
        p.nodes.clear();
        for (std::size_t i = 0; i < panel::nodes; ++i) {
            const double theta = p.theta(panel::rule().place[i]);
            p.nodes.push_back(tracker.solve(band.x(theta), 0, &p.guesses[i]));
            p.integrand[i] = density_log(tracker.equation(), p.nodes.back()) * band.slope(theta);
        }
        p.error = panel::truncation(p.integrand) * p.half();
        double floor = 0, largest = 0;
        for (std::size_t i = 0; i < panel::nodes; ++i) {
            floor = std::max(floor, std::max(p.nodes[i].floor, p.nodes[i].residual));
            largest = std::max(largest, std::abs(p.integrand[i]));
        }
        p.noise = floor * largest * p.half();
    }

    /// All panels of one generation, in parallel. Each depends on its own guesses only.
    void solve_generation(const std::vector<Band>& bands, std::vector<Panel>& panels) {
        const int threads = options_.threads > 0 ? options_.threads : omp_get_max_threads();
        std::exception_ptr failure;
        long steps = 0;
        double passes = 0;
        int descents = 0;
#pragma omp parallel num_threads(threads) reduction(+ : steps, passes, descents)
        {
            Tracker tracker(tracker_);
            const double passes_before = tracker.passes();
#pragma omp for schedule(dynamic)
            for (std::size_t k = 0; k < panels.size(); ++k) {
                try {
                    solve_panel(tracker, bands[panels[k].band], panels[k]);
                } catch (...) {
#pragma omp critical
                    failure = std::current_exception();
                }
            }
            steps += tracker.newton_steps();
            passes += tracker.passes() - passes_before;
            descents += tracker.descents();
        }
        if (failure) std::rethrow_exception(failure);
        newton_steps_ += steps;
        passes_ += passes;
        descents_ += descents;
    }

    std::vector<Panel> halve(const Panel& parent) const {
        std::vector<Panel> children(2);
        for (std::size_t c = 0; c < 2; ++c) {
            Panel& child = children[c];
            child.band = parent.band;
            child.parent_error = parent.error;
            const double middle = (parent.theta0 + parent.theta1) / 2;
            child.theta0 = c == 0 ? parent.theta0 : middle;
            child.theta1 = c == 0 ? middle : parent.theta1;
            std::vector<const Unknowns*> values;
            for (const Solution& s : parent.nodes) values.push_back(&s.m);
            for (std::size_t i = 0; i < panel::nodes; ++i) {
                const double t = (child.theta(panel::rule().place[i]) - parent.theta0) / parent.half() - 1;
                const auto weights = panel::interpolation(t);
                child.guesses.push_back(tracker_.equation().mix(values, weights.data()));
            }
        }
        return children;
    }

    SolvedLaw once(double refine) {
        scan(refine);
        for (int split = 0; split < max_splits; ++split) {
            const std::vector<Band> bands = find_bands();
            std::vector<Panel> done, open = first_panels(bands);
            std::optional<Solution> hole;
            for (int generation = 0; !open.empty() && !hole; ++generation) {
                solve_generation(bands, open);
                std::vector<Panel> next;
                for (Panel& p : open) {
                    for (const Solution& s : p.nodes)
                        if (s.state == State::gap) hole = s;
                    // Halving gains orders of magnitude on a smooth panel and a third at a kink; less is
                    // noise.
                    const double target = std::max(0.05 * options_.tolerance, p.noise);
                    const bool stuck = generation > 3 && p.error > 0.7 * p.parent_error;
                    if (p.error > target && !stuck && generation < max_generations)
                        for (Panel& child : halve(p)) next.push_back(std::move(child));
                    else
                        done.push_back(std::move(p));
                }
                open = std::move(next);
            }
            if (!hole) return assemble(bands, done);
            // A gap inside what was taken for one band: it joins the scan, and the bands are found again.
            const auto place = std::find_if(scan_.begin(), scan_.end(), [&](const Solution& s) {
                return s.omega.log_scale < hole->omega.log_scale;
            });
            scan_.insert(place, *hole);
        }
        SolvedLaw law;
        law.message = "the support has too many bands";
        return law;
    }

    // ---- 4. the law ----------------------------------------------------------------------------

    SolvedLaw assemble(const std::vector<Band>& bands, std::vector<Panel>& panels) {
        std::sort(panels.begin(), panels.end(), [](const Panel& a, const Panel& b) {
            return a.band != b.band ? a.band < b.band : a.theta0 < b.theta0;
        });
        SolvedLaw law;
        Density& d = law.density;
        d.mass_below = mass_below_;
        d.tail_exponent = tail_exponent_;
        d.atoms = atoms_;
        for (std::size_t b = 0; b < bands.size(); ++b) {
            const bool reaches_zero = b == 0 && tail_exponent_ > 0;
            d.support.push_back({reaches_zero ? -infinity : bands[b].lower.log_s, bands[b].upper.log_s});
        }
        double base = mass_below_;
        std::size_t next_atom = 0;
        const auto pass_atoms = [&](double x) {
            for (; next_atom < atoms_.size() && atoms_[next_atom].log_place < x; ++next_atom)
                base += atoms_[next_atom].mass;
        };
        const panel::Rule& rule = panel::rule();
        for (Panel& p : panels) {
            const Band& band = bands[p.band];
            for (std::size_t i = 0; i < panel::nodes; ++i) {
                const double theta = p.theta(rule.place[i]);
                pass_atoms(band.x(theta));
                double inside = 0;
                for (std::size_t j = 0; j < panel::nodes; ++j)
                    inside += rule.cumulative[i][j] * p.integrand[j];
                d.log_s.push_back(band.x(theta));
                d.density_log.push_back(p.integrand[i] / band.slope(theta));
                d.weight.push_back(p.half() * rule.weight[i] * band.slope(theta));
                d.cumulative.push_back(base + p.half() * inside);
                law.nodes.push_back(std::move(p.nodes[i]));
            }
            for (std::size_t i = 0; i < panel::nodes; ++i) base += p.half() * rule.weight[i] * p.integrand[i];
        }
        pass_atoms(infinity);
        total_mass_ = base;
        return law;
    }

    Range range_;
    std::vector<Density::Atom> atoms_;  ///< by place
    DensityOptions options_;
    Tracker tracker_;
    std::vector<double> seeds_;   ///< increasing
    bool jumps_ = false;          ///< the equation can be entered at any scale
    std::vector<Solution> scan_;  ///< by decreasing x
    double tail_exponent_ = 0, mass_below_ = 0, total_mass_ = 0;
    long newton_steps_ = 0;
    double passes_ = 0;
    int descents_ = 0;
};

}  // namespace

double density_log(const Equation& equation, const Solution& solution) {
    if (solution.state == State::gap) return 0;
    return std::max(0.0, -2 / pi * equation.scaled_green(solution.omega, solution.m).imag());
}

SolvedLaw solve_density(const Tracker& tracker, const Range& range, const std::vector<Density::Atom>& atoms,
                        const DensityOptions& options) {
    return Solver(tracker, range, atoms, options).run();
}

}  // namespace spectra::dyson
