#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "spectrum/golub_kahan.hpp"
#include "spectrum/spectrum.hpp"
#include "train/torch.hpp"

namespace spectra::train {

/// y = f(x), row by row of a batch: (B, …) → (B, …). x decides the precision and the device.
using BatchFunction = std::function<torch::Tensor(const torch::Tensor&)>;

struct JacobianOptions {
    /// Off: f is only ever given one input, (1, …), and is differentiated one output at a time.
    bool batched = true;
    int64_t block = 0;  ///< outputs a backward pass; 0: as many as memory allows
    /// Bytes that one pass may take; 0: 64 MiB on a processor, where larger passes leave its caches and spend
    /// their time on page faults, and 8 GiB on a GPU (halved for as long as a GPU does not have them).
    std::size_t memory = 0;
};

/// J_ij = ∂y_i/∂x_j at x (no batch dimension): (k, m) in double on the host, from backward passes that each
/// give a block of rows: x is replicated, and every copy has another output's seed. std::runtime_error where
/// an entry is not finite.
torch::Tensor exact_jacobian(const BatchFunction& f, const torch::Tensor& x,
                             const JacobianOptions& options = {});

/// Does f give every row of a batch what it gives that row alone?
bool takes_batches(const BatchFunction& f, const torch::Tensor& x);

/// Largest first; in double, on the host.
std::vector<double> singular_values(const torch::Tensor& matrix);

/// J of f at x by its products. LinearOperator is square; of a k×m Jacobian this is J, or Jᵀ where k < m,
/// padded with zeros to N = max(k, m). A probe that lives on the first min(k, m) coordinates stays there, and
/// sees the law of the min(k, m) singular values of J, not the zeros.
///
/// Jᵀu is a backward pass. Jv is the derivative, with respect to u, of Jᵀu · v. That needs every operation's
/// gradient to be differentiable in what comes from above. Where one is not, and x is double, Jv is the
/// central difference
///
///     Jv ≈ (8 [f(x + hv) − f(x − hv)] − [f(x + 2hv) − f(x − 2hv)]) / 12h,   h‖v‖ = 1e-3 ‖x‖,
///
/// with errors of about 1e-12 for functions that change over the length of x; in single precision it is
/// refused (std::invalid_argument). adjoint_defect() tells what came of it.
class JacobianOperator final : public LinearOperator {
public:
    enum class Forward { automatic, double_backward, differences };

    JacobianOperator(BatchFunction f, torch::Tensor x, const JacobianOptions& options = {},
                     Forward forward = Forward::automatic);

    int64_t inputs() const { return inputs_; }
    int64_t outputs() const { return outputs_; }
    int64_t rank() const { return std::min(inputs_, outputs_); }  ///< at most
    bool by_differences() const { return forward_ == Forward::differences; }

    int size() const override { return static_cast<int>(std::max(inputs_, outputs_)); }
    void apply(const double* in, double* out, int columns) override;
    void apply_transpose(const double* in, double* out, int columns) override;

    /// Rows Jv of rows v, (r, m) → (r, k), and rows Jᵀu of rows u, (r, k) → (r, m), on the device of x: in
    /// its precision inside, the given one outside.
    torch::Tensor push(const torch::Tensor& v);
    torch::Tensor pull(const torch::Tensor& u);
    /// Where x is.
    torch::Device device() const { return x_.device(); }

    /// Rows multiplied so far, and how long it took (on a GPU, to ask for it).
    struct Work {
        int64_t products = 0;
        double seconds = 0;
    };
    const Work& work() const { return work_; }

    /// Frees what is kept between products, and tries passes of as many rows as at first.
    void start_over();

    /// |⟨u, Jv⟩ − ⟨Jᵀu, v⟩| / (‖u‖‖Jv‖) for random u and v: rounding, or the error of the differences.
    double adjoint_defect();

private:
    /// f at copies of x with what autograd keeps of it, for any number of products.
    struct Graph {
        torch::Tensor x, y, seed, pullback;  ///< pullback = Jᵀ seed; made when first needed
    };
    using RowProduct = torch::Tensor (JacobianOperator::*)(const torch::Tensor&);

