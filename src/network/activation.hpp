#pragma once

#include <string>
#include <vector>

namespace spectra {

/// The effect of a layer's nonlinearity on gradients: the law of φ'(h)² under h ~ N(0, q).
enum class ActivationKind { linear, relu, leaky_relu, tanh, hard_tanh, erf, gelu, silu, bernoulli };

struct Activation {
    ActivationKind kind = ActivationKind::linear;
    double probability = 0.5;  ///< bernoulli only: φ'² is 1 with this probability, else 0
};

/// φ(h) and φ'(h). leaky-relu has slope 0.01 for h < 0, hard-tanh is h on [−1, 1], gelu is exact (erf),
/// silu is h/(1 + e^{−h}), erf is erf(h). Not for bernoulli (std::invalid_argument).
double value(const Activation& activation, double h);
double derivative(const Activation& activation, double h);

/// E φ(h), E φ(h)², E φ'(h)² under h ~ N(0, q), exact if a closed form exists, otherwise by quadrature
/// to 1e-13 relative. Bernoulli: mean_derivative2 is its probability, the others are not defined
/// (std::invalid_argument). q = 0 means the limit.
double mean(const Activation& activation, double q);
double mean_square(const Activation& activation, double q);
double mean_derivative2(const Activation& activation, double q);

/// Does the law of φ'(h)² depend on q? Not for linear, relu, leaky-relu and bernoulli, which take any q.
bool depends_on_variance(const Activation& activation);

/// The law of φ'(h)² as atoms of positive probability: exact for two-valued laws (linear has one value;
/// relu, leaky-relu, hard-tanh, bernoulli two), otherwise the Gauss rule of the law with `points` nodes:
/// Σ probability·value^k = E φ'(h)^{2k} for k < 2·points, so the variance of a branch is exact. (Hermite
/// nodes in h would not be exact, and would miss laws that are narrow in h.) A very narrow law has fewer
/// atoms.
struct SlopeLaw {
    std::vector<double> value;        ///< of φ'², ascending
    std::vector<double> probability;  ///< sums to 1
    bool exact = true;
};
SlopeLaw slope_law(const Activation& activation, double q, int points = 16);

/// "relu", … ; parse throws std::invalid_argument with the valid names (bernoulli is valid only in a
/// model file: see model_file.hpp).
std::string name(const Activation& activation);
Activation activation_from_name(const std::string& name);

/// The names that activation_from_name accepts, in the order shown to users.
const std::vector<std::string>& activation_names();

}  // namespace spectra
