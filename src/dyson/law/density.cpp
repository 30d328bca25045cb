#include "dyson/law/density.hpp"

#include "base/parallel.hpp"
#include "base/special_values.hpp"
#include "base/team.hpp"
#include "dyson/law/bands.hpp"
#include "dyson/law/panel.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace spectra::dyson {
namespace {

constexpr int max_generations = 30;  // a peak may be as narrow as 1e-9 of its band
// Newton steps: of all panels, times the number of unknowns, and of one panel.
constexpr long max_unknown_steps = 120000000;
constexpr long min_newton_steps = 5000;
constexpr long max_panel_steps = 1500;
constexpr long min_panel_steps = 300;
constexpr int max_splits = 40;

struct Panel {
    std::size_t band = 0;
    double theta0 = 0, theta1 = 0;
    std::vector<Unknowns> guesses;
    std::vector<Solution> nodes;
    std::array<double, panel::nodes> integrand{};  ///< density per θ
    double error = 0;
    double noise = 0;  ///< error of the integral from the accuracy of the nodes
    double parent_error = infinity;
    int owner = 0;  ///< the process of a team that solves it
    BandFinder::Work work = {};

    double half() const { return (theta1 - theta0) / 2; }
    double theta(double t) const { return theta0 + half() * (1 + t); }
};

/// What was found in a panel, between the processes of a team.
void put(ByteWriter& writer, const Panel& p, bool with_unknowns) {
    for (const Solution& s : p.nodes) put(writer, s, with_unknowns);
    writer.put(p.integrand);
    writer.put(p.error);
    writer.put(p.noise);
    writer.put(p.work);
}

void get(ByteReader& reader, Panel& p) {
    p.nodes.clear();
    for (std::size_t i = 0; i < panel::nodes; ++i) p.nodes.push_back(get_solution(reader));
    p.integrand = reader.get<decltype(p.integrand)>();
    p.error = reader.get<double>();
    p.noise = reader.get<double>();
    p.work = reader.get<BandFinder::Work>();
}

class Solver {
public:
    Solver(const Tracker& tracker, const SupportBounds& range, const std::vector<Density::Atom>& atoms,
           const DensityOptions& options)
        : range_(range),
          atoms_(atoms),
          options_(options),
          tracker_(tracker),
          finder_(tracker_, range_, options.tolerance, options.threads) {
        std::sort(atoms_.begin(), atoms_.end(),
                  [](const auto& a, const auto& b) { return a.log_place < b.log_place; });
    }

    SolvedLaw run() {
        const auto sound = [&](const SolvedLaw& law) {
            return law.uncertified == 0 && law.overlap <= tolerance::overlap &&
                   law.mass_error <= allowed_error(law);
        };
        SolvedLaw best;
        if (options_.near != nullptr) {
            Support support = finder_.around_seeds(options_.near);
            best = once(support);
        }
        if (!sound(best)) {
            Support support = finder_.around_seeds();
            best = once(support);
            if (options_.more_seeds && !sound(best) && finder_.add_seeds(options_.more_seeds())) {
                support = finder_.around_seeds();
                SolvedLaw law = once(support);
                if (badness(law) < badness(best)) best = std::move(law);
            }
            if (options_.mass_above && !sound(best) && finder_.add_counted(support, options_.mass_above)) {
                SolvedLaw law = once(support);
                if (badness(law) < badness(best)) best = std::move(law);
            }
        }
        for (double refine = 1;
             options_.scans && refine < 30 && !finder_.exhausted() && !spent() && !sound(best); refine *= 3) {
            Support support = finder_.by_scan(refine);
            // A search that was given up has hardly found all bands: skip it if panels are expensive.
            if (finder_.exhausted() && !best.nodes.empty() && 2 * newton_steps_ > max_steps()) break;
            SolvedLaw law = once(support);
            if (best.nodes.empty() || badness(law) < badness(best)) best = std::move(law);
        }
        judge(best);
        const BandFinder::Work beside = finder_.beside();
        best.newton_steps = newton_steps_ + tracker_.newton_steps() + beside.newton_steps;
        best.passes = passes_ + tracker_.passes() + beside.passes;
        best.descents = descents_ + tracker_.descents() + beside.descents;
        return best;
    }

private:
    /// Of the mass, beyond which something was missed. A power law is steady to a tenth.
    double allowed_error(const SolvedLaw& law) const {
        return std::max(1e-7, 10 * options_.tolerance) + 0.1 * law.cut;
    }

