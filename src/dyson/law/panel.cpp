#include "dyson/law/panel.hpp"

#include <boost/math/special_functions/legendre.hpp>

#include <cmath>

namespace spectra::dyson::panel {
namespace {

Rule make_rule() {
    Rule r;
    const auto zeros = boost::math::legendre_p_zeros<double>(static_cast<int>(nodes));  // non-negative ones
    static_assert(nodes % 2 == 0);
    for (std::size_t i = 0; i < nodes / 2; ++i) {
        r.place[nodes / 2 + i] = zeros[i];
        r.place[nodes / 2 - 1 - i] = -zeros[i];
    }
    for (std::size_t i = 0; i < nodes; ++i) {
        const double t = r.place[i];
        const double d = boost::math::legendre_p_prime(static_cast<int>(nodes), t);
        r.weight[i] = 2 / ((1 - t * t) * d * d);
        double product = 1;
        for (std::size_t j = 0; j < nodes; ++j)
            if (j != i) product *= r.place[i] - r.place[j];
        r.barycentric[i] = 1 / product;
    }
    for (std::size_t k = 0; k < nodes; ++k)
        for (std::size_t j = 0; j < nodes; ++j)
            r.coefficient[k][j] = (2 * static_cast<double>(k) + 1) / 2 * r.weight[j] *
                                  boost::math::legendre_p(static_cast<int>(k), r.place[j]);
    // ∫_{−1}^t P_k = (P_{k+1}(t) − P_{k−1}(t))/(2k+1), and t + 1 for k = 0.
    for (std::size_t i = 0; i < nodes; ++i) {
        const double t = r.place[i];
        for (std::size_t k = 0; k < nodes; ++k) {
            const int degree = static_cast<int>(k);
            const double integral =
                k == 0 ? t + 1
                       : (boost::math::legendre_p(degree + 1, t) - boost::math::legendre_p(degree - 1, t)) /
                             (2 * static_cast<double>(k) + 1);
            for (std::size_t j = 0; j < nodes; ++j) r.cumulative[i][j] += r.coefficient[k][j] * integral;
        }
    }
    return r;
}

}  // namespace

const Rule& rule() {
    static const Rule instance = make_rule();
    return instance;
}

double truncation(const std::array<double, nodes>& values) {
    const Rule& r = rule();
    double sum = 0;
    for (std::size_t k = nodes - 3; k < nodes; ++k) {
        double c = 0;
        for (std::size_t j = 0; j < nodes; ++j) c += r.coefficient[k][j] * values[j];
        sum += std::abs(c);
    }
    return sum;
}

std::array<double, nodes> interpolation(double t) {
    const Rule& r = rule();
    std::array<double, nodes> w{};
    double sum = 0;
    for (std::size_t j = 0; j < nodes; ++j) {
        const double distance = t - r.place[j];
        if (distance == 0) {
            w.fill(0);
            w[j] = 1;
            return w;
        }
        w[j] = r.barycentric[j] / distance;
        sum += w[j];
    }
    for (double& value : w) value /= sum;
    return w;
}

}  // namespace spectra::dyson::panel