    void settle_forward();
    Graph& graph(int64_t rows);
    torch::Tensor along(const torch::Tensor& v);              ///< rows Jv
    torch::Tensor pushed(const torch::Tensor& v);             ///< the same by double backward
    torch::Tensor differences(const torch::Tensor& v) const;  ///< and by differences
    torch::Tensor back(const torch::Tensor& u);               ///< rows Jᵀu
    torch::Tensor by_blocks(RowProduct product, const torch::Tensor& rows);
    torch::Tensor block_of(RowProduct product, const torch::Tensor& rows, int64_t filled);
    void multiply(bool forwards, const double* in, double* out, int columns);

    BatchFunction f_;
    torch::Tensor x_;
    int64_t inputs_ = 0, outputs_ = 0, first_block_ = 1, block_ = 1;
    Forward forward_;
    Graph graph_;
    Work work_;
};

/// Bidiagonalisations (golub_kahan.hpp) whose vectors stay on the device of x, in double: a step sends the
/// norms of its vectors to the host and nothing else. From the rows of `probes`, rank() numbers each; room is
/// made for `steps` at first. Memory: (k + m)·steps doubles a probe.
std::unique_ptr<Bidiagonalisation> device_bidiagonalisation(JacobianOperator& jacobian,
                                                            const torch::Tensor& probes, int steps);

struct JacobianLawOptions : JacobianOptions {
    int64_t most_exact = 4096;  ///< J is formed where neither side is longer
    int probes = 40, steps = 100;
    /// Wanted of the mass in the window and of what is collapsed. As many probes as give it by chance, four
    /// at least and `probes` at most: probes are uniform on a sphere, so that of a mass F one of them sees a
    /// Beta variable of variance 2F(1 − F)/(min(k, m) + 2). And as many steps as resolve it: those whose last
    /// half changed it by no more, what may be hidden below all nodes included, and the mean of ln s by no
    /// more than five times that; no more than about 4000 over all probes, or `steps` each where that is
    /// more. 0: all probes and steps.
    double error = 3e-3;
    /// Wanted of the largest and smallest singular value, relative to the largest.
    double extremes = 1e-6;
    int most_steps = 1000;  ///< taken for them, and none once that many would not do
    /// Bytes of the probes' bases, fewer probes at a time where they are more; 0: 2 GiB on a processor, 16
    /// GiB on a GPU (halved for as long as it does not have them).
    std::size_t basis_memory = 0;
    std::uint64_t seed = 1;   ///< of the probes
    std::uint32_t input = 0;  ///< its number: every one has probes of its own
    /// Called after every step with how many steps of probes are done, and how many there will be as far as
    /// is known by then. What it throws ends the run.
    std::function<void(int64_t, int64_t)> progress;
};

/// The law of the min(k, m) singular values of a Jacobian.
struct JacobianLaw {
    int64_t inputs = 0, outputs = 0;
    bool exact = false;              ///< J was formed; else by its products
    std::vector<double> log_values;  ///< ln s, ascending; quantiles of the probes' law where not exact
    Spectrum law;
    Metrics metrics;
    /// 0 where exact. Else of window, collapsed and log_mean: chance and resolution together, as error above
    /// says; of mean square and effective rank: standard errors over the probes; of smallest and largest:
    /// residual bounds. NaN of a log_mean that is an upper bound only.
    Metrics error;
    /// Whether those bounds met what was wanted. A smallest value that did not is an upper bound only.
    bool largest_converged = true, smallest_converged = true;
    double adjoint_defect = 0;
    int probes = 0, steps = 0;  ///< taken
    JacobianOperator::Work work;
    double seconds = 0;
};

/// Forms J or, above most_exact, runs stochastic Golub-Kahan quadrature on its products.
JacobianLaw jacobian_law(const BatchFunction& f, const torch::Tensor& x,
                         const JacobianLawOptions& options = {});

}  // namespace spectra::train
