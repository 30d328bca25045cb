#include "montecarlo/sample/probing.hpp"

#include "montecarlo/sample/quadrature.hpp"
#include "montecarlo/sample/rounding.hpp"
#include "random/stream.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spectra::montecarlo {

namespace {

/// The variance of the estimate of a mass F by a probe that is uniform on the sphere in `size` dimensions.
double seen_variance(double mass, double size) {
    return 2 * std::max(mass * (1 - mass), 0.0) / (size + 2);
}

Metrics metrics_of(const std::vector<linalg::GaussQuadrature>& probes) {
    ProbedSample sample;
    sample.probes = probes;
    return summary({sample}, 1).metrics;
}

/// Compares quadratures of increasing numbers of steps of the same law.
class Resolution {
public:
    explicit Resolution(double error) : wanted_(error) {}

    /// Called every ten steps: is the law known to the requested accuracy, twice in a row?
    bool settled(const std::vector<linalg::GaussQuadrature>& probes) {
        constexpr double for_log_mean = 5;
        seen_.push_back(metrics_of(probes));
        if (seen_.size() < 2) return false;
        double hidden = 0;
        for (const auto& probe : probes) hidden += linalg::hidden_below(probe, collapsed_below);
        const auto &now = seen_.back(), &half = seen_[seen_.size() / 2 - 1];
        change_.window = std::abs(now.window - half.window);
        change_.collapsed =
            std::abs(now.collapsed - half.collapsed) + hidden / static_cast<double>(probes.size());
        change_.log_mean = std::abs(now.log_mean - half.log_mean);
        const bool known = wanted_ > 0 && change_.window <= wanted_ && change_.collapsed <= wanted_ &&
                           change_.log_mean <= for_log_mean * wanted_;
        return std::exchange(known_, known) && known;
    }

    /// Nothing is left to resolve: every node is a singular value.
    void exhausted() { change_.window = change_.collapsed = change_.log_mean = 0; }

    /// By how much the last half of the steps changed window, collapsed (with the mass that may be hidden
    /// below all nodes) and log_mean: an upper estimate of the remaining error. NaN before twenty steps.
    const Metrics& change() const { return change_; }

private:
    double wanted_;
    std::vector<Metrics> seen_;  ///< after ten steps, twenty, …
    Metrics change_;
    bool known_ = false;
};

/// Batches of probes of one matrix.
class Probing {
public:
    Probing(const ProbedMatrix& matrix, const ProbingOptions& options)
        : matrix_(matrix), options_(options), columns_(matrix.columns), resolution_(options.error) {}

    std::vector<linalg::GaussQuadrature> run() {
        constexpr int fewest = 4, first_probes = 8, all_steps = 4000;
        int first = options_.probes;
        steps_ = options_.steps;
        if (options_.error > 0) {
            first = std::clamp(probes_for(0.5), std::min(fewest, options_.probes), first_probes);
            const int likely = std::max(first, probes_for(0.75));
            const int fitting = columns_ / (2 * first) - 5;
            steps_ = std::max(steps_, std::min({all_steps / likely, options_.most_steps, fitting}));
        }
        add(first, true);
        // As many steps as the first probes took (one of them took more).
        steps_ = std::min(steps_, static_cast<int>(found_.back().node.size()));
        const int wanted = std::max(first, wanted_probes());
        total_ = std::max<std::int64_t>(done_, done_ + std::int64_t{wanted - count()} * steps_);
        while (count() < wanted) add(wanted - count(), false);
        const auto exhausted = [](const linalg::GaussQuadrature& probe) {
            return *std::max_element(probe.residual.begin(), probe.residual.end()) <=
                   1e-12 * probe.node.back();
        };
        if (std::all_of(found_.begin(), found_.end(), exhausted)) resolution_.exhausted();
        return std::move(found_);
    }

    const Resolution& resolution() const { return resolution_; }

private:
    int count() const { return static_cast<int>(found_.size()); }

    linalg::GolubKahanOptions plain() {
        linalg::GolubKahanOptions out;
        out.steps = steps_;
        out.threads = options_.threads;
        out.progress = [this](int probes) {
            done_ += probes;
            total_ = std::max(total_, done_);
            if (options_.progress) options_.progress(done_, total_);
        };
        return out;
    }

