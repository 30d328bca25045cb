#include "dyson/exact/atoms.hpp"

#include "base/special_values.hpp"
#include "dyson/exact/aligned_moments.hpp"
#include "dyson/exact/arrays.hpp"
#include "dyson/exact/layer_branch.hpp"
#include "dyson/exact/mixer_values.hpp"
#include "linalg/blas.hpp"
#include "linalg/eigen_instances.hpp"
#include "linalg/singular_values.hpp"
#include "mixers/defects.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

namespace spectra::dyson {
namespace {

constexpr double rank_tolerance = 1e-10;
constexpr double place_tolerance = 1e-10;  // in ln s: closer values are one atom
constexpr double resolution = 1e-5;        // of s², relative to the norm of J_x J_yᵀ
constexpr Eigen::Index tied_blow_up = 3;

using Matrix = Eigen::MatrixXd;
using Atoms = std::vector<Density::Atom>;

// ---- subspaces, as orthonormal columns ---------------------------------------------------------

/// The span of the columns of M, by pivoted QR: directions above rank_tolerance·scale.
Matrix image(const Matrix& m, double scale) {
    if (m.cols() == 0 || !(scale > 0)) return Matrix(m.rows(), 0);
    const Eigen::ColPivHouseholderQR<Matrix> qr(m);
    const auto diagonal = qr.matrixQR().diagonal().cwiseAbs();
    const auto rank = (diagonal.array() > rank_tolerance * scale).count();
    return qr.householderQ() * Matrix::Identity(m.rows(), rank);
}

/// The kernel of the rows, which have a norm of at most one.
Matrix kernel(const Matrix& rows) {
    const Eigen::ColPivHouseholderQR<Matrix> qr(rows.transpose());
    const auto rank = (qr.matrixQR().diagonal().cwiseAbs().array() > rank_tolerance).count();
    return (qr.householderQ() * Matrix::Identity(rows.cols(), rows.cols())).rightCols(rows.cols() - rank);
}

Matrix project(const Matrix& space, const Matrix& m) {
    return space * (space.transpose() * m);
}

int rank(const Matrix& m) {
    if (m.rows() == 0) return 0;
    return static_cast<int>(image(m, m.norm()).cols());
}

/// Sorted, without zero weights, with close positions merged.
Atoms merged(Atoms atoms) {
    std::sort(atoms.begin(), atoms.end(),
              [](const auto& a, const auto& b) { return a.log_place < b.log_place; });
    Atoms result;
    for (const auto& atom : atoms) {
        if (!(atom.mass > 1e-14)) continue;
        const bool same = !result.empty() && (atom.log_place == result.back().log_place ||
                                              atom.log_place - result.back().log_place < place_tolerance);
        if (same)
            result.back().mass += atom.mass;
        else
            result.push_back(atom);
    }
    return result;
}

// ---- isotropic and activation ------------------------------------------------------------------

/// 1 − min r/n over noiseless runs of layers, with r the rank of the product of a run.
double mass_of_noiseless_runs(const Network& network, const std::vector<LayerBranch>& layers) {
    const int n = network.streams;
    int least = n;
    for (std::size_t l = 0; l < layers.size();) {
        if (layers[l].noisy()) {
            ++l;
            continue;
        }
        std::vector<Mixer> run;
        for (; l < layers.size() && !layers[l].noisy(); ++l) run.push_back(network.mixers[l]);
        // Rounding turns zeros into eps times the norm of each layer; a singular layer bounds the rank
        // regardless of the rounding of the product.
        const double unit = n * std::numeric_limits<double>::epsilon();
        double log_zero = 0;
        int nonzero = n;
        for (const Mixer& a : run) {
            const auto s = mixers::singular_values(a);
            log_zero += std::log(unit * s(0));
            nonzero = std::min(nonzero, static_cast<int>((s.array() > unit * s(0)).count()));
        }
        const auto values = log_singular_values_of_product(run);
        nonzero =
            std::min(nonzero, static_cast<int>(std::count_if(values.begin(), values.end(), [&](double value) {
                         return value > -infinity && value > log_zero;
                     })));
        least = std::min(least, nonzero);
    }
    return 1 - static_cast<double>(least) / n;
}

/// (1/n) E(|S| − rank A_S) over the streams S with zero slopes.
double mass_of_dead_rows(const Mixer& mixer, const LayerBranch& layer) {
    double dead = 0;
    for (std::size_t k = 0; k < layer.slopes.value.size(); ++k)
        if (layer.slopes.value[k] == 0) dead += layer.slopes.probability[k];
    const Eigen::Index n = mixer.rows();
    if (dead == 0 || rank(mixer) == n) return 0;
    // Rank deficiency over all 2ⁿ sets of rows; beyond twenty streams only the full set, a bound.
    if (n > 20) return std::pow(dead, static_cast<double>(n)) * (1 - rank(mixer) / static_cast<double>(n));
    double mass = 0;
    for (unsigned set = 1; set < (1U << n); ++set) {
        Matrix rows(n, n);
        Eigen::Index count = 0;
        for (Eigen::Index i = 0; i < n; ++i)
            if ((set >> i) & 1U) rows.row(count++) = mixer.row(i);
        const double probability =
            std::pow(dead, static_cast<double>(count)) * std::pow(1 - dead, static_cast<double>(n - count));
        mass += probability * static_cast<double>(count - rank(rows.topRows(count)));
    }
    return mass / static_cast<double>(n);
}

double share_of_zeros(const Eigen::ArrayXd& values) {
    return static_cast<double>((values <= 1e-13 * values.maxCoeff()).count()) /
           static_cast<double>(values.size());
}

/// Distinct positive values with their weights.
Atoms weights_of(const Eigen::ArrayXd& values) {
    Atoms result;
    const double unit = 1 / static_cast<double>(values.size());
    for (const double value : values)
        if (value > 1e-13 * values.maxCoeff()) result.push_back({std::log(value), unit});
    return merged(result);
}

/// One layer A + X, X bi-invariant: atoms of the free convolution of the symmetrised laws. Two atoms combine
/// to one if their weights sum to more than one.
Atoms atoms_of_free_sum(const Eigen::ArrayXd& a, const Eigen::ArrayXd& t) {
    const double alpha = share_of_zeros(a), beta = share_of_zeros(t);
    Atoms result{{-infinity, alpha + beta - 1}};
    for (const auto& atom : weights_of(t)) result.push_back({atom.log_place, 2 * alpha + atom.mass - 2});
    for (const auto& atom : weights_of(a)) result.push_back({atom.log_place, 2 * beta + atom.mass - 2});
    return merged(result);
}

Atoms atoms_of_product(const Network& network, double mass_at_zero) {
    const double mass = 1.0 / network.streams;
    const auto zeros = static_cast<std::size_t>(std::lround(mass_at_zero * network.streams));
    std::vector<double> values = log_singular_values_of_product(network.mixers);
    std::sort(values.begin(), values.end());
    Atoms result;
    for (std::size_t k = 0; k < values.size(); ++k)
        result.push_back({k < zeros ? -infinity : values[k], mass});
    return merged(result);
}

Atoms isotropic_atoms(const Network& network, const std::vector<LayerBranch>& layers) {
    double mass = mass_of_noiseless_runs(network, layers);
    const bool noiseless =
        std::none_of(layers.begin(), layers.end(), [](const LayerBranch& layer) { return layer.noisy(); });
    if (noiseless) return atoms_of_product(network, mass);
    const auto values = layer_singular_values(network);
    for (std::size_t l = 0; l < layers.size(); ++l) {
        if (!layers[l].noisy()) continue;
        if (layers[l].values) {
            const Eigen::ArrayXd t = as_array(*layers[l].values);
            if (layers.size() == 1) return atoms_of_free_sum(values[l], t);
            mass = std::max(mass, share_of_zeros(values[l]) + share_of_zeros(t) - 1);
        }
        mass = std::max(mass, mass_of_dead_rows(network.mixers[l], layers[l]));
    }
    return merged({{-infinity, mass}});
}

// ---- hyper-connection --------------------------------------------------------------------------

class HyperConnection {
public:
    HyperConnection(const Network& network, const std::vector<LayerBranch>& layers, bool tied)
        : mixers_(network.mixers), layers_(layers), blow_up_(tied ? tied_blow_up : 1) {
        for (std::size_t l = 0; l < layers.size(); ++l) {
            norm_.push_back(mixers::spectral_norm(mixers_[l]));
            noisy_.push_back(layers[l].noisy() && layers[l].pre->norm() > 0 && layers[l].post->norm() > 0);
            std::size_t first = layers[l].weights;
            while (first < l && !(noisy_[first] && layers[first].weights == layers[l].weights)) ++first;
            reference_.push_back(first);
        }
    }

