#pragma once

/// \file
/// The Jacobian of a Torch function: formed exactly, or known by its products.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "linalg/golub_kahan.hpp"
#include "jacobian/torch.hpp"

namespace spectra::jacobian {

/// y = f(x), row by row of a batch: (B, …) → (B, …). x determines the precision and the device.
using BatchFunction = std::function<torch::Tensor(const torch::Tensor&)>;

/// How a function is differentiated.
struct JacobianOptions {
    /// If false, f always gets one input, (1, …), and is differentiated one output at a time.
    bool batched = true;
    int64_t block = 0;  ///< outputs per backward pass; 0: as many as memory allows
    /// Bytes that one pass may take; 0: 64 MiB on a processor, where larger passes leave its caches and spend
    /// their time on page faults, and 8 GiB on a GPU (halved for as long as a GPU does not have them).
    std::size_t memory = 0;
};

/// J_ij = ∂y_i/∂x_j at x (no batch dimension): (k, m) in double on the host. Each backward pass gives a block
/// of rows: x is replicated, and every copy has the seed of another output. Throws std::runtime_error if an
/// entry is not finite.
torch::Tensor exact_jacobian(const BatchFunction& f, const torch::Tensor& x,
                             const JacobianOptions& options = {});

/// Whether f gives every row of a batch what it gives that row alone.
bool takes_batches(const BatchFunction& f, const torch::Tensor& x);

/// Singular values of a matrix, largest first; in double, on the host.
std::vector<double> singular_values(const torch::Tensor& matrix);

/// N(0, 1) numbers in double on the host, the same in every run, for probe `number` of an input.
torch::Tensor normal_vector(int64_t size, std::uint64_t seed, std::uint32_t number, std::uint32_t input = 0);

/// J of f at x by its products. linalg::LinearOperator is square; of a k×m Jacobian this is J, or Jᵀ where
/// k < m, padded with zeros to N = max(k, m). A probe that lives on the first min(k, m) coordinates stays
/// there, and sees the law of the min(k, m) singular values of J, not the zeros.
///
/// Jᵀu is a backward pass. Jv is the derivative, with respect to u, of Jᵀu · v. This requires that the
/// gradient of every operation is differentiable in the incoming gradient. If one is not, and x is double, Jv
/// is the central difference
///
///     Jv ≈ (8 [f(x + hv) − f(x − hv)] − [f(x + 2hv) − f(x − 2hv)]) / 12h,   h‖v‖ = 1e-3 ‖x‖,
///
/// with errors of about 1e-12 for functions that vary on the scale of x; in single precision it is
/// refused (std::invalid_argument). adjoint_defect() measures the error.
class JacobianOperator final : public linalg::LinearOperator {
public:
    /// How Jv is found.
    enum class Forward { automatic, double_backward, differences };

    /// The Jacobian of f at x (no batch dimension).
    JacobianOperator(BatchFunction f, torch::Tensor x, const JacobianOptions& options = {},
                     Forward forward = Forward::automatic);

    int64_t inputs() const { return inputs_; }                    ///< m
    int64_t outputs() const { return outputs_; }                  ///< k
    int64_t rank() const { return std::min(inputs_, outputs_); }  ///< at most
    /// Whether Jv is a central difference.
    bool by_differences() const { return forward_ == Forward::differences; }

    /// N = max(k, m).
    int size() const override { return static_cast<int>(std::max(inputs_, outputs_)); }
    void apply(const double* in, double* out, int columns) override;
    void apply_transpose(const double* in, double* out, int columns) override;

    /// Rows Jv of rows v, (r, m) → (r, k), on the device of x: inside in its precision, outside
    /// in that of v.
    torch::Tensor push(const torch::Tensor& v);
    /// Rows Jᵀu of rows u, (r, k) → (r, m), in the same way.
    torch::Tensor pull(const torch::Tensor& u);
    /// The device of x.
    torch::Device device() const { return x_.device(); }

    /// Rows multiplied so far, and the time taken (on a GPU: to launch the work).
    struct Work {
        int64_t products = 0;  ///< rows
        double seconds = 0;    ///< spent on them
    };
    /// The work so far.
    const Work& work() const { return work_; }

    /// Frees the memory kept between products, and returns to the initial number of rows per pass.
    void start_over();

    /// |⟨u, Jv⟩ − ⟨Jᵀu, v⟩| / (‖u‖‖Jv‖) for random u and v: rounding, or the error of the differences.
    double adjoint_defect();

private:
    /// f at copies of x with its autograd graph, for any number of products.
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

}  // namespace spectra::jacobian
