#include "train/jacobian.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "montecarlo/quadrature.hpp"
#include "montecarlo/rounding.hpp"
#include "random/stream.hpp"

namespace spectra::train {

using torch::Tensor;
using torch::autograd::variable_list;

namespace {

constexpr int64_t largest_block = 1024;

/// Bytes that tensors made in this thread took at most while it was listening.
class MemoryMeter final : public c10::MemoryReportingInfoBase {
public:
#if SPECTRA_TORCH_AT_LEAST(2, 0)
    using Total = size_t;
#else
    using Total = int64_t;
#endif
    void reportMemoryUsage(void* /*ptr*/, int64_t size, Total, Total, c10::Device) override {
        now_ += size;
        most_ = std::max(most_, now_);
    }
    bool memoryProfilingEnabled() const override {
        return true;
    }
    std::size_t most() const {
        return static_cast<std::size_t>(most_);
    }

private:
    int64_t now_ = 0, most_ = 0;
};

/// Attention kernels that cannot be differentiated twice are out of use while it lives.
class TwiceDifferentiable {
public:
#if SPECTRA_TORCH_AT_LEAST(2, 0)
    TwiceDifferentiable() {
        at::globalContext().setSDPUseFlash(false);
        at::globalContext().setSDPUseMemEfficient(false);
    }
    ~TwiceDifferentiable() {
        at::globalContext().setSDPUseFlash(flash_);
        at::globalContext().setSDPUseMemEfficient(efficient_);
    }
    TwiceDifferentiable(const TwiceDifferentiable&) = delete;
    TwiceDifferentiable& operator=(const TwiceDifferentiable&) = delete;

private:
    bool flash_ = at::globalContext().userEnabledFlashSDP();
    bool efficient_ = at::globalContext().userEnabledMemEfficientSDP();
#else
    TwiceDifferentiable() {}  // not defaulted: a variable of this type counts as used
#endif
};

/// x as a batch of equal rows that gradients are wanted of.
Tensor replicated(const Tensor& x, int64_t rows) {
    auto sizes = x.sizes().vec();
    sizes.insert(sizes.begin(), rows);
    return x.detach().unsqueeze(0).expand(sizes).clone().requires_grad_();
}

/// f at a batch, as rows.
Tensor rows_of(const BatchFunction& f, const Tensor& batch) {
    const auto y = f(batch);
    if (y.dim() == 0 || y.size(0) != batch.size(0))
        throw std::invalid_argument(fmt::format("a function of {} inputs gave a result of shape ({})",
                                                batch.size(0), fmt::join(y.sizes(), ", ")));
    return y.reshape({y.size(0), -1});
}

Tensor gradient(const Tensor& y, const Tensor& x, const Tensor& seed, bool again, bool twice = false) {
    if (!y.requires_grad()) return torch::zeros_like(x);
    const auto out = torch::autograd::grad({y}, {x}, {seed}, again, twice, true)[0];
    return out.defined() ? out : torch::zeros_like(x);
}

std::size_t pass_memory(const Tensor& x, const JacobianOptions& options) {
    if (options.memory > 0) return options.memory;
    return std::size_t{1} << (x.is_cuda() ? 33U : 26U);
}

/// Rows that a pass may have: what one row's forward pass keeps, and as much again for the way back.
int64_t fitting_block(const BatchFunction& f, const Tensor& x, const JacobianOptions& options) {
    if (!options.batched) return 1;
    if (options.block > 0) return options.block;
    const auto meter = std::make_shared<MemoryMeter>();
    {
        const c10::DebugInfoGuard listening(c10::DebugInfoKind::PROFILER_STATE, meter);
        rows_of(f, replicated(x, 1));
    }
    const auto fitting = pass_memory(x, options) / std::max<std::size_t>(2 * meter->most(), 1);
    return std::clamp<int64_t>(static_cast<int64_t>(fitting), 1, largest_block);
}

Tensor on_host(const Tensor& t) {
    return t.detach().to(torch::kCPU, torch::kDouble);
}

Tensor jacobian_by_blocks(const BatchFunction& f, const Tensor& x, int64_t outputs, int64_t block) {
    auto jacobian = torch::empty({outputs, x.numel()}, torch::kDouble);
    for (int64_t begin = 0; begin < outputs; begin += block) {
        const auto rows = std::min(block, outputs - begin);
        const auto batch = replicated(x, rows);
        const auto y = rows_of(f, batch);
        auto seed = torch::zeros_like(y);
        seed.narrow(1, begin, rows).diagonal().fill_(1);
        jacobian.narrow(0, begin, rows).copy_(gradient(y, batch, seed, false).reshape({rows, -1}));
    }
    return jacobian;
}

Tensor jacobian_by_rows(const BatchFunction& f, const Tensor& x) {
    const auto batch = replicated(x, 1);
    const auto y = rows_of(f, batch);
    auto jacobian = torch::empty({y.numel(), x.numel()}, torch::kDouble);
    for (int64_t i = 0; i < y.numel(); ++i) {
        auto seed = torch::zeros_like(y);
        seed[0][i] = 1;
        jacobian[i].copy_(gradient(y, batch, seed, true).flatten());
    }
    return jacobian;
}

void check_finite(const Tensor& jacobian) {
    if (!jacobian.isfinite().all().item<bool>())
        throw std::runtime_error("the Jacobian has entries that are not finite");
}

Tensor normal_vector(int64_t size, std::uint64_t seed, std::uint32_t number, std::uint32_t input = 0) {
    auto out = torch::empty({size}, torch::kDouble);
    random::Stream(seed, random::Purpose::probe, number, input)
        .fill_normal({out.data_ptr<double>(), static_cast<std::size_t>(size)});
    return out;
}

/// Rows of normal numbers.
Tensor probes_of(int64_t size, const JacobianLawOptions& options, int first, int count) {
    auto out = torch::empty({count, size}, torch::kDouble);
    for (int i = 0; i < count; ++i)
        out[i].copy_(normal_vector(size, options.seed, static_cast<std::uint32_t>(first + i), options.input));
    return out;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// ln of where singular values of a matrix computed in the precision of x are rounding.
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

/// Columns of N numbers that the bases may have, both of a probe's together.
int fitting_columns(const JacobianOperator& jacobian, std::size_t memory) {
    if (memory == 0) memory = std::size_t{2} << (jacobian.device().is_cuda() ? 33U : 30U);
    const auto bytes = static_cast<std::size_t>(jacobian.size()) * sizeof(double);
    return static_cast<int>(std::min<std::size_t>(memory / bytes, std::numeric_limits<int>::max()));
}

/// The variance of the mass that a probe, uniform on the sphere in `size` dimensions, sees of a mass F.
double seen_variance(double mass, double size) {
    return 2 * std::max(mass * (1 - mass), 0.0) / (size + 2);
}

/// What quadratures of more and more steps say of the same law.
class Resolution {
public:
    explicit Resolution(double error) : wanted_(error) {}

    /// Asked every ten steps: is the law known to what is wanted, twice in a row?
    bool settled(const std::vector<GaussQuadrature>& probes) {
        constexpr double for_log_mean = 5;
        montecarlo::ProbedSample sample;
        sample.probes = probes;
        seen_.push_back(montecarlo::summary({sample}, 1).metrics);
        if (seen_.size() < 2) return false;
        double hidden = 0;
        for (const auto& probe : probes) hidden += hidden_below(probe, collapsed_below);
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

    /// By how much the last half of the steps changed window, collapsed (with what may be hidden below all
    /// nodes) and log_mean: an estimate, from above, of what is left. NaN before there were twenty steps.
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

    std::vector<GaussQuadrature> run() {
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
        // As many steps as the first ones took; one of them went on.
        steps_ = std::min(steps_, static_cast<int>(found_.back().node.size()));
        const int wanted = std::max(first, wanted_probes());
        total_ = std::max<int64_t>(done_, done_ + int64_t{wanted - count()} * steps_);
        while (count() < wanted) add(wanted - count(), false);
        const auto exhausted = [](const GaussQuadrature& probe) {
            return *std::max_element(probe.residual.begin(), probe.residual.end()) <=
                   1e-12 * probe.node.back();
        };
        if (std::all_of(found_.begin(), found_.end(), exhausted)) resolution_.exhausted();
        return std::move(found_);
    }

    const Resolution& resolution() const { return resolution_; }

private:
    int count() const { return static_cast<int>(found_.size()); }

    GolubKahanOptions plain() {
        GolubKahanOptions out;
        out.steps = steps_;
        out.threads = at::get_num_threads();
        out.progress = [this](int probes) {
            done_ += probes;
            total_ = std::max(total_, done_);
            if (options_.progress) options_.progress(done_, total_);
        };
        return out;
    }

    /// The first ones decide on the steps, and one of them goes on for the two ends of the spectrum.
    GolubKahanOptions deciding(int probes) {
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

    /// At most that many, as memory allows.
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

    std::vector<GaussQuadrature> bidiagonalised(const Tensor& probes, const GolubKahanOptions& how) {
        if (jacobian_.device().is_cuda())
            return golub_kahan(*device_bidiagonalisation(jacobian_, probes, how.steps), how);
        const auto padded = torch::constant_pad_nd(probes, {0, jacobian_.size() - jacobian_.rank()});
        return golub_kahan(jacobian_, {padded.data_ptr<double>(), padded.data_ptr<double>() + padded.numel()},
                           how);
    }

    /// As many as have the wanted error of a mass.
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
    std::vector<GaussQuadrature> found_;
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

/// c's vectors are the rows of number c.
class DeviceBidiagonalisation final : public Bidiagonalisation {
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
    /// Norms twice over, so that a step waits for the device once.
    std::vector<double> orthogonalise(const Tensor& basis, int k) {
        if (k == 0) return numbers(norms());
        subtract(basis.narrow(1, k - 1, 1));
        const auto first = norms();
        subtract(basis.narrow(1, 0, k));
        const auto both = numbers(torch::stack({first, norms()}));
        const auto middle = both.begin() + chains();
        std::vector<double> after(middle, both.end());
        if (!orthogonalise_again({both.begin(), middle}, after)) return after;
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
        // An ended chain's image may be anything.
        basis.select(1, k).copy_(torch::where(scale > 0, image_ * scale, torch::zeros_like(image_)));
    }

    JacobianOperator& jacobian_;
    bool wide_;
    Tensor left_, right_, image_;
};

}  // namespace

Tensor exact_jacobian(const BatchFunction& f, const Tensor& x, const JacobianOptions& options) {
    const torch::AutoGradMode on(true);
    Tensor jacobian;
    if (options.batched) {
        const auto outputs = rows_of(f, replicated(x, 1)).size(1);
        jacobian = jacobian_by_blocks(f, x, outputs, fitting_block(f, x, options));
    } else {
        jacobian = jacobian_by_rows(f, x);
    }
    check_finite(jacobian);
    return jacobian;
}

bool takes_batches(const BatchFunction& f, const Tensor& x) {
    const torch::NoGradGuard no_grad;
    try {
        // Another input beside it: a function of the whole batch would give it another value.
        const auto alone = rows_of(f, x.detach().unsqueeze(0));
        const auto both = rows_of(f, torch::stack({x.detach(), 0.5 * x.detach()}));
        if (both.size(1) != alone.size(1)) return false;
        const double tolerance = x.scalar_type() == torch::kDouble ? 1e-12 : 1e-4;
        const double scale = alone.abs().max().item<double>();
        return (both[0] - alone[0]).abs().max().item<double>() <= tolerance * scale;
    } catch (const std::exception&) {
        return false;
    }
}

std::vector<double> singular_values(const Tensor& matrix) {
    const auto s = torch::linalg_svdvals(on_host(matrix)).contiguous();
    return {s.data_ptr<double>(), s.data_ptr<double>() + s.numel()};
}

JacobianOperator::JacobianOperator(BatchFunction f, Tensor x, const JacobianOptions& options, Forward forward)
    : f_(std::move(f)), x_(x.detach()), inputs_(x.numel()), forward_(forward) {
    const torch::AutoGradMode on(true);
    const TwiceDifferentiable attention;
    outputs_ = rows_of(f_, replicated(x_, 1)).size(1);
    // The graph of the double pass is held too.
    first_block_ = block_ = std::max<int64_t>(fitting_block(f_, x_, options) / 2, 1);
    settle_forward();
}

void JacobianOperator::settle_forward() {
    const bool wide = x_.scalar_type() == torch::kDouble;
    if (forward_ == Forward::automatic) {
        try {
            pushed(torch::zeros({1, inputs_}, x_.options()));
            forward_ = Forward::double_backward;
        } catch (const std::exception& error) {
            if (!wide)
                throw std::invalid_argument(
                    "products with the Jacobian: an operation's gradient cannot be differentiated, and "
                    "differences in single precision would be wrong by 1e-3; use double precision");
            forward_ = Forward::differences;
        }
        graph_ = {};
    }
    if (forward_ == Forward::differences && !wide)
        throw std::invalid_argument("products with the Jacobian by differences need double precision");
}

JacobianOperator::Graph& JacobianOperator::graph(int64_t rows) {
    if (!graph_.x.defined() || graph_.x.size(0) != rows) {
        graph_ = {};
        graph_.x = replicated(x_, rows);
        graph_.y = rows_of(f_, graph_.x);
    }
    return graph_;
}

Tensor JacobianOperator::back(const Tensor& u) {
    auto& g = graph(u.size(0));
    return gradient(g.y, g.x, u, true).reshape({u.size(0), inputs_});
}

Tensor JacobianOperator::along(const Tensor& v) {
    return forward_ == Forward::differences ? differences(v) : pushed(v);
}

Tensor JacobianOperator::pushed(const Tensor& v) {
    auto& g = graph(v.size(0));
    if (!g.pullback.defined()) {
        g.seed = torch::zeros_like(g.y).requires_grad_();
        g.pullback = gradient(g.y, g.x, g.seed, true, true).reshape({v.size(0), inputs_});
    }
    return gradient(g.pullback, g.seed, v, true);
}

Tensor JacobianOperator::differences(const Tensor& v) const {
    const torch::NoGradGuard no_grad;
    const auto rows = v.size(0);
    const auto x = x_.reshape({1, -1});
    const double size = x.norm().item<double>();
    const auto length = v.norm(2, 1, true);
    const auto h =
        (size > 0 ? size : 1.0) * 1e-3 / torch::where(length > 0, length, torch::ones_like(length));
    auto shape = x_.sizes().vec();
    shape.insert(shape.begin(), rows);
    const auto at = [&](double steps) { return rows_of(f_, (x + steps * h * v).reshape(shape)); };
    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h);
}

Tensor JacobianOperator::block_of(RowProduct product, const Tensor& rows, int64_t filled) {
    auto block = torch::zeros({filled, rows.size(1)}, x_.options());
    block.narrow(0, 0, rows.size(0)).copy_(rows);
    return (this->*product)(block).detach().narrow(0, 0, rows.size(0)).to(rows.scalar_type());
}

Tensor JacobianOperator::by_blocks(RowProduct product, const Tensor& rows) {
    const auto begin = std::chrono::steady_clock::now();
    const torch::AutoGradMode on(true);
    const TwiceDifferentiable attention;
    std::vector<Tensor> images;
    const auto count = rows.size(0);
    for (int64_t done = 0; done < count;) {
        // Passes of equally many rows, the last one filled up: they share a graph.
        const auto passes = (count + block_ - 1) / block_, filled = (count + passes - 1) / passes;
        try {
            images.push_back(block_of(product, rows.narrow(0, done, std::min(filled, count - done)), filled));
            done += filled;
        } catch (const c10::OutOfMemoryError&) {
            if (block_ == 1) throw;
            graph_ = {};
            block_ /= 2;
        }
    }
    work_.products += count;
    auto out = images.size() == 1 ? images.front() : torch::cat(images);
    work_.seconds += seconds_since(begin);
    return out;
}

Tensor JacobianOperator::push(const Tensor& v) {
    return by_blocks(&JacobianOperator::along, v);
}

Tensor JacobianOperator::pull(const Tensor& u) {
    return by_blocks(&JacobianOperator::back, u);
}

void JacobianOperator::multiply(bool forwards, const double* in, double* out, int columns) {
    const auto size = static_cast<int64_t>(this->size());
    const auto given = torch::from_blob(const_cast<double*>(in), {columns, size}, torch::kDouble);
    auto result = torch::from_blob(out, {columns, size}, torch::kDouble);
    const auto image = forwards ? push(given.narrow(1, 0, inputs_)) : pull(given.narrow(1, 0, outputs_));
    result.zero_();
    result.narrow(1, 0, image.size(1)).copy_(image);
}

void JacobianOperator::apply(const double* in, double* out, int columns) {
    multiply(outputs_ >= inputs_, in, out, columns);
}

void JacobianOperator::apply_transpose(const double* in, double* out, int columns) {
    multiply(outputs_ < inputs_, in, out, columns);
}

void JacobianOperator::start_over() {
    graph_ = {};
    block_ = first_block_;
}

double JacobianOperator::adjoint_defect() {
    const torch::AutoGradMode on(true);
    const TwiceDifferentiable attention;
    const auto v = normal_vector(inputs_, 0, 0).reshape({1, -1});
    const auto u = normal_vector(outputs_, 0, 1).reshape({1, -1});
    const auto image = on_host(along(v.to(x_.options()))), pulled = on_host(back(u.to(x_.options())));
    const double defect = std::abs((u * image).sum().item<double>() - (pulled * v).sum().item<double>());
    const double scale = u.norm().item<double>() * image.norm().item<double>();
    return scale > 0 ? defect / scale : defect;
}

JacobianLaw jacobian_law(const BatchFunction& f, const Tensor& x, const JacobianLawOptions& options) {
    int64_t outputs = 0;
    {
        const torch::NoGradGuard no_grad;
        outputs = rows_of(f, x.detach().unsqueeze(0)).size(1);
    }
    if (std::max(outputs, x.numel()) <= options.most_exact) return exact_law(f, x, options);
    const auto begin = std::chrono::steady_clock::now();
    JacobianOperator jacobian(f, x, options);
    auto out = probed_law(jacobian, x, options);
    out.seconds = seconds_since(begin);
    return out;
}

std::unique_ptr<Bidiagonalisation> device_bidiagonalisation(JacobianOperator& jacobian, const Tensor& probes,
                                                            int steps) {
    const auto most = std::min<int64_t>(steps, jacobian.rank());
    return std::make_unique<DeviceBidiagonalisation>(jacobian, probes, static_cast<int>(most));
}

}  // namespace spectra::train