    Atoms atoms() {
        const double at_zero = mass_at_zero();
        Atoms result = merged(deterministic_values());
        for (const auto& atom : resolved_values()) {
            const auto same = std::find_if(result.begin(), result.end(), [&](const Density::Atom& other) {
                return std::abs(other.log_place - atom.log_place) < 1e-8;
            });
            if (same == result.end())
                result.push_back(atom);
            else
                same->mass = std::max(same->mass, atom.mass);
        }
        result.push_back({-infinity, at_zero});
        return merged(result);
    }

private:
    Eigen::Index streams() const { return mixers_.front().rows(); }
    std::size_t depth() const { return mixers_.size(); }

    Matrix spread(const Matrix& m) const {  // m ⊗ 1
        Matrix result = Matrix::Zero(m.rows() * blow_up_, m.cols() * blow_up_);
        for (Eigen::Index i = 0; i < m.rows(); ++i)
            for (Eigen::Index j = 0; j < m.cols(); ++j)
                result.block(i * blow_up_, j * blow_up_, blow_up_, blow_up_).diagonal().setConstant(m(i, j));
        return result;
    }

    /// A + σ post x preᵀ at a generic σx of the size of A; x is the same for the same weights, and different
    /// for another `draw`.
    Matrix generic_layer(std::size_t l, unsigned draw = 1) const {
        if (!noisy_[l]) return spread(mixers_[l]);
        const std::size_t reference = reference_[l];
        std::mt19937 engine(draw + 16U * static_cast<unsigned>(layers_[l].weights));
        std::uniform_real_distribution<double> uniform(0.5, 1.5);
        Matrix x(blow_up_, blow_up_);
        for (Eigen::Index i = 0; i < x.size(); ++i) x(i) = uniform(engine);
        x *= (norm_[reference] > 0 ? norm_[reference] : 1) /
             (layers_[reference].pre->norm() * layers_[reference].post->norm());
        if (reference != l) x *= std::sqrt(layers_[l].sigma2 / layers_[reference].sigma2);
        return spread(mixers_[l]) + spread(*layers_[l].post) * x * spread(layers_[l].pre->transpose());
    }

