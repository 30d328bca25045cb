#include "dyson/solve/tracker.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace spectra::dyson {
namespace {

constexpr double companion_tilt = 0.5;
constexpr double companion_spacing = 0.5;
constexpr double start_distance = 2;
constexpr double lost_distance = 6;  // a start that fails this far from every anchor is in a wide gap
constexpr double descent_factor = 3;
constexpr double smallest_tilt = 1e-10;
constexpr double weakest_noise = 30;
// Limits of Newton steps: for a search, and for one path or descent, where a few dozen are usual. The
// products with the number of unknowns limit them for cheap and for expensive steps.
constexpr long max_search_steps = 15000;
constexpr long min_search_steps = 2000;
constexpr long cheap_search = 2000000;
constexpr long dear_search = 80000000;
constexpr long max_path_steps = 1000;
constexpr long min_path_steps = 200;
constexpr long dear_path = 4000000;

long path_steps(const Equation& equation) {
    return std::clamp(dear_path / equation.size(), min_path_steps, max_path_steps);
}

Frequency at_tilt(double log_s, double tilt) {
    return {log_s, {1.0, tilt}};
}

}  // namespace

long search_steps(const Equation& equation) {
    const long dear = std::clamp(dear_search / equation.size(), min_search_steps, max_search_steps);
    return std::max(dear, cheap_search / equation.size());
}

Tracker::Tracker(std::unique_ptr<Equation> equation, double log_far, std::vector<double> anchors,
                 bool when_needed)
    : equation_(std::move(equation)), log_far_(log_far), anchors_(std::move(anchors)) {
    Frequency top = at_tilt(log_far + 3, companion_tilt);
    Solution solution;
    // Far enough out the asymptotic guess must work; go farther if it does not.
    for (int k = 0; k < 40 && !solution.ok(); ++k, top.log_scale += 1)
        solution = attempt(top, equation_->far(top));
    if (!solution.ok()) return;
    companions_.push_back(solution);
    if (!when_needed) make_companions();
}

void Tracker::make_companions() {
    std::vector<double> anchors;
    std::swap(anchors, anchors_);
    std::sort(anchors.rbegin(), anchors.rend());
    Solution solution;
    for (const double anchor : anchors) {
        // Each anchor from its own start; if there is none, down the line from the anchor above.
        if (companions_.back().omega.log_scale - anchor < companion_spacing) continue;
        solution = from_start(anchor);
        if (solution.ok()) {
            companions_.push_back(solution);
            continue;
        }
        while (companions_.back().omega.log_scale > anchor) {
            if (newton_steps_ > search_steps(*equation_)) return;
            const double next = std::max(anchor, companions_.back().omega.log_scale - companion_spacing);
            solution = {};
            if (companions_.size() > 1)
                solution =
                    attempt(at_tilt(next, companion_tilt), extrapolated(next), 4, equation_->passing_step());
            if (!solution.ok())
                solution =
                    follow(companions_.back(), at_tilt(next, companion_tilt), equation_->passing_step());
            if (!solution.ok()) return;
            companions_.push_back(solution);
        }
    }
}

Unknowns Tracker::extrapolated(double log_s) const {
    constexpr std::size_t most = 3;
    std::vector<const Unknowns*> values;
    std::vector<double> places, weights;
    for (std::size_t k = companions_.size(); k-- > 0 && values.size() < most;) {
        values.push_back(&companions_[k].m);
        places.push_back(companions_[k].omega.log_scale);
    }
    for (std::size_t k = 0; k < places.size(); ++k) {
        double weight = 1;
        for (std::size_t j = 0; j < places.size(); ++j)
            if (j != k) weight *= (log_s - places[j]) / (places[k] - places[j]);
        weights.push_back(weight);
    }
    return equation_->mix(values, weights.data());
}

Tracker::Tracker(const Tracker& other)
    : equation_(other.equation_->clone()),
      log_far_(other.log_far_),
      anchors_(other.anchors_),
      companions_(other.companions_) {}

Tracker::Tracker(const Tracker& other, std::unique_ptr<Equation> equation)
    : equation_(std::move(equation)), log_far_(other.log_far_), companions_(other.companions_) {}

