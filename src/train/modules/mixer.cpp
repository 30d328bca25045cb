#include "train/modules/mixer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <sstream>
#include <stdexcept>

#include "mixers/generating_set.hpp"
#include "mixers/permutation.hpp"
#include "mixers/registry.hpp"
#include "train/modules/gate_regulariser.hpp"
#include "train/modules/mappings.hpp"
#include "train/modules/maps.hpp"
#include "train/modules/sinkhorn.hpp"

namespace spectra::train {
namespace {

using torch::Tensor;
using Statistics = std::vector<std::pair<std::string, Tensor>>;

constexpr auto float32 = torch::kFloat;

/// Largest number of streams for which all n! permutations are used (40,320).
constexpr int64_t largest_full_permutation = 8;
/// Largest number of permutations if n! is more.
constexpr int64_t most_permutations = 10000;

template <typename Number>
void require(bool accepted, const char* option, Number value, const std::string& accepted_values) {
    if (accepted) return;
    std::ostringstream text;
    text << option << ' ' << value << ": must be " << accepted_values;
    throw std::invalid_argument(text.str());
}

bool is_narrow(const Tensor& raw) {
    return raw.scalar_type() == torch::kHalf || raw.scalar_type() == torch::kBFloat16;
}

Tensor widened(const Tensor& raw) {
    return is_narrow(raw) ? raw.to(float32) : raw;
}

/// The last dimension reshaped to a matrix.
Tensor as_matrix(const Tensor& raw, int64_t rows, int64_t columns) {
    std::vector<int64_t> shape(raw.sizes().begin(), raw.sizes().end() - 1);
    shape.insert(shape.end(), {rows, columns});
    return raw.reshape(shape);
}

/// ln(1 + eˣ)
Tensor positive_beta(const Tensor& x) {
    return torch::softplus(x, 1, 40);  // the default threshold of 20 gives relative errors of 1e-10
}

/// A constant tensor of a family's definition, available in any type on any device.
class Constant {
public:
    explicit Constant(Tensor value) : value_(std::move(value)) {}

    Tensor like(const Tensor& other) const {
        const std::lock_guard lock(mutex_);
        for (const auto& copy : copies_)
            if (copy.device() == other.device() && copy.dtype() == other.dtype()) return copy;
        return copies_.emplace_back(value_.to(other.device(), other.scalar_type()));
    }

private:
    Tensor value_;
    mutable std::vector<Tensor> copies_;  ///< kept: a recorded step reads them where they are
    mutable std::mutex mutex_;
};

/// Row k holds the m×m skew matrix with 1 at the k-th place above the diagonal.
Tensor skew_basis(int64_t m) {
    Tensor basis = torch::zeros({m * (m - 1) / 2, m, m}, torch::kDouble);
    int64_t k = 0;
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = i + 1; j < m; ++j, ++k) {
            basis[k][i][j] = 1;
            basis[k][j][i] = -1;
        }
    }
    return basis.reshape({m * (m - 1) / 2, m * m});
}

// Violations of what must hold, measured in double. NaN takes precedence over numbers.

double largest(const Tensor& x) {
    return x.numel() == 0 ? 0.0 : x.detach().to(torch::kDouble).max().item<double>();
}

double worst(double a, double b) {
    return a >= b || std::isnan(a) ? a : b;
}

Tensor in_double(const Tensor& matrices) {
    return matrices.detach().to(torch::kDouble);
}

double sum_defect(const Tensor& matrices) {
    const Tensor h = in_double(matrices);
    return worst(largest((h.sum(-1) - 1).abs()), largest((h.sum(-2) - 1).abs()));
}

double bistochastic_defect(const Tensor& matrices) {
    return worst(sum_defect(matrices), largest((-in_double(matrices)).clamp_min(0)));
}

double orthogonality_defect(const Tensor& matrices) {
    const Tensor h = in_double(matrices);
    return largest((torch::matmul(h.mT(), h) - torch::eye(h.size(-1), h.options())).abs());
}

