#include "montecarlo/rounding.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace spectra::montecarlo {

Expectation expectation(const std::vector<Layer>& layers) {
    Expectation out;
    if (layers.empty()) return out;
    const auto n = layers.front().mixer.rows();
    const double size = static_cast<double>(n);
    Eigen::MatrixXd square = Eigen::MatrixXd::Identity(n, n);  // T
    Eigen::MatrixXd error = Eigen::MatrixXd::Zero(n, n);       // R
    double log_scale = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const auto& [mixer, sigma, exponent] = layers[l];
        const double variance = sigma * sigma;
        const double square_noise = variance * square.trace() / size;
        const double error_noise = variance * error.trace() / size;
        square = mixer * square * mixer.transpose();
        square.diagonal().array() += square_noise;
        error = mixer * error * mixer.transpose();
        error.diagonal().array() += error_noise;
        if (l > 0) error.diagonal() += square.diagonal();

        const double trace = square.trace() / size;
        if (!(trace > 0)) return {-std::numeric_limits<double>::infinity(), 1};
        square /= trace;
        error /= trace;
        log_scale += std::log(trace) + 2 * exponent * std::numbers::ln2;
    }
    out.log_mean_square = log_scale;
    out.rounding = std::sqrt(1 + error.trace() / square.trace());
    return out;
}

double log_floor(double log_frobenius_norm, double rounding) {
    constexpr double unit = std::numeric_limits<double>::epsilon() / 2;
    return log_frobenius_norm + std::log(4 * unit * rounding);
}

}  // namespace spectra::montecarlo