bool Tracker::is_large_enough(const Frequency& omega, const Unknowns& m) const {
    const double height = omega.direction.imag();
    if (height == 0) return true;
    const double bound = height / (std::norm(omega.direction) + std::exp(2 * (log_far_ - omega.log_scale)));
    // Far below: equations that are no law's, as printed ones, need not keep the bound itself.
    constexpr double far_below = 1e-6;
    return -equation_->scaled_green(omega, m).imag() >= far_below * bound;
}

Solution Tracker::attempt(const Frequency& omega, const Unknowns& guess, int max_steps, double enough) {
    Solution solution = newton(*equation_, omega, guess, max_steps, enough);
    newton_steps_ += solution.steps;
    if (solution.ok() && !is_large_enough(omega, solution.m)) solution.state = State::failed;
    return solution;
}

Solution Tracker::follow(const Solution& from, const Frequency& to, double enough) {
    Solution here = from;
    int steps = 0;
    double done = 0, step = 1;
    while (done < 1) {
        const double next = std::min(1.0, done + step);
        Frequency omega = to;
        if (next < 1) {
            omega.log_scale = std::lerp(from.omega.log_scale, to.log_scale, next);
            omega.direction = from.omega.direction + next * (to.direction - from.omega.direction);
        }
        Solution solution = attempt(omega, here.m, 12, next < 1 ? equation_->passing_step() : enough);
        steps += solution.steps;
        if (solution.ok()) {
            here = solution;
            done = next;
            step *= 2;
        } else {
            step /= 2;
        }
        if (done < 1 && (step < 1e-6 || steps > path_steps(*equation_))) {
            here.state = State::failed;
            break;
        }
    }
    here.steps = steps;
    return here;
}

Solution Tracker::from_start(double log_s) {
    const Unknowns guess = equation_->start(log_s);
    if (guess.size() == 0) return {};
    Solution here = attempt({log_s, {0.0, 1.0}}, guess, 40);
    int steps = here.steps;
    if (!here.ok()) {
        here = from_weaker_noise(log_s);
        steps += here.steps;
        here.steps = steps;
        if (!here.ok()) return here;
    }
    here = follow(here, at_tilt(log_s, companion_tilt));
    here.steps += steps;
    return here;
}

Solution Tracker::from_weaker_noise(double log_s) {
    const Frequency omega{log_s, {0.0, 1.0}};
    Solution here;
    int steps = 0;
    const auto attempt_at = [&](double log_noise, const Unknowns& guess, int max_steps) {
        const auto weaker = equation_->with_noise(log_noise);
        Solution solution = newton(*weaker, omega, guess, max_steps);
        newton_steps_ += solution.steps;
        steps += solution.steps;
        return solution;
    };
    double reached = -2;
    for (; reached >= -weakest_noise && !here.ok(); reached *= 1.5) {
        const auto weaker = equation_->with_noise(reached);
        if (!weaker) return {};
        here = attempt_at(reached, weaker->start(log_s), 25);
        if (here.ok()) break;
    }
    double step = 0.5;
    std::optional<Solution> before;
    double reached_before = 0;
    while (here.ok() && reached < 0) {
        if (steps > path_steps(*equation_)) {
            here.state = State::failed;
            break;
        }
        const double next = std::min(0.0, reached + step);
        Unknowns guess = here.m;
        if (before) {
            const double f = (next - reached) / (reached - reached_before);
            const double weights[2] = {1 + f, -f};
            guess = equation_->mix({&here.m, &before->m}, weights);
        }
        Solution solution = attempt_at(next, guess, 12);
        if (solution.ok()) {
            before = std::move(here);
            reached_before = reached;
            here = std::move(solution);
            reached = next;
            if (here.steps <= 6) step *= 1.5;
        } else {
            step /= 2;
            if (step < 0.01) here.state = State::failed;
        }
    }
    here.steps = steps;
    return here;
}

std::vector<Solution>::const_iterator Tracker::nearest_companion(double log_s) const {
    return std::min_element(companions_.begin(), companions_.end(), [&](const auto& a, const auto& b) {
        return std::abs(a.omega.log_scale - log_s) < std::abs(b.omega.log_scale - log_s);
    });
}

