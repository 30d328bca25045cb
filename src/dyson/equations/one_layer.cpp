#include "dyson/equations/one_layer.hpp"

#include "linalg/eigen_instances.hpp"
#include "mixers/defects.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace spectra::dyson {
namespace {

constexpr double certified_step = 1e-10;

struct Pole {
    double place, weight;
};

/// ±a_i with weights ½/n, equal ones merged, for the lowest degree.
std::vector<Pole> poles_of(const Eigen::VectorXd& a) {
    const double unit = 0.5 / static_cast<double>(a.size());
    std::vector<Pole> poles;
    for (const double value : a) {
        poles.push_back({value, unit});
        poles.push_back({-value, unit});
    }
    std::sort(poles.begin(), poles.end(), [](const Pole& x, const Pole& y) { return x.place < y.place; });
    std::vector<Pole> result;
    for (const Pole& pole : poles) {
        if (!result.empty() && pole.place - result.back().place <= 1e-15 * a.maxCoeff())
            result.back().weight += pole.weight;
        else
            result.push_back(pole);
    }
    return result;
}

/// ω(q) and dω/dq.
struct Map {
    Complex omega, slope;
};
Map map(const std::vector<Pole>& poles, double sigma2, Complex q) {
    Map m{q, 1.0};
    for (const Pole& pole : poles) {
        const Complex r = 1.0 / (q - pole.place);
        m.omega += sigma2 * pole.weight * r;
        m.slope -= sigma2 * pole.weight * r * r;
    }
    return m;
}

Eigen::VectorXcd roots(const std::vector<Pole>& poles, double sigma2, Complex omega) {
    const auto size = static_cast<Eigen::Index>(poles.size());
    Eigen::MatrixXcd arrow = Eigen::MatrixXcd::Zero(size + 1, size + 1);
    arrow(0, 0) = omega;
    for (Eigen::Index k = 0; k < size; ++k) {
        const Pole& pole = poles[static_cast<std::size_t>(k)];
        arrow(k + 1, k + 1) = pole.place;
        arrow(0, k + 1) = arrow(k + 1, 0) = Complex(0, std::sqrt(sigma2 * pole.weight));
    }
    return Eigen::ComplexEigenSolver<Eigen::MatrixXcd>(arrow, false).eigenvalues();
}

double polish(const std::vector<Pole>& poles, double sigma2, Complex omega, Complex& q) {
    double step = 1;
    for (int k = 0; k < 20; ++k) {
        const Map m = map(poles, sigma2, q);
        const Complex change = (omega - m.omega) / m.slope;
        q += change;
        const double next = std::abs(change) / std::abs(q);
        if (!(next < 0.5 * step) && step < 1e-12) break;
        step = next;
    }
    return step;
}

GreenPoint above_axis(const std::vector<Pole>& poles, double sigma2, Complex omega) {
    const Eigen::VectorXcd candidates = roots(poles, sigma2, omega);
    Complex q = candidates(0);
    for (const Complex root : candidates)
        if (root.imag() > q.imag()) q = root;
    GreenPoint point;
    point.residual = polish(poles, sigma2, omega, q);
    point.g = (omega - q) / sigma2;
    point.certified = point.residual <= certified_step && point.g.imag() < 0;
    return point;
}

GreenPoint on_axis(const std::vector<Pole>& poles, double sigma2, double s) {
    GreenPoint point = above_axis(poles, sigma2, s);
    // An imaginary part of the size of rounding counts as zero: a square-root edge reaches it at a distance
    // of 1e-16.
    if (point.certified && std::abs(point.g.imag()) > 1e-8 * std::abs(point.g)) return point;
    point = {};
    for (const Complex root : roots(poles, sigma2, s)) {
        if (std::abs(root.imag()) > 1e-6 * std::abs(root)) continue;
        Complex q = root.real();
        const double step = polish(poles, sigma2, s, q);
        if (!(step <= certified_step) || !(map(poles, sigma2, q).slope.real() > 0)) continue;
        point = {Complex((s - q.real()) / sigma2, 0), step, true};
    }
    return point;
}

}  // namespace

GreenPoint one_layer_green(const Network& network, Complex omega) {
    if (network.depth() != 1 || !isotropic_gaussian(network))
        throw std::invalid_argument(
            "one_layer_green: the network must have one layer with an isotropic Gaussian branch");
    const Eigen::VectorXd a = mixers::singular_values(network.mixers.front());
    const double sigma2 = std::get<IsotropicBranch>(network.branch).sigma2.front();
    if (sigma2 == 0) {
        GreenPoint point{0, 0, true};
        for (const Pole& pole : poles_of(a)) point.g += pole.weight / (omega - pole.place);
        return point;
    }
    const auto poles = poles_of(a);
    return omega.imag() > 0 ? above_axis(poles, sigma2, omega) : on_axis(poles, sigma2, omega.real());
}

}  // namespace spectra::dyson
