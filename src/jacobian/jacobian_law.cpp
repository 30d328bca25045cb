#include "jacobian/jacobian_law.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "montecarlo/sample/probing.hpp"
#include "montecarlo/sample/rounding.hpp"

namespace spectra::jacobian {

using torch::Tensor;

namespace {

/// Rounding of products in the precision of x, in units of 2^−53.
double rounding_unit(const Tensor& x) {
    return x.scalar_type() == torch::kDouble ? 1 : std::ldexp(1.0, 53 - 24);
}

/// ln of the size below which singular values of a matrix computed in the precision of x are only rounding.
double rounding_floor(double frobenius_norm, const Tensor& x) {
    return montecarlo::log_floor(std::log(frobenius_norm), rounding_unit(x));
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

std::vector<linalg::GaussQuadrature> bidiagonalised(JacobianOperator& jacobian, const Tensor& probes,
                                                    const linalg::GolubKahanOptions& how) {
    if (jacobian.device().is_cuda())
        return linalg::golub_kahan(*device_bidiagonalisation(jacobian, probes, how.steps), how);
    const auto padded = torch::constant_pad_nd(probes, {0, jacobian.size() - jacobian.rank()});
    return linalg::golub_kahan(jacobian, {padded.data_ptr<double>(), padded.data_ptr<double>() + padded.numel()}, how);
}

montecarlo::ProbingOptions probing_options(const JacobianLawOptions& options) {
    montecarlo::ProbingOptions out;
    out.probes = options.probes;
    out.steps = options.steps;
    out.error = options.error;
    out.extremes = options.extremes;
    out.most_steps = options.most_steps;
    out.seed = options.seed;
    out.input = options.input;
    out.threads = at::get_num_threads();
    out.progress = options.progress;
    return out;
}

JacobianLaw probed_law(JacobianOperator& jacobian, const Tensor& x, const JacobianLawOptions& options) {
    montecarlo::ProbedMatrix matrix;
    matrix.rank = static_cast<int>(jacobian.rank());
    matrix.size = jacobian.size();
    matrix.columns = fitting_columns(jacobian, options.basis_memory);
    matrix.rounding = rounding_unit(x);
    matrix.bidiagonalise = [&](const std::vector<double>& probes, int count, const linalg::GolubKahanOptions& how) {
        try {
            return bidiagonalised(jacobian, torch::tensor(probes, torch::kDouble).reshape({count, matrix.rank}), how);
        } catch (const c10::OutOfMemoryError& error) {
            throw montecarlo::OutOfMemory(error.what_without_backtrace());
        }
    };
    matrix.start_over = [&] { jacobian.start_over(); };

    JacobianLaw out;
    out.inputs = jacobian.inputs();
    out.outputs = jacobian.outputs();
    out.adjoint_defect = jacobian.adjoint_defect();
    auto found = montecarlo::probe(matrix, probing_options(options));
    out.log_values = std::move(found.log_values);
    out.law = std::move(found.law);
    out.metrics = found.metrics;
    out.error = found.error;
    out.largest_converged = found.largest_converged;
    out.smallest_converged = found.smallest_converged;
    out.probes = found.probes;
    out.steps = found.steps;
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