bool Tracker::add_companion(double log_s) {
    if (companions_.empty()) return false;
    // Far from where the law changes, unknowns are powers of s: steps grow, from guesses beyond the last two.
    Solution here = *nearest_companion(log_s);
    std::optional<Solution> before;
    double step = companion_spacing;
    int steps = 0;
    bool lost = false;
    while (here.omega.log_scale != log_s && !lost) {
        const double x = here.omega.log_scale, rest = log_s - x;
        const double next = std::abs(rest) <= step ? log_s : x + std::copysign(step, rest);
        Unknowns guess = here.m;
        if (before) {
            const double f = (next - x) / (x - before->omega.log_scale);
            const double weights[2] = {1 + f, -f};
            guess = equation_->mix({&here.m, &before->m}, weights);
        }
        Solution solution = attempt(at_tilt(next, companion_tilt), guess, 12);
        steps += solution.steps;
        if (solution.ok()) {
            before = std::move(here);
            here = std::move(solution);
            if (here.steps <= 6) step *= 1.5;
        } else {
            lost = (step /= 2) < 0.01 || steps > path_steps(*equation_);
        }
    }
    const double reached = here.omega.log_scale;
    const auto below = std::find_if(companions_.begin(), companions_.end(),
                                    [&](const auto& a) { return a.omega.log_scale <= reached; });
    if (below == companions_.end() || below->omega.log_scale != reached)
        companions_.insert(below, std::move(here));
    return !lost;
}

Solution Tracker::companion(double log_s) {
    if (companions_.empty()) return {};
    if (!anchors_.empty()) make_companions();
    const auto nearest = nearest_companion(log_s);
    const double distance = log_s - nearest->omega.log_scale;
    int steps = 0;
    if (std::abs(distance) > start_distance) {
        Solution started = from_start(log_s);
        if (started.ok()) return started;
        const bool below_all = log_s < companions_.back().omega.log_scale;
        if (started.steps > 0 && std::abs(distance) > lost_distance && !below_all) return started;
        steps += started.steps;
    }
    Solution here = *nearest;
    const int pieces = std::max(1, static_cast<int>(std::ceil(std::abs(distance) / companion_spacing)));
    for (int k = 1; k <= pieces && here.ok(); ++k) {
        const double x = k == pieces ? log_s : nearest->omega.log_scale + distance * k / pieces;
        here = follow(here, at_tilt(x, companion_tilt), equation_->passing_step());
        steps += here.steps;
        if (k < pieces && steps > search_steps(*equation_)) here.state = State::failed;
    }
    here.steps = steps;
    return here;
}

Solution Tracker::try_from(double log_s, double tilt, const Unknowns& guess) {
    return at(at_tilt(log_s, tilt), guess);
}

Solution Tracker::at(const Frequency& omega, const Unknowns& guess, double enough) {
    return attempt(omega, guess, 15, enough);
}

Solution Tracker::lower(double log_s, double tilt, const Unknowns& guess) {
    constexpr double on_the_way = 1e-3;  // accuracy of points that only lead to the next
    int steps = 0;
    for (const double start : {0.02, 0.1}) {
        Solution here = attempt(at_tilt(log_s, start), guess, 16, on_the_way);
        steps += here.steps;
        if (!here.ok()) continue;
        double reached = start, factor = 6;
        while (factor > 1.2) {
            const double next = std::max(tilt, reached / factor);
            Solution solution = attempt(at_tilt(log_s, next), here.m, 16, next > tilt ? on_the_way : 0);
            steps += solution.steps;
            if (!solution.ok()) {
                factor = std::sqrt(factor);
                continue;
            }
            here = std::move(solution);
            reached = next;
            if (reached == tilt) {
                here.steps = steps;
                return here;
            }
        }
    }
    Solution solution = solve(log_s, tilt);
    solution.steps += steps;
    return solution;
}

