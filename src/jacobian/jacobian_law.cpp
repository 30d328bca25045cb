#include "jacobian/jacobian_law.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "montecarlo/sample/quadrature.hpp"
#include "montecarlo/sample/rounding.hpp"

namespace spectra::jacobian {

using torch::Tensor;

namespace {

/// Rows of normal numbers.
Tensor probes_of(int64_t size, const JacobianLawOptions& options, int first, int count) {
    auto out = torch::empty({count, size}, torch::kDouble);
    for (int i = 0; i < count; ++i)
        out[i].copy_(normal_vector(size, options.seed, static_cast<std::uint32_t>(first + i), options.input));
    return out;
}

/// ln of the size below which singular values of a matrix computed in the precision of x are only rounding.
double rounding_floor(double frobenius_norm, const Tensor& x) {
    const double unit = x.scalar_type() == torch::kDouble ? 1 : std::ldexp(1.0, 53 - 24);
    return montecarlo::log_floor(std::log(frobenius_norm), unit);
}

JacobianLaw exact_law(const BatchFunction& f, const Tensor& x, const JacobianOptions& options) {
    const auto jacobian = exact_jacobian(f, x, options);
    JacobianLaw out;
    out.exact = true;
    out.outputs = jacobian.size(0);
    out.inputs = jacobian.size(1);
    auto values = singular_values(jacobian);
    std::reverse(values.begin(), values.end());
    for (const double s : values) out.log_values.push_back(std::log(s));
    out.law = Spectrum::from_log_values(out.log_values, rounding_floor(jacobian.norm().item<double>(), x));
    out.metrics = out.law.metrics();
    out.error = {0, 0, 0, 0, 0, 0, 0};
    return out;
}

/// Columns of N numbers that the bases may have, both bases of a probe together.
int fitting_columns(const JacobianOperator& jacobian, std::size_t memory) {
    if (memory == 0) memory = std::size_t{2} << (jacobian.device().is_cuda() ? 33U : 30U);
    const auto bytes = static_cast<std::size_t>(jacobian.size()) * sizeof(double);
    return static_cast<int>(std::min<std::size_t>(memory / bytes, std::numeric_limits<int>::max()));
}

/// The variance of the estimate of a mass F by a probe that is uniform on the sphere in `size` dimensions.
double seen_variance(double mass, double size) {
    return 2 * std::max(mass * (1 - mass), 0.0) / (size + 2);
}

/// Compares quadratures of increasing numbers of steps of the same law.
class Resolution {
public:
    explicit Resolution(double error) : wanted_(error) {}

