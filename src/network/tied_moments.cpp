#include "network/tied_moments.hpp"

#include <cmath>
#include <utility>

namespace spectra {

TiedMoments tied_moments(const std::vector<Mixer>& mixers, const MixedCovariance& branches) {
    const auto n = mixers.front().rows();
    TiedMoments out{{Eigen::MatrixXd::Identity(n, n)}, {0}};
    // T_{k,m}/(c_k c_m) for m ≤ k, row by row, c_k² = tr_n T_{k,k}: ratios of size one at any depth.
    std::vector<double> log_c{0};
    std::vector<Eigen::MatrixXd> row = out.square;
    for (std::size_t k = 1; k <= mixers.size(); ++k) {
        const Mixer& a = mixers[k - 1];
        std::vector<Eigen::MatrixXd> next(k + 1);
        next[0] = a * row[0];
        const auto fill = [&](std::size_t m, const Eigen::MatrixXd& above, double step) {
            next[m] = a * above + step * ((next[m - 1] - a * row[m - 1]) * mixers[m - 1].transpose() +
                                          branches(k, m, row[m - 1]));
        };
        for (std::size_t m = 1; m < k; ++m) fill(m, row[m], std::exp(log_c[m - 1] - log_c[m]));
        // T_{k−1,k} is the transpose of the entry just found; column k still has the scale of column k − 1.
        fill(k, next[k - 1].transpose().eval(), 1);
        const double size = next[k].trace() / static_cast<double>(n);
        if (!(size > 0)) return out;
        const double c = std::sqrt(size);
        for (std::size_t m = 0; m < k; ++m) next[m] /= c;
        next[k] /= size;
        log_c.push_back(log_c.back() + std::log(c));
        out.square.push_back(next[k]);
        out.log_scale.push_back(2 * log_c.back());
        row = std::move(next);
    }
    return out;
}

}  // namespace spectra