    /// The mass at zero. Noise that reaches no output or no input does not count and is removed first.
    double mass_at_zero() {
        const Eigen::Index size = streams() * blow_up_;
        std::vector<bool> met = noisy_;
        Matrix space = Matrix::Identity(size, size);
        for (std::size_t l = 0; l < depth(); ++l) {
            if (noisy_[l] && !meets(*layers_[l].pre, space)) met[l] = false;
            const Matrix y = generic_layer(l);
            space = image(y * space, y.norm());
        }
        const double mass = 1 - static_cast<double>(space.cols()) / static_cast<double>(size);
        space = Matrix::Identity(size, size);
        for (std::size_t l = depth(); l-- > 0;) {
            if (noisy_[l] && !meets(*layers_[l].post, space)) met[l] = false;
            const Matrix y = generic_layer(l);
            space = image(y.transpose() * space, y.norm());
        }
        noisy_ = met;
        return mass;
    }

    bool meets(const Eigen::VectorXd& vector, const Matrix& space) const {
        return space.cols() > 0 &&
               (spread(vector).transpose() * space).norm() > rank_tolerance * vector.norm();
    }

    /// Shrinks the spaces at all levels 0 … L to those that A_L···A_1 maps into `target` and noise does not reach.
    void carry_into(const Matrix& target, std::vector<Matrix>& level) const {
        level.back() = target;
        for (std::size_t l = depth(); l-- > 0;)
            level[l] =
                preimage(mixers_[l], norm_[l], level[l], level[l + 1], noisy_[l] ? layers_[l].pre : nullptr);
    }
    /// The same for the transpose, from level L down.
    void carry_back_into(const Matrix& target, std::vector<Matrix>& level) const {
        level.front() = target;
        for (std::size_t l = 0; l < depth(); ++l)
            level[l + 1] = preimage(mixers_[l].transpose(), norm_[l], level[l + 1], level[l],
                                    noisy_[l] ? layers_[l].post : nullptr);
    }