    /// Called every ten steps: is the law known to the requested accuracy, twice in a row?
    bool settled(const std::vector<linalg::GaussQuadrature>& probes) {
        constexpr double for_log_mean = 5;
        montecarlo::ProbedSample sample;
        sample.probes = probes;
        seen_.push_back(montecarlo::summary({sample}, 1).metrics);
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

/// Batches of probes of one Jacobian.
class Probing {
public:
    Probing(JacobianOperator& jacobian, const JacobianLawOptions& options)
        : jacobian_(jacobian),
          options_(options),
          columns_(fitting_columns(jacobian, options.basis_memory)),
          resolution_(options.error) {}

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
        total_ = std::max<int64_t>(done_, done_ + int64_t{wanted - count()} * steps_);
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
        out.threads = at::get_num_threads();
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
        total_ = int64_t{probes} * steps_;
        out.extremes = options_.extremes;
        const auto rank = static_cast<int>(jacobian_.rank());
        const int most = std::min(options_.most_steps, columns_ / 2);
        out.most_steps = most < rank ? most : jacobian_.size();
        resolution_ = Resolution(options_.error);
        out.enough = [this](const auto& found) { return resolution_.settled(found); };
        return out;
    }

    /// At most `most`, as memory allows.
    void add(int most, bool first) {
        for (const auto done = done_;; done_ = done) {
            const auto how = first ? deciding(most) : plain();
            const int each = 2 * how.steps + 5;
            const int number = std::min({most, std::max(columns_ / each, 1), options_.probes - count()});
            try {
                const auto probes = probes_of(jacobian_.rank(), options_, count(), number);
                for (auto& probe : bidiagonalised(probes, how)) found_.push_back(std::move(probe));
                return;
            } catch (const c10::OutOfMemoryError&) {
                columns_ = std::min(columns_, number * each) / 2;
                if (columns_ < 2 * options_.steps + 5) throw;
                if (first) steps_ = std::clamp(columns_ / (2 * most) - 5, options_.steps, steps_);
                jacobian_.start_over();
            }
        }
    }

    std::vector<linalg::GaussQuadrature> bidiagonalised(const Tensor& probes, const linalg::GolubKahanOptions& how) {
        if (jacobian_.device().is_cuda())
            return linalg::golub_kahan(*device_bidiagonalisation(jacobian_, probes, how.steps), how);
        const auto padded = torch::constant_pad_nd(probes, {0, jacobian_.size() - jacobian_.rank()});
        return linalg::golub_kahan(jacobian_, {padded.data_ptr<double>(), padded.data_ptr<double>() + padded.numel()},
                           how);
    }

    /// The number of probes that gives the requested error of a mass.
    int probes_for(double mass) const {
        const double one = seen_variance(mass, static_cast<double>(jacobian_.rank()));
        const double wanted = std::ceil(one / (options_.error * options_.error));
        return std::max(1, static_cast<int>(std::min<double>(wanted, options_.probes)));
    }

    int wanted_probes() const {
        if (!(options_.error > 0)) return options_.probes;
        montecarlo::ProbedSample sample;
        sample.probes = found_;
        const auto seen = montecarlo::summary({sample}, 1).metrics;
        return std::max({count(), probes_for(seen.window), probes_for(seen.collapsed)});
    }

    JacobianOperator& jacobian_;
    const JacobianLawOptions& options_;
    int columns_, steps_ = 0;
    int64_t done_ = 0, total_ = 0;
    Resolution resolution_;
    std::vector<linalg::GaussQuadrature> found_;
};

JacobianLaw probed_law(JacobianOperator& jacobian, const Tensor& x, const JacobianLawOptions& options) {
    JacobianLaw out;
    out.inputs = jacobian.inputs();
    out.outputs = jacobian.outputs();
    out.adjoint_defect = jacobian.adjoint_defect();
    Probing probing(jacobian, options);
    montecarlo::ProbedSample sample;
    sample.probes = probing.run();
    out.probes = static_cast<int>(sample.probes.size());
    out.steps = static_cast<int>(sample.probes.back().node.size());
    double resolved = 0, mean_square = 0;
    for (const auto& probe : sample.probes) {
        resolved = std::max(resolved, probe.resolved_from());
        mean_square += probe.mean_square / static_cast<double>(sample.probes.size());
    }
    const auto rank = static_cast<double>(jacobian.rank());
    sample.log_floor = std::max(std::log(resolved), rounding_floor(std::sqrt(mean_square * rank), x));

    const auto seen = montecarlo::summary({sample}, static_cast<int>(jacobian.rank()));
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
    out.work = jacobian.work();
    return out;
}

/// Row c of every tensor belongs to chain c.
class DeviceBidiagonalisation final : public linalg::Bidiagonalisation {
public:
    DeviceBidiagonalisation(JacobianOperator& jacobian, const Tensor& probes, int steps)
        : jacobian_(jacobian), wide_(jacobian.outputs() < jacobian.inputs()) {
        const auto count = probes.size(0), rank = probes.size(1);
        const auto longer = static_cast<int64_t>(jacobian.size());
        const auto options = torch::dtype(torch::kDouble).device(jacobian.device());
        left_ = torch::empty({count, steps, longer}, options);
        right_ = torch::empty({count, steps + 1, rank}, options);
        const auto norm = probes.norm(2, 1, true);
        if (!(norm > 0).logical_and(norm.isfinite()).all().item<bool>())
            throw std::invalid_argument("golub_kahan: a probe must be finite and not zero");
        right_.select(1, 0).copy_(probes / norm);
    }