double norm_defect(const Tensor& matrices, double bound) {
    const Tensor h = in_double(matrices);
    if (!h.isfinite().all().item<bool>()) return std::numeric_limits<double>::quiet_NaN();
    return h.numel() == 0 ? 0.0 : std::max(0.0, largest(torch::linalg_svdvals(h)) - bound);
}

// ---------------------------------------------------------------------------------------------------------

class Identity final : public Mixer {
public:
    explicit Identity(int64_t n) : Mixer("identity", n) {}
    int64_t size() const override { return 0; }
    Tensor start() const override { return torch::zeros({0}, float32); }
    double defect(const Tensor& h) const override {
        return largest((in_double(h) - torch::eye(streams(), in_double(h).options())).abs());
    }

private:
    Tensor widened_matrix(const Tensor& raw) const override {
        std::vector<int64_t> shape(raw.sizes().begin(), raw.sizes().end() - 1);
        shape.insert(shape.end(), {streams(), streams()});
        return torch::eye(streams(), raw.options().requires_grad(false)).expand(shape);
    }
};

class Hyper final : public Mixer {
public:
    explicit Hyper(int64_t n) : Mixer("hyper", n) {}
    int64_t size() const override { return streams() * streams(); }
    Tensor start() const override { return torch::eye(streams(), float32).flatten(); }
    double defect(const Tensor& h) const override { return 0 * largest(h.abs()); }

private:
    Tensor widened_matrix(const Tensor& raw) const override { return as_matrix(raw, streams(), streams()); }
};

class Bistochastic final : public Mixer {
public:
    Bistochastic(int64_t n, const MixerOptions& options) : Mixer("bistochastic", n), options_(options) {
        const bool unrolled = options.sinkhorn_backward == MixerOptions::Backward::unrolled;
        require(options.sinkhorn_iterations >= (unrolled ? 1 : 0), "sinkhorn_iterations",
                options.sinkhorn_iterations, unrolled ? "≥ 1 with the unrolled gradient" : "≥ 0");
        require(options.gauss_seidel_sweeps >= 1, "gauss_seidel_sweeps", options.gauss_seidel_sweeps, "≥ 1");
        require(std::isfinite(options.sinkhorn_clamp) && options.sinkhorn_clamp >= 0, "sinkhorn_clamp",
                options.sinkhorn_clamp, "a finite number ≥ 0");
    }
    int64_t size() const override { return streams() * streams(); }
    Tensor start() const override { return (8 * (torch::eye(streams(), float32) - 1)).flatten(); }
    double defect(const Tensor& h) const override { return bistochastic_defect(h); }

private:
    Tensor widened_matrix(const Tensor& raw) const override {
        const double most = options_.sinkhorn_clamp;
        return sinkhorn(as_matrix(most > 0 ? raw.clamp(-most, most) : raw, streams(), streams()), options_);
    }

    MixerOptions options_;
};

int64_t factorial(int64_t n) {
    return n <= 1 ? 1 : n * factorial(n - 1);
}

std::vector<mixers::Permutation> permutations(int64_t n, int count, MixerOptions::Basis basis) {
    if (count == 0)
        require(n <= largest_full_permutation, "permutations 0 (all n!) with streams", n,
                "1.." + std::to_string(largest_full_permutation) + ", or a number of permutations");
    const int64_t most = n <= largest_full_permutation ? factorial(n) : most_permutations;
    require(count >= 0 && count <= most, "permutations", count, "0 (all) to " + std::to_string(most));
    const auto streams = static_cast<int>(n);
    if (count == 0) return mixers::all_permutations(streams);
    return basis == MixerOptions::Basis::optimal ? mixers::largest_gap(streams, count).permutations
                                                 : mixers::published_permutations(streams, count);
}

