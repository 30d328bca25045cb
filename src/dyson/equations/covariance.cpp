#include "dyson/equations/covariance.hpp"

#include <algorithm>
#include <cmath>

namespace spectra::dyson {

SquaredLaw::Averages SquaredLaw::at(Complex y) const {
    Averages sum;
    for (const double value : t2) {
        const Complex inverse = 1.0 / (y - value);
        sum.q += inverse;
        sum.dq -= inverse * inverse;
        sum.t += value * inverse;
        sum.dt -= value * inverse * inverse;
    }
    const double weight = 1.0 / static_cast<double>(t2.size());
    sum.q *= weight;
    sum.dq *= weight;
    sum.t *= weight;
    sum.dt *= weight;
    return sum;
}

Covariance covariance_of(const Network& network, SiteHalf half) {
    const auto layers = static_cast<std::size_t>(network.depth());
    const auto n = static_cast<std::size_t>(network.streams);
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(network.streams, network.streams);
    Covariance result;
    result.nu = 1.0 / network.streams;
    result.mean_v.assign(layers, one);
    result.mean_w.assign(layers, one);
    result.strength = sigma2(network);
    if (const auto* hyper = std::get_if<HyperConnectionBranch>(&network.branch)) {
        result.nu = 1;
        std::vector<double> pre, post;
        for (std::size_t l = 0; l < layers; ++l) {
            pre.insert(pre.end(), hyper->pre[l].begin(), hyper->pre[l].end());
            post.insert(post.end(), hyper->post[l].begin(), hyper->post[l].end());
            result.mean_v[l] = hyper->post[l] * hyper->post[l].transpose();
            result.mean_w[l] = hyper->pre[l] * hyper->pre[l].transpose();
        }
        result.draws.push_back({1, Pattern(Pattern::Kind::rank_one, std::move(post)),
                                Pattern(Pattern::Kind::rank_one, std::move(pre))});
    } else if (const auto* activation = std::get_if<ActivationBranch>(&network.branch)) {
        result.strength = activation->sigma_w2;
        for (Eigen::MatrixXd& mean : result.mean_v) mean.setZero();
        SiteDraws sites = half_of(site_draws(network), half);
        for (SiteDraw& draw : sites.draws) {
            for (std::size_t l = 0; l < layers; ++l)
                for (std::size_t i = 0; i < n; ++i)
                    result.mean_v[l].diagonal()(static_cast<Eigen::Index>(i)) +=
                        draw.weight * draw.slope2[l * n + i];
            result.draws.push_back(
                {draw.weight, Pattern(Pattern::Kind::diagonal, std::move(draw.slope2)), Pattern()});
        }
    } else {
        result.draws.emplace_back();
    }
    for (std::size_t l = 0; l < layers; ++l) {
        const std::vector<double> values = branch_law(network, l);
        if (values.empty()) break;
        SquaredLaw law;
        for (const double t : values) law.t2.push_back(t * t);
        result.laws.push_back(std::move(law));
    }
    for (std::size_t l = 0; l < layers; ++l) {
        const double noise =
            result.strength[l] * (result.nu * result.mean_v[l].trace() * result.mean_w[l].trace());
        const double square = (network.mixers[l].squaredNorm() + noise) / network.streams;
        result.unit.push_back(square > 0 ? std::sqrt(square) : 1);
        const double share = noise / (network.streams * result.unit[l] * result.unit[l]);
        result.log_noise.push_back(0.5 * std::log(std::max(1e-300, share)));
    }
    return result;
}

}  // namespace spectra::dyson