    int chains() const override { return static_cast<int>(left_.size(0)); }
    int dimension() const override { return static_cast<int>(right_.size(2)); }

    std::vector<double> left(int k) override {
        const auto v = right_.select(1, k);
        image_ = wide_ ? jacobian_.pull(v) : jacobian_.push(v);
        return orthogonalise(left_, k);
    }
    void set_left(int k, const std::vector<double>& factor) override { put(left_, k, factor); }
    std::vector<double> right(int k) override {
        const auto u = left_.select(1, k);
        image_ = wide_ ? jacobian_.push(u) : jacobian_.pull(u);
        return orthogonalise(right_, k + 1);
    }
    void set_right(int k, const std::vector<double>& factor) override { put(right_, k + 1, factor); }

    void keep_first() override {
        left_ = left_.narrow(0, 0, 1).clone();
        right_ = right_.narrow(0, 0, 1).clone();
    }

private:
    /// Fetches the norms before and after a pass together, so that a step waits only once for the device.
    std::vector<double> orthogonalise(const Tensor& basis, int k) {
        if (k == 0) return numbers(norms());
        subtract(basis.narrow(1, k - 1, 1));
        const auto first = norms();
        subtract(basis.narrow(1, 0, k));
        const auto both = numbers(torch::stack({first, norms()}));
        const auto middle = both.begin() + chains();
        std::vector<double> after(middle, both.end());
        if (!linalg::orthogonalise_again({both.begin(), middle}, after)) return after;
        subtract(basis.narrow(1, 0, k));
        return numbers(norms());
    }

    void subtract(const Tensor& basis) {
        const auto along = torch::bmm(basis, image_.unsqueeze(2));
        image_ = torch::baddbmm(image_.unsqueeze(1), along.transpose(1, 2), basis, 1, -1).squeeze(1);
    }

    Tensor norms() const { return image_.norm(2, 1); }

    static std::vector<double> numbers(const Tensor& t) {
        const auto host = t.to(torch::kCPU).contiguous();
        return {host.data_ptr<double>(), host.data_ptr<double>() + host.numel()};
    }

    void put(Tensor& basis, int k, const std::vector<double>& factor) {
        if (basis.size(1) <= k) {
            constexpr int64_t growth = 64;
            basis = torch::cat({basis, basis.new_empty({basis.size(0), growth, basis.size(2)})}, 1);
        }
        const auto scale = torch::tensor(factor, torch::kDouble).unsqueeze(1).to(basis.device());
        // The image of a finished chain may be anything.
        basis.select(1, k).copy_(torch::where(scale > 0, image_ * scale, torch::zeros_like(image_)));
    }

    JacobianOperator& jacobian_;
    bool wide_;
    Tensor left_, right_, image_;
};

}  // namespace

JacobianLaw jacobian_law(const BatchFunction& f, const Tensor& x, const JacobianLawOptions& options) {
    int64_t outputs = 0;
    {
        const torch::NoGradGuard no_grad;
        outputs = f(x.detach().unsqueeze(0)).numel();
    }
    if (std::max(outputs, x.numel()) <= options.most_exact) return exact_law(f, x, options);
    const auto begin = std::chrono::steady_clock::now();
    JacobianOperator jacobian(f, x, options);
    auto out = probed_law(jacobian, x, options);
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return out;
}

std::unique_ptr<linalg::Bidiagonalisation> device_bidiagonalisation(JacobianOperator& jacobian, const Tensor& probes,
                                                            int steps) {
    const auto most = std::min<int64_t>(steps, jacobian.rank());
    return std::make_unique<DeviceBidiagonalisation>(jacobian, probes, static_cast<int>(most));
}

}  // namespace spectra::jacobian