/// Row k: the matrix of the k-th permutation.
Tensor permutation_basis(const std::vector<mixers::Permutation>& list) {
    const auto n = static_cast<int64_t>(list.front().size());
    Tensor basis = torch::zeros({static_cast<int64_t>(list.size()), n, n}, torch::kDouble);
    auto entries = basis.accessor<double, 3>();
    for (std::size_t k = 0; k < list.size(); ++k)
        for (std::size_t i = 0; i < list[k].size(); ++i)
            entries[static_cast<int64_t>(k)][static_cast<int64_t>(i)][list[k][i]] = 1;
    return basis.reshape({-1, n * n});
}

class PermutationMixture final : public Mixer {
public:
    PermutationMixture(int64_t n, const MixerOptions& options)
        : PermutationMixture(n, options.temperature,
                             permutation_basis(permutations(n, options.permutations, options.basis))) {}
    int64_t size() const override { return size_; }
    Tensor start() const override {
        if (!starts_at_identity_) return torch::zeros({size_}, float32);
        Tensor logits = torch::full({size_}, -8, float32);
        logits[0] = 0;
        return logits;
    }
    double defect(const Tensor& h) const override { return bistochastic_defect(h); }

private:
    PermutationMixture(int64_t n, double temperature, const Tensor& basis)
        : Mixer("permutation", n),
          temperature_(temperature),
          size_(basis.size(0)),
          starts_at_identity_(torch::equal(basis[0], torch::eye(n, torch::kDouble).flatten())),
          basis_(basis) {}

    Tensor widened_matrix(const Tensor& raw) const override {
        const Tensor weights = (raw / temperature_).softmax(-1);
        return as_matrix(torch::matmul(weights, basis_.like(raw)), streams(), streams());
    }

    double temperature_;
    int64_t size_;
    bool starts_at_identity_;  ///< the first permutation is the identity
    Constant basis_;
};

class Cayley final : public Mixer {
public:
    Cayley(int64_t n, const MixerOptions& options)
        : Mixer("cayley", n), iterations_(options.cayley_iterations), step_(options.cayley_step) {
        require(iterations_ >= 0, "cayley_iterations", iterations_, "0 (exact) or more");
        require(std::isfinite(step_) && step_ > 0, "cayley_step", step_, "a finite number > 0");
    }
    int64_t size() const override { return streams() * streams(); }
    Tensor start() const override { return torch::zeros({size()}, float32); }
    double defect(const Tensor& h) const override { return orthogonality_defect(h); }

private:
    Tensor widened_matrix(const Tensor& raw) const override {
        if (iterations_ > 0) return iterated_cayley(raw, streams(), step_, iterations_);
        const Tensor r = as_matrix(raw, streams(), streams());
        return cayley_exact(0.5 * step_ * (r - r.mT()));
    }

    int iterations_;
    double step_;
};

class Orthogonal final : public Mixer {
public:
    explicit Orthogonal(int64_t n) : Mixer("orthogonal", n), basis_(skew_basis(n)) {}
    int64_t size() const override { return streams() * (streams() - 1) / 2; }
    Tensor start() const override { return torch::zeros({size()}, float32); }
    double defect(const Tensor& h) const override { return orthogonality_defect(h); }

private:
    Tensor widened_matrix(const Tensor& raw) const override {
        const Tensor m = as_matrix(torch::matmul(raw, basis_.like(raw)), streams(), streams());
        return cayley_exact(-m);
    }

    Constant basis_;
};

/// A vector of n entries 1/√n, which treats all streams alike.
Tensor constant_vector(int64_t n) {
    return torch::full({n}, 1 / std::sqrt(static_cast<double>(n)), float32);
}

class Rotation final : public Mixer {
public:
    explicit Rotation(int64_t n) : Mixer("rotation", n) {}
    int64_t size() const override { return 2 * streams() + 1; }
    Tensor start() const override {
        return torch::cat({constant_vector(streams()), torch::zeros({streams() + 1}, float32)});
    }
    Statistics statistics(const Tensor& raw) const override {
        const torch::NoGradGuard no_graph;
        return {{"beta", positive_beta(widened(raw).select(-1, 2 * streams()))}};
    }
    double defect(const Tensor& h) const override { return orthogonality_defect(h); }

private:
    Tensor widened_matrix(const Tensor& raw) const override {
        const auto parts = raw.split_with_sizes({streams(), streams(), 1}, -1);
        return cayley_rank2(parts[0], parts[1], positive_beta(parts[2].squeeze(-1)));
    }
};