    /// The first probes determine the number of steps, and one of them continues for the two ends of the
    /// spectrum.
    linalg::GolubKahanOptions deciding(int probes) {
        auto out = plain();
        total_ = std::int64_t{probes} * steps_;
        out.extremes = options_.extremes;
        const int most = std::min(options_.most_steps, columns_ / 2);
        out.most_steps = most < matrix_.rank ? most : matrix_.size;
        resolution_ = Resolution(options_.error);
        out.enough = [this](const auto& found) { return resolution_.settled(found); };
        return out;
    }

    /// At most `most`, as memory allows.
    void add(int most, bool first) {
        const auto done = done_;
        while (true) {
            const auto how = first ? deciding(most) : plain();
            const int each = 2 * how.steps + 5;
            const int number = std::min({most, std::max(columns_ / each, 1), options_.probes - count()});
            try {
                for (auto& probe : matrix_.bidiagonalise(vectors(number), number, how))
                    found_.push_back(std::move(probe));
                return;
            } catch (const OutOfMemory&) {
                done_ = done;
                columns_ = std::min(columns_, number * each) / 2;
                if (columns_ < 2 * options_.steps + 5) throw;
                if (first) steps_ = std::clamp(columns_ / (2 * most) - 5, options_.steps, steps_);
                if (matrix_.start_over) matrix_.start_over();
            }
        }
    }

    std::vector<double> vectors(int number) const {
        std::vector<double> out;
        for (int k = 0; k < number; ++k) {
            const auto one =
                probe_vector(matrix_.rank, options_.seed, static_cast<std::uint32_t>(count() + k), options_.input);
            out.insert(out.end(), one.begin(), one.end());
        }
        return out;
    }

    /// The number of probes that gives the requested error of a mass.
    int probes_for(double mass) const {
        const double one = seen_variance(mass, static_cast<double>(matrix_.rank));
        const double wanted = std::ceil(one / (options_.error * options_.error));
        return std::max(1, static_cast<int>(std::min<double>(wanted, options_.probes)));
    }

    int wanted_probes() const {
        if (!(options_.error > 0)) return options_.probes;
        const auto seen = metrics_of(found_);
        return std::max({count(), probes_for(seen.window), probes_for(seen.collapsed)});
    }

    const ProbedMatrix& matrix_;
    const ProbingOptions& options_;
    int columns_, steps_ = 0;
    std::int64_t done_ = 0, total_ = 0;
    Resolution resolution_;
    std::vector<linalg::GaussQuadrature> found_;
};

}  // namespace

std::vector<double> probe_vector(int size, std::uint64_t seed, std::uint32_t number, std::uint32_t input) {
    std::vector<double> out(static_cast<std::size_t>(size));
    random::Stream(seed, random::Purpose::probe, number, input).fill_normal(out);
    return out;
}

ProbedLaw probe(const ProbedMatrix& matrix, const ProbingOptions& options) {
    ProbedLaw out;
    Probing probing(matrix, options);
    ProbedSample sample;
    sample.probes = probing.run();
    out.probes = static_cast<int>(sample.probes.size());
    out.steps = static_cast<int>(sample.probes.back().node.size());
    double resolved = 0, mean_square = 0;
    for (const auto& probe : sample.probes) {
        resolved = std::max(resolved, probe.resolved_from());
        mean_square += probe.mean_square / static_cast<double>(sample.probes.size());
    }
    const auto rank = static_cast<double>(matrix.rank);
    sample.log_floor =
        std::max(std::log(resolved), log_floor(std::log(std::sqrt(mean_square * rank)), matrix.rounding));

    const auto seen = summary({sample}, matrix.rank);
    out.log_values = seen.log_values;
    out.law = seen.law;
    out.metrics = seen.metrics;
    out.error = seen.error;
    const auto& change = probing.resolution().change();
    for (const auto metric : {&Metrics::window, &Metrics::collapsed})
        out.error.*metric =
            std::hypot(std::sqrt(seen_variance(seen.metrics.*metric, rank) / out.probes), change.*metric);
    out.error.log_mean = std::hypot(seen.error.log_mean, change.log_mean);
    const auto top = largest(sample.probes), bottom = smallest(sample.probes);
    out.largest_converged = top.error <= options.extremes * top.value;
    out.smallest_converged = bottom.error <= options.extremes * top.value;
    return out;
}

}  // namespace spectra::montecarlo