    /// {x ∈ within : A x ∈ space, vectorᵀ x = 0}. What one step of a shrinking space takes away is small where A is nearly
    /// a multiple of an orthogonal matrix; seen from the whole space, several steps are the product of such numbers.
    static Matrix preimage(const Matrix& a, double norm, const Matrix& within, const Matrix& space,
                           const Eigen::VectorXd* vector) {
        const Eigen::Index n = a.rows();
        if (within.cols() == 0) return within;
        Matrix rows = Matrix::Zero(n + 1, within.cols());
        const Matrix image = a * within;
        if (norm > 0) rows.topRows(n) = (image - project(space, image)) / norm;
        if (vector) rows.row(n) = vector->transpose() * within / vector->norm();
        return within * kernel(rows);
    }

    /// Singular values s of B that noise does not move: s² is an eigenvalue of J_x J_yᵀ at generic
    /// x and y, with the multiplicity of the atom's mass. Requires that s exceeds the rounding of J_x J_yᵀ.
    Atoms resolved_values() const {
        const Eigen::Index size = streams() * blow_up_;
        Matrix product = Matrix::Identity(size, size);
        double log_scale = 0;
        const auto times = [&](const Matrix& factor) {
            product = (product * factor).eval();
            const double norm = product.norm();
            if (norm > 0) product /= norm;
            log_scale += std::log(norm);
        };
        for (std::size_t l = depth(); l-- > 0;) times(generic_layer(l, 2));
        for (std::size_t l = 0; l < depth(); ++l) times(generic_layer(l, 3).transpose());
        if (!std::isfinite(log_scale)) return {};
        const Eigen::VectorXcd eigenvalues = product.eigenvalues();
        Atoms candidates;
        for (const double value : log_singular_values_of_product(mixers_)) candidates.push_back({value, 1});
        Atoms result;
        for (const auto& candidate : merged(candidates)) {
            const double place = std::exp(2 * candidate.log_place - log_scale);  // s², for a norm of one
            if (!(place > resolution)) continue;
            const bool near = ((eigenvalues.array() - place).abs() < 1e-3 * place).any();
            if (!near) continue;
            const Matrix shifted = place * Matrix::Identity(size, size) - product;
            const auto corank = size - image(shifted, shifted.norm()).cols();
            result.push_back({candidate.log_place, static_cast<double>(corank) / static_cast<double>(size)});
        }
        return merged(result);
    }

    Atoms deterministic_values() const {
        const Eigen::Index n = streams();
        Matrix right = Matrix::Identity(n, n), left = right;
        std::vector<Matrix> forth(depth() + 1, right), back = forth;
        for (bool settled = false; !settled;) {
            carry_into(left, forth);
            carry_back_into(forth.front(), back);
            settled = forth.front().cols() == right.cols() && back.back().cols() == left.cols();
            right = forth.front();
            left = back.back();
        }
        // The complement of the kernel of B: the image of its transpose.
        Matrix space = left;
        for (std::size_t l = depth(); l-- > 0;)
            space = image(project(back[l], mixers_[l].transpose() * space), norm_[l]);
        if (space.cols() == 0) return {};
        std::vector<Mixer> factors;
        for (std::size_t l = 0; l < depth(); ++l) {
            const Matrix next = project(forth[l + 1], mixers_[l] * space);
            const Eigen::HouseholderQR<Matrix> qr(next);
            factors.emplace_back(qr.matrixQR().topRows(space.cols()).triangularView<Eigen::Upper>());
            space = qr.householderQ() * Matrix::Identity(n, space.cols());
        }
        Atoms result;
        for (const double value : log_singular_values_of_product(factors))
            result.push_back({value, 1 / static_cast<double>(n)});
        return result;
    }