    void judge(SolvedLaw& law) const {
        std::string more;
        if (spent())
            more = ", and the limit of " + std::to_string(max_steps()) + " Newton steps was reached";
        else if (finder_.exhausted())
            more = ", and the search for bands was given up";
        const bool no_band = law.nodes.empty() && law.mass_error > tolerance::mass;
        law.judge(
            {{"bands missing", 0, no_band ? 1.0 : 0.0, "no band of the support was found" + more},
             {"nodes not certified", 0, static_cast<double>(law.uncertified),
              std::to_string(law.uncertified) + " of " + std::to_string(law.nodes.size()) +
                  " points are not certified" + more},
             {"overlap of bands", tolerance::overlap, law.overlap, "bands were found that overlap" + more},
             {"mass found", options_.scans ? tolerance::mass : allowed_error(law), law.mass_error,
              "the mass found differs from 1 by " + std::to_string(law.mass_error) + more}});
    }

    /// What is missing of a law: mass that was not found, and mass at nodes that were lost. A law without
    /// nodes has no lost ones, and misses everything.
    static double badness(const SolvedLaw& law) {
        double lost = 0;
        for (std::size_t k = 0; k < law.nodes.size(); ++k)
            if (!law.nodes[k].ok()) lost += law.density.weight[k] * law.density.density_log[k];
        return law.mass_error + lost;
    }

    /// Whether panels used so many Newton steps that no more are begun.
    bool spent() const { return newton_steps_ >= max_steps(); }
    long max_steps() const {
        return std::max(min_newton_steps, max_unknown_steps / tracker_.equation().size());
    }
    /// The remaining steps per panel; the same for all, so that threads make no difference.
    long panel_steps(std::size_t panels) const {
        const long share = (max_steps() - newton_steps_) / static_cast<long>(panels);
        return std::clamp(share, min_panel_steps, max_panel_steps);
    }