class Householder final : public Mixer {
public:
    explicit Householder(int64_t n) : Mixer("householder", n) {}
    int64_t size() const override { return streams() + 1; }
    Tensor start() const override {
        return torch::cat({constant_vector(streams()), torch::full({1}, -4, float32)});
    }
    Statistics statistics(const Tensor& raw) const override {
        const torch::NoGradGuard no_graph;
        return {{"beta", 2 * widened(raw).select(-1, streams()).sigmoid()}};
    }
    double defect(const Tensor& h) const override { return norm_defect(h, 1); }

private:
    Tensor widened_matrix(const Tensor& raw) const override {
        const auto parts = raw.split_with_sizes({streams(), 1}, -1);
        return householder(parts[0], 2 * parts[1].squeeze(-1).sigmoid());
    }
};

class CayleyHybrid final : public Mixer {
public:
    CayleyHybrid(int64_t n, const MixerOptions& options)
        : Mixer("cayley-hybrid", n), gate_bias_(options.gate_bias), regulariser_(options.regulariser) {
        require(std::isfinite(gate_bias_), "gate_bias", gate_bias_, "a finite number");
    }
    int64_t size() const override { return 3 * streams() + 2; }
    Tensor start() const override {
        const Tensor vector = constant_vector(streams());
        return torch::cat(
            {vector, torch::zeros({streams() + 1}, float32), vector, torch::full({1}, gate_bias_, float32)});
    }
    Tensor regulariser(const Tensor& raw) const override {
        return gate_regulariser(regulariser_, gate(widened(raw)));
    }
    Statistics statistics(const Tensor& raw) const override {
        const torch::NoGradGuard no_graph;
        const Tensor wide = widened(raw);
        return {{"gate", gate(wide).sigmoid()}, {"beta", positive_beta(wide.select(-1, 2 * streams()))}};
    }
    double defect(const Tensor& h) const override { return norm_defect(h, 1); }

private:
    Tensor gate(const Tensor& raw) const { return raw.select(-1, 3 * streams() + 1); }

    Tensor widened_matrix(const Tensor& raw) const override {
        const auto parts = raw.split_with_sizes({streams(), streams(), 1, streams(), 1}, -1);
        const Tensor beta = positive_beta(parts[2].squeeze(-1));
        const Tensor x = parts[4].unsqueeze(-1);
        return x.sigmoid() * cayley_rank2(parts[0], parts[1], beta) +
               (-x).sigmoid() * householder(parts[3], torch::full_like(beta, 2));
    }

    double gate_bias_;
    MixerOptions::Regulariser regulariser_;
};

class SpectralSphere final : public Mixer {
public:
    SpectralSphere(int64_t n, const MixerOptions& options)
        : Mixer("spectral-sphere", n),
          bound_(options.sphere_bound),
          skews_((n - 1) * (n - 2) / 2),
          basis_(skew_basis(n - 1)),
          helmert_(helmert(n)) {
        require(std::isfinite(bound_) && bound_ > 0, "sphere_bound", bound_, "a finite number > 0");
    }
    int64_t size() const override { return 2 * skews_ + streams() - 1; }
    Tensor start() const override {
        return torch::cat({torch::zeros({2 * skews_}, float32), torch::full({streams() - 1}, 4, float32)});
    }
    double defect(const Tensor& h) const override {
        return worst(sum_defect(h), norm_defect(h, std::max(1.0, bound_)));
    }

private:
    Tensor core(const Tensor& entries) const {
        const Tensor skew = torch::matmul(entries, basis_.like(entries));
        return torch::matmul(helmert_.like(entries),
                             cayley_exact(as_matrix(skew, streams() - 1, streams() - 1)));
    }

