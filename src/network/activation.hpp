#pragma once

/// \file
/// Activations φ: their values, derivatives and Gaussian averages.

#include <string>
#include <vector>

namespace spectra {

/// The activations. bernoulli has no φ: it is a law of φ'² alone.
enum class ActivationKind { linear, relu, leaky_relu, tanh, hard_tanh, erf, gelu, silu, bernoulli };

/// What a layer's nonlinearity does to gradients: the law of φ'(h)² under h ~ N(0, q).
struct Activation {
    ActivationKind kind = ActivationKind::linear;  ///< which
    double probability = 0.5;  ///< bernoulli only: φ'² is 1 with this probability, else 0
};

/// φ(h). leaky-relu has slope 0.01 for h < 0, hard-tanh is h on [−1, 1], gelu is exact (erf),
/// silu is h/(1 + e^{−h}), erf is erf(h). Not for bernoulli (std::invalid_argument).
double value(const Activation& activation, double h);
/// φ'(h). Not for bernoulli (std::invalid_argument).
double derivative(const Activation& activation, double h);

/// E φ(h) under h ~ N(0, q), exact where a closed form exists, else by quadrature to 1e-13 relative. q = 0
/// stands for the limit. Not for bernoulli (std::invalid_argument).
double mean(const Activation& activation, double q);
/// E φ(h)² under h ~ N(0, q), as mean().
double mean_square(const Activation& activation, double q);
/// E φ'(h)² under h ~ N(0, q), as mean(); of bernoulli its probability.
double mean_derivative2(const Activation& activation, double q);

/// Does the law of φ'(h)² depend on q? Not for linear, relu, leaky-relu and bernoulli, which take any q.
bool depends_on_variance(const Activation& activation);

/// The law of φ'(h)² as atoms of positive probability.
struct SlopeLaw {
    std::vector<double> value;        ///< of φ'², ascending
    std::vector<double> probability;  ///< sums to 1
    bool exact = true;                ///< the law itself, not a quadrature rule of it
};

/// The law of φ'(h)² under h ~ N(0, q): exact for two-valued laws (linear has one value;
/// relu, leaky-relu, hard-tanh, bernoulli two), otherwise the law's own Gauss rule of `points` nodes:
/// Σ probability·value^k = E φ'(h)^{2k} for k < 2·points, so the variance a branch gets is exact. (Hermite
/// nodes in h would not have that, and miss laws that are narrow in h.) Fewer atoms where a law is so
/// narrow that fewer exhaust it.
SlopeLaw slope_law(const Activation& activation, double q, int points = 16);

/// The name users type: "relu", "leaky-relu", ….
std::string name(const Activation& activation);
/// The activation of that name. Throws std::invalid_argument with the accepted names (bernoulli is accepted
/// from a model file only: see model_file.hpp).
Activation activation_from_name(const std::string& name);

/// The names that activation_from_name accepts, in the order shown to users.
const std::vector<std::string>& activation_names();

}  // namespace spectra
