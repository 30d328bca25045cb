#pragma once

/// \file
/// Differentiable mixers: from raw numbers to matrices, family by family.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "train/modules/mixer_options.hpp"
#include "jacobian/torch.hpp"

namespace spectra::train {

/// A differentiable mixer family: H = matrix(raw) for n streams. The raw numbers are either parameters
/// (a static mixer) or computed from the input (a dynamic one).
///
/// Raw numbers in order, the matrix, and [initial values]:
///  * identity: none; I
///  * bistochastic: logits Z (n²); Sinkhorn of Z/temperature [0 on the diagonal, −8 off it]
///  * orthogonal: M above its diagonal (n(n−1)/2); (I + M)⁻¹(I − M) [0]
///  * cayley: R (n²); the Cayley transform of (α/2)(R − Rᵀ), by iteration [0]
///  * cayley-hybrid: u, v (n each), β, k (n), γ; γQ + (1 − γ)(I − 2kkᵀ/‖k‖²) [as rotation, 1/√n, gate_bias]
///  * spectral-sphere: skews of U and V ((n−1)(n−2)/2 each), Σ (n−1); J + U_Z U Σ Vᵀ U_Zᵀ [0, 0, 4]
///  * grassmann: a frame (n×rank); the projector onto its columns [the first unit vectors]
///  * permutation: logits (K); Σ_k softmax_k P_k [0 at the identity, −8 elsewhere; 0 without the identity]
///  * householder: k (n), β; I − β kkᵀ/‖k‖² [1/√n, −4: β = .036]
///  * rotation: u, v (n each), β; Q = (I + M)⁻¹(I − M), M = (β/2)(uvᵀ − vuᵀ) [1/√n, 0, 0]
///  * hyper: H (n²); H, without constraint [I]
///
/// Matrices are stored by rows, skews by the rows of their upper triangle. β = softplus(raw) for rotation and
/// cayley-hybrid, 2·sigmoid(raw) for householder; γ = sigmoid(raw); Σ = sphere_bound · tanh(raw); U and V are
/// (I − S)⁻¹(I + S) of their skews. Initial values give the identity or nearly so if the family allows it: a
/// hybrid starts between I and a reflection, depending on its gate. u and k start at the constant vector, not
/// at 0 as in some code: at 0 every derivative except that of γ vanishes and a static mixer never moves.
class Mixer {
public:
    Mixer(const Mixer&) = delete;
    Mixer& operator=(const Mixer&) = delete;
    virtual ~Mixer() = default;

    /// The family's name.
    const std::string& name() const { return name_; }
    /// n.
    int64_t streams() const { return streams_; }

    /// Raw numbers per matrix.
    virtual int64_t size() const = 0;

    /// Initial values: (size), float32.
    virtual torch::Tensor start() const = 0;

    /// (…, size) → (…, n, n). Computed in at least float32, with autocast off: raw numbers with fewer bits
    /// are widened first. double stays double.
    torch::Tensor matrix(const torch::Tensor& raw) const;

    /// (…, size) → (…): the gate's regulariser for cayley-hybrid; an undefined tensor for the others.
    virtual torch::Tensor regulariser(const torch::Tensor& raw) const;

    /// Quantities for the log, (…, size) → (…) each: "gate", "beta". Without gradient; empty for most
    /// families.
    virtual std::vector<std::pair<std::string, torch::Tensor>> statistics(const torch::Tensor& raw) const;

    /// The largest absolute violation, over matrices (…, n, n), of the properties of the family: row and
    /// column sums 1 and no negative entry (bistochastic, permutation), HᵀH = I (orthogonal, rotation, and
    /// cayley, where the iteration gives it only approximately), ‖H‖ ≤ 1 (householder, cayley-hybrid), sums
    /// and norm (spectral-sphere), H² = H = Hᵀ (grassmann), H = I (identity). 0 for hyper; NaN if an entry is
    /// NaN.
    virtual double defect(const torch::Tensor& matrices) const = 0;

protected:
    /// For families.
    Mixer(std::string name, int64_t streams) : name_(std::move(name)), streams_(streams) {}

    /// matrix() of raw numbers that are checked and widened.
    virtual torch::Tensor widened_matrix(const torch::Tensor& raw) const = 0;

private:
    std::string name_;
    int64_t streams_;
};

/// The names of the families, in the order shown to users.
const std::vector<std::string>& mixer_names();

/// The family of that name. Throws std::invalid_argument for an unknown one (the message lists the names) and
/// for options that the family cannot take.
std::unique_ptr<Mixer> make_mixer(const std::string& name, int64_t streams, const MixerOptions& options = {});

}  // namespace spectra::train