    const std::vector<Mixer>& mixers_;
    const std::vector<LayerBranch>& layers_;
    Eigen::Index blow_up_;
    std::vector<std::size_t> reference_;  ///< the first noisy layer with the same weights
    std::vector<double> norm_;
    std::vector<bool> noisy_;
};

/// A branch of relative rank 1 − β: on its kernel the layer has the rank of its mixer.
double mass_of_branch_zeros(const Network& network, const LayerBranch& layer, double at_zero) {
    const double beta = layer.values ? share_of_zeros(as_array(*layer.values)) : 0;
    const double without = 1 - static_cast<double>(rank(network.mixers.front())) / network.streams;
    return (1 - beta) * at_zero + beta * without;
}

/// Those of a branch whose directions its mixer does not touch: A pre = 0 and Aᵀ post = 0, so J is the sum of A and F in
/// orthogonal directions.
Atoms atoms_of_separate_branch(const Mixer& mixer, const LayerBranch& layer) {
    const Eigen::VectorXd &pre = *layer.pre, &post = *layer.post;
    const double size = rank_tolerance * mixer.norm();
    if ((mixer * pre).norm() > size * pre.norm() || (mixer.transpose() * post).norm() > size * post.norm())
        return {};
    Atoms result = weights_of(as_array(*layer.values));
    for (auto& atom : result) {
        atom.log_place += std::log(pre.norm()) + std::log(post.norm());
        atom.mass /= static_cast<double>(mixer.rows());
    }
    return result;
}

/// The singular values of the product if nothing is free. With a rest even outliers are bands.
Atoms aligned_atoms(const Network& network) {
    if (!noiseless(network)) return {};
    const auto size = static_cast<Eigen::Index>(network.size());
    Eigen::MatrixXd product = Eigen::MatrixXd::Identity(size, size);
    double log_scale = 0;
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        product = (kept_layer(network, l) * product).eval();
        const double scale = product.norm();
        if (!(scale > 0)) return {{-infinity, 1.0}};
        product /= scale;
        log_scale += std::log(scale);
    }
    std::vector<double> values(static_cast<std::size_t>(size));
    const linalg::SingleThreadedBlas one_thread;
    if (!linalg::SingularValues(network.size()).compute(product, 0, values))
        throw std::runtime_error("the singular values of the kept layers did not converge");
    Atoms result;
    for (const double value : values) result.push_back({value + log_scale, 1 / static_cast<double>(size)});
    return merged(result);
}

}  // namespace

std::vector<Density::Atom> atoms(const Network& network) {
    if (std::holds_alternative<AlignedBranch>(network.branch)) return aligned_atoms(network);
    const auto layers = layer_branches(network);
    if (!layers.front().hyper_connection()) return isotropic_atoms(network, layers);
    const bool tied = std::holds_alternative<TiedBranch>(network.branch);
    Atoms result = HyperConnection(network, layers, tied).atoms();
    if (layers.size() == 1 && layers.front().values) {
        const bool present = !result.empty() && result.front().log_place == -infinity;
        if (!present) result.insert(result.begin(), {-infinity, 0});
        result.front().mass = mass_of_branch_zeros(network, layers.front(), result.front().mass);
        for (const auto& atom : atoms_of_separate_branch(network.mixers.front(), layers.front()))
            result.push_back(atom);
        result = merged(result);
    }
    return result;
}

double atom_at_zero(const Network& network) {
    for (const auto& atom : atoms(network))
        if (atom.log_place == -infinity) return atom.mass;
    return 0;
}

}  // namespace spectra::dyson