    // ---- panels --------------------------------------------------------------------------------

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
                if (options_.team != nullptr)
                    p.owner =
                        static_cast<int>(panels.size() % static_cast<std::size_t>(options_.team->size()));
                for (std::size_t i = 0; i < panel::nodes; ++i)
                    p.guesses.push_back(bands[b].guess(tracker_.equation(), p.theta(panel::rule().place[i])));
                panels.push_back(std::move(p));
            }
        }
        return panels;
    }

    /// From the guess; otherwise from the known points of the band, walking if these are too far; otherwise
    /// by descent.
    Solution solve_node(Tracker& tracker, const Band& band, double theta, const Unknowns& guess) const {
        const double x = band.x(theta);
        Solution s = tracker.try_from(x, 0, guess);
        if (s.ok()) return s;
        s = tracker.try_from(x, 0, band.guess(tracker.equation(), theta));
        if (s.ok()) return s;
        s = tracker.walk(band.nearest(x), x);
        return s.ok() ? s : tracker.solve(x, 0);
    }

    void solve_panel(Tracker& tracker, const Band& band, Panel& p, long most_steps) const {
        p.nodes.clear();
        const long steps_before = tracker.newton_steps();
        const double passes_before = tracker.passes();
        const int descents_before = tracker.descents();
        for (std::size_t i = 0; i < panel::nodes; ++i) {
            const double theta = p.theta(panel::rule().place[i]);
            if (tracker.newton_steps() - steps_before > most_steps) {  // lost: stay bounded
                p.nodes.push_back(p.nodes.back());
                p.nodes.back().omega = {band.x(theta), 1.0};
                p.nodes.back().state = State::failed;
                p.integrand[i] = 0;
                continue;
            }
            p.nodes.push_back(solve_node(tracker, band, theta, p.guesses[i]));
            p.integrand[i] = density_log(tracker.equation(), p.nodes.back()) * band.slope(theta);
        }
        p.error = panel::truncation(p.integrand) * p.half();
        double floor = 0, largest = 0;
        for (std::size_t i = 0; i < panel::nodes; ++i) {
            floor = std::max(floor, std::max(p.nodes[i].floor, p.nodes[i].residual));
            largest = std::max(largest, std::abs(p.integrand[i]));
        }
        p.noise = floor * largest * p.half();
        p.work = {tracker.newton_steps() - steps_before, tracker.passes() - passes_before,
                  tracker.descents() - descents_before};
    }

    /// All panels of one generation, in parallel. Each depends only on its own guesses.
    void solve_generation(const std::vector<Band>& bands, std::vector<Panel>& panels) {
        const long most_steps = panel_steps(panels.size());
        const int threads = std::clamp(static_cast<int>(panels.size()), 1, threads_or_all(options_.threads));
        std::vector<Tracker> trackers(static_cast<std::size_t>(threads), tracker_);
        std::vector<Panel*> own;
        for (Panel& p : panels)
            if (is_own(p)) own.push_back(&p);
        parallel_for(own.size(), trackers, [&](Tracker& tracker, std::size_t k) {
            solve_panel(tracker, bands[own[k]->band], *own[k], most_steps);
        });
        if (options_.team != nullptr) share(panels);
        for (const Panel& p : panels) {
            newton_steps_ += p.work.newton_steps;
            passes_ += p.work.passes;
            descents_ += p.work.descents;
        }
    }

    bool is_own(const Panel& p) const { return options_.team == nullptr || p.owner == options_.team->rank(); }

    /// The first process of the team gets all of every panel, the others everything but the unknowns: those of 10,000
    /// layers are megabytes a node, and only the panel's owner goes on from them.
    void share(std::vector<Panel>& panels) const {
        Team& team = *options_.team;
        ByteWriter own;
        for (const Panel& p : panels)
            if (is_own(p)) put(own, p, true);
        const auto parts = team.gather(own.take());
        ByteWriter all;
        if (team.is_first()) {
            std::vector<ByteReader> readers(parts.begin(), parts.end());
            for (Panel& p : panels) {
                if (!is_own(p)) get(readers[static_cast<std::size_t>(p.owner)], p);
                put(all, p, false);
            }
        }
        const auto bytes = team.spread(all.take());
        if (team.is_first()) return;
        ByteReader reader(bytes);
        for (Panel& p : panels) {
            Panel read;
            get(reader, is_own(p) ? read : p);
        }
    }

    std::vector<Panel> halve(const Panel& parent) const {
        std::vector<Panel> children(2);
        for (std::size_t c = 0; c < 2; ++c) {
            Panel& child = children[c];
            child.band = parent.band;
            child.owner = parent.owner;
            child.parent_error = parent.error;
            const double middle = (parent.theta0 + parent.theta1) / 2;
            child.theta0 = c == 0 ? parent.theta0 : middle;
            child.theta1 = c == 0 ? middle : parent.theta1;
            if (!is_own(parent)) continue;
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

    /// The law on these bands, which are split where there is a gap inside.
    SolvedLaw once(Support& support) {
        for (int split = 0; split < max_splits && (split == 0 || !spent()); ++split) {
            const std::vector<Band>& bands = support.bands;
            std::vector<Panel> done, open = first_panels(bands);
            std::optional<double> hole;
            for (int generation = 0; !open.empty() && !hole; ++generation) {
                solve_generation(bands, open);
                std::vector<Panel> next;
                for (Panel& p : open) {
                    for (const Solution& s : p.nodes)
                        if (s.state == State::gap) hole = s.omega.log_scale;
                    // Halving gains orders of magnitude on a smooth panel and a third at a kink; less is
                    // noise.
                    const double target = std::max(0.05 * options_.tolerance, p.noise);
                    const bool stuck = generation > 3 && p.error > 0.7 * p.parent_error && p.error < 1e-6;
                    // A lost node spoils the series of its panel, and its neighbours would be as expensive.
                    const bool lost =
                        generation > 1 && std::any_of(p.nodes.begin(), p.nodes.end(),
                                                      [](const Solution& s) { return !s.ok(); });
                    if (p.error > target && !stuck && !lost && !spent() && generation < max_generations)
                        for (Panel& child : halve(p)) next.push_back(std::move(child));
                    else
                        done.push_back(std::move(p));
                }
                open = std::move(next);
            }
            if (!hole) return assemble(support, done);
            finder_.split(support, *hole);
        }
        SolvedLaw law;
        law.message = "the support has too many bands";
        return law;
    }

    // ---- the law ----------------------------------------------------------------------------

    SolvedLaw assemble(const Support& support, std::vector<Panel>& panels) {
        const std::vector<Band>& bands = support.bands;
        std::sort(panels.begin(), panels.end(), [](const Panel& a, const Panel& b) {
            return a.band != b.band ? a.band < b.band : a.theta0 < b.theta0;
        });
        SolvedLaw law;
        Density& d = law.density;
        d.mass_below = support.mass_below;
        d.tail_exponent = support.tail_exponent;
        d.atoms = atoms_;
        for (std::size_t b = 0; b < bands.size(); ++b) {
            const bool reaches_zero = b == 0 && support.tail_exponent > 0;
            law.bands.push_back({bands[b].lower, bands[b].upper});
            d.support.push_back({reaches_zero ? -infinity : bands[b].lower.log_s, bands[b].upper.log_s});
        }
        double base = support.mass_below;
        std::size_t next_atom = 0;
        const auto pass_atoms = [&](double x) {
            for (; next_atom < atoms_.size() && atoms_[next_atom].log_place < x; ++next_atom)
                base += atoms_[next_atom].mass;
        };
        const panel::Rule& rule = panel::rule();
        // The mass of a power law beyond a cut belongs to the law: it is put on the node next to the cut.
        const auto add_beyond = [&](double mass, std::size_t node) {
            law.cut += mass;
            if (d.density_log[node] > 0) d.weight[node] += mass / d.density_log[node];
        };
        for (std::size_t k = 0; k < panels.size(); ++k) {
            Panel& p = panels[k];
            const Band& band = bands[p.band];
            const bool lowest = k == 0 || panels[k - 1].band != p.band;
            const bool highest = k + 1 == panels.size() || panels[k + 1].band != p.band;
            const std::size_t first = d.weight.size();
            if (lowest) base += band.lower.beyond;
            for (std::size_t i = 0; i < panel::nodes; ++i) {
                const double theta = p.theta(rule.place[i]);
                pass_atoms(band.x(theta));
                double inside = 0;
                for (std::size_t j = 0; j < panel::nodes; ++j)
                    inside += rule.cumulative[i][j] * p.integrand[j];
                const double x = band.x(theta), mass = p.half() * rule.weight[i] * p.integrand[i];
                if (!d.log_s.empty() && x <= d.log_s.back()) {
                    // A band as narrow as the spacing of numbers there: its nodes share a position.
                    law.overlap = std::max(law.overlap, d.log_s.back() - x);
                    if (d.density_log.back() > 0) d.weight.back() += mass / d.density_log.back();
                    d.cumulative.back() = std::max(d.cumulative.back(), base + p.half() * inside);
                    continue;
                }
                d.log_s.push_back(x);
                d.density_log.push_back(p.integrand[i] / band.slope(theta));
                d.weight.push_back(mass > 0 ? mass / d.density_log.back()
                                            : p.half() * rule.weight[i] * band.slope(theta));
                d.cumulative.push_back(base + p.half() * inside);
                law.nodes.push_back(std::move(p.nodes[i]));
            }
            for (std::size_t i = 0; i < panel::nodes; ++i) base += p.half() * rule.weight[i] * p.integrand[i];
            if (lowest) add_beyond(band.lower.beyond, std::min(first, d.weight.size() - 1));
            if (highest) {
                base += band.upper.beyond;
                add_beyond(band.upper.beyond, d.weight.size() - 1);
            }
        }
        pass_atoms(infinity);
        law.mass_error = std::abs(base - 1);
        for (const Solution& s : law.nodes) law.uncertified += s.ok() ? 0 : 1;
        return law;
    }

    SupportBounds range_;
    std::vector<Density::Atom> atoms_;  ///< by position
    DensityOptions options_;
    Tracker tracker_;
    BandFinder finder_;
    long newton_steps_ = 0;
    double passes_ = 0;
    int descents_ = 0;
};

}  // namespace

SolvedLaw solve_density(const Tracker& tracker, const SupportBounds& range,
                        const std::vector<Density::Atom>& atoms, const DensityOptions& options) {
    return Solver(tracker, range, atoms, options).run();
}

}  // namespace spectra::dyson