Solution Tracker::walk(const Solution& from, double log_s) {
    const double distance = log_s - from.omega.log_scale;
    Solution here = from;
    double done = 0, step = 0.5;
    int steps = 0;
    while (done < 1) {
        const double next = std::min(1.0, done + step);
        const double x = next == 1 ? log_s : from.omega.log_scale + next * distance;
        Solution solution = try_from(x, 0, here.m);
        steps += solution.steps;
        if (solution.ok()) {
            here = std::move(solution);
            done = next;
            step *= 1.5;
        } else if ((step /= 3) < 0.01) {
            here.state = State::failed;
            break;
        }
    }
    here.steps = steps;
    return here;
}

Solution Tracker::solve(double log_s, double tilt, const Unknowns* guess) {
    int steps = 0;
    const Frequency target = at_tilt(log_s, tilt);
    if (guess != nullptr) {
        Solution solution = attempt(target, *guess, 15);
        if (solution.ok()) return solution;
        steps += solution.steps;
    }
    ++descents_;
    Solution here = companion(log_s);
    steps += here.steps;
    if (!here.ok()) return here;
    double reached = companion_tilt;
    double factor = tilt > companion_tilt ? 1 / descent_factor : descent_factor;
    const long most = steps + path_steps(*equation_);
    // Towards the axis by factors; near it, try the axis itself at every other rung.
    for (int rung = 0; rung < 200 && steps <= most; ++rung) {
        double next = reached / factor;
        const bool last = tilt > 0 && (factor > 1 ? next <= tilt : next >= tilt);
        if (last) next = tilt;
        // The axis is foreseen from the last two rungs: then these must be accurate.
        Solution solution =
            attempt(at_tilt(log_s, next), here.m, 15, tilt > 0 && !last ? equation_->passing_step() : 0);
        steps += solution.steps;
        if (!solution.ok()) {
            factor = std::sqrt(factor);
            if (std::abs(factor - 1) < 1e-3) break;
            continue;
        }
        const Unknowns before = here.m;
        const double tilt_before = reached;
        here = solution;
        reached = next;
        if (last) {
            here.steps = steps;
            return here;
        }
        if (tilt == 0 && reached < 2e-2 && (rung % 2 == 0 || reached < 1e-4)) {
            // In a gap the imaginary part vanishes with the tilt, inside the support it stays: the
            // secant through two rungs covers both.
            const Unknowns secant = here.m + (here.m - before) * (reached / (tilt_before - reached));
            solution = attempt(target, secant, 12);
            steps += solution.steps;
            if (solution.ok()) {
                solution.steps = steps;
                return solution;
            }
        }
        if (reached < smallest_tilt) break;
    }
    here.state = State::failed;
    here.steps = steps;
    return here;
}

Solution Tracker::solve(Complex omega, const Unknowns* guess) {
    const double tilt = omega.imag() / omega.real();
    if (omega.real() > 0 && tilt <= 1e3) return solve(std::log(omega.real()), tilt, guess);
    const double modulus = std::abs(omega);
    const Solution here = companion(std::log(modulus));
    return here.ok() ? follow(here, {std::log(modulus), omega / modulus}) : here;
}

double Tracker::cumulative(double log_s) {
    // u = ln(t/s); trapezoid, both tails decay as e^{−|u|}.
    const double top = companions_.front().omega.log_scale - log_s;
    const double spacing = 0.25;
    const int up = static_cast<int>(std::ceil((top + 22) / spacing));
    const int down = static_cast<int>(std::ceil(24 / spacing));
    double sum = 0;
    Solution here;
    for (int k = up; k >= -down; --k) {
        const double t = std::exp(k * spacing);
        // Keep the direction of order one: ω = s(1 + it) = e^{log_s + ln(1+t)} (1 + it)/(1 + t).
        const Frequency omega{log_s + std::log1p(t), Complex(1.0, t) / (1 + t)};
        here = k == up ? attempt(omega, equation_->far(omega)) : follow(here, omega);
        if (!here.ok()) return std::numeric_limits<double>::quiet_NaN();
        sum += (equation_->scaled_green(omega, here.m)).real() / (1 + t) * t;
    }
    return 2 / std::numbers::pi * sum * spacing;
}

}  // namespace spectra::dyson