    Tensor widened_matrix(const Tensor& raw) const override {
        if (streams() == 1) return torch::ones_like(as_matrix(raw.sum(-1, true), 1, 1));
        const double mean = 1 / static_cast<double>(streams());
        const auto parts = raw.split_with_sizes({skews_, skews_, streams() - 1}, -1);
        const Tensor sigma = bound_ * parts[2].tanh();
        return mean + torch::matmul(core(parts[0]) * sigma.unsqueeze(-2), core(parts[1]).mT());
    }

    double bound_;
    int64_t skews_;
    Constant basis_;
    Constant helmert_;
};

class Grassmann final : public Mixer {
public:
    Grassmann(int64_t n, const MixerOptions& options)
        : Mixer("grassmann", n), rank_(options.rank == 0 ? (n + 1) / 2 : options.rank) {
        require(rank_ >= 1 && rank_ <= n, "rank", options.rank,
                "0 (half the streams) to " + std::to_string(n));
    }
    int64_t size() const override { return streams() * rank_; }
    Tensor start() const override { return torch::eye(streams(), rank_, float32).flatten(); }
    double defect(const Tensor& matrices) const override {
        const Tensor h = in_double(matrices);
        return worst(largest((torch::matmul(h, h) - h).abs()), largest((h - h.mT()).abs()));
    }

private:
    Tensor widened_matrix(const Tensor& raw) const override {
        return projector(as_matrix(raw, streams(), rank_));
    }

    int64_t rank_;
};

using Maker = std::unique_ptr<Mixer> (*)(int64_t, const MixerOptions&);

template <typename Family>
std::unique_ptr<Mixer> make(int64_t n, const MixerOptions& options) {
    if constexpr (std::is_constructible_v<Family, int64_t, const MixerOptions&>)
        return std::make_unique<Family>(n, options);
    else
        return std::make_unique<Family>(n);
}

const std::array<std::pair<const char*, Maker>, 11> families{{
    {"identity", make<Identity>},
    {"bistochastic", make<Bistochastic>},
    {"orthogonal", make<Orthogonal>},
    {"cayley", make<Cayley>},
    {"cayley-hybrid", make<CayleyHybrid>},
    {"spectral-sphere", make<SpectralSphere>},
    {"grassmann", make<Grassmann>},
    {"permutation", make<PermutationMixture>},
    {"householder", make<Householder>},
    {"rotation", make<Rotation>},
    {"hyper", make<Hyper>},
}};

}  // namespace

Tensor Mixer::matrix(const Tensor& raw) const {
    if (raw.dim() == 0 || raw.size(-1) != size() || !raw.is_floating_point()) {
        std::ostringstream text;
        text << name_ << ": raw numbers of shape " << raw.sizes() << " and type " << raw.dtype()
             << "; must be (..., " << size() << ") floating point";
        throw std::invalid_argument(text.str());
    }
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    return widened_matrix(widened(raw));
}

Tensor Mixer::regulariser(const Tensor& /*raw*/) const {
    return {};
}

Statistics Mixer::statistics(const Tensor& /*raw*/) const {
    return {};
}

const std::vector<std::string>& mixer_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const auto& entry : mixers::registry())
            if (entry.trained) list.emplace_back(entry.alias.empty() ? entry.name : entry.alias);
        return list;
    }();
    return names;
}

std::unique_ptr<Mixer> make_mixer(const std::string& name, int64_t streams, const MixerOptions& options) {
    for (const auto& [family, maker] : families) {
        if (name != family) continue;
        require(streams >= 1, "streams", streams, "≥ 1");
        require(std::isfinite(options.temperature) && options.temperature > 0, "temperature",
                options.temperature, "a finite number > 0");
        return maker(streams, options);
    }
    std::string list;
    for (const auto& known : mixer_names()) list += (list.empty() ? "" : ", ") + known;
    throw std::invalid_argument("mixer '" + name + "': must be one of " + list);
}

}  // namespace spectra::train
