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

bool SquaredLaw::is_single() const {
    return t2.front() > 0 &&
           std::all_of(t2.begin(), t2.end(), [&](double value) { return value == t2.front(); });
}

SquaredLaw::Point SquaredLaw::point(Complex unknown, Complex u) const {
    Point point;
    if (is_single()) {
        const Complex x = unknown, square = t2.front() * u, slope = x * (2.0 * x - 1.0);
        point.gain = square / slope;
        point.own = (square - x * (x - 1.0)) / slope;
        point.f = t2.front() / x;
        point.answer = -point.f * point.gain;
        point.source = -point.f * point.own;
        return point;
    }
    const Complex y = unknown;
    const auto average = at(y);
    // ln u = ln(Y q²)
    const Complex slope = 1.0 + 2.0 * y * average.dq / average.q;
    const Complex defect = u / (y * average.q * average.q) - 1.0;
    point.gain = 1.0 / slope;
    point.own = defect / slope;
    point.f = average.t / u;
    // δf = (Y T'/u) η − f (δ ln a + δ ln b)
    const Complex by_y = y * average.dt / u;
    point.answer = by_y * point.gain - point.f;
    point.source = by_y * point.own;
    return point;
}

double SquaredLaw::nearest(Complex y) const {
    constexpr double dominance = 3;  // over the other values
    if (is_single()) return 0;
    double value = 0, least = 0.5;  // of itself
    Complex all = 0;
    for (const double candidate : t2) {
        const Complex term = 1.0 / (y - candidate);
        all += term;
        const double distance = std::abs(y - candidate) / candidate;
        if (distance < least) value = candidate, least = distance;
    }
    if (!(value > 0)) return 0;
    const Complex own = 1.0 / (y - value);
    return std::abs(own) > dominance * std::abs(all - own) ? value : 0;
}

Complex SquaredLaw::step(Complex unknown, Complex change) const {
    const double value = nearest(unknown);
    return value > 0 ? -change * value / (unknown - value) : change;
}

Complex SquaredLaw::moved(Complex unknown, Complex step) const {
    const double value = nearest(unknown);
    if (!(value > 0)) return unknown * std::exp(step);
    // X − 1 = t²/(Y − t²)
    const Complex before = value / (unknown - value),
                  after = before + (before + 1.0) * (std::exp(step) - 1.0);
    return value + value / after;
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
