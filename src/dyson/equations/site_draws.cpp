#include "dyson/equations/site_draws.hpp"

#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace spectra::dyson {
namespace {

constexpr std::size_t max_enumerated = 12;  // 2^12 chains

/// Splitmix64: sufficient for shuffling, and the same on every machine.
class Shuffler {
public:
    std::size_t below(std::size_t bound) {
        state_ += 0x9E3779B97F4A7C15ull;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return static_cast<std::size_t>((z ^ (z >> 31)) % bound);
    }

private:
    std::uint64_t state_ = 0;
};

std::size_t sample_size(std::size_t layers) {
    return std::clamp<std::size_t>(4096 / layers, 64, 1024) / 2 * 2;
}

/// The value of φ'² at the given quantile of h.
double slope2_at(const Activation& activation, const SlopeLaw& law, double q, double quantile) {
    if (law.exact) {
        double below = 0;
        for (std::size_t k = 0; k + 1 < law.value.size(); ++k) {
            below += law.probability[k];
            if (quantile < below) return law.value[k];
        }
        return law.value.back();
    }
    const double h = std::sqrt(q) * boost::math::quantile(boost::math::normal(), quantile);
    const double slope = derivative(activation, h);
    return slope * slope;
}

}  // namespace

SiteDraws site_draws(const Network& network) {
    const auto& branch = std::get<ActivationBranch>(network.branch);
    const auto layers = static_cast<std::size_t>(network.depth());
    const auto n = static_cast<std::size_t>(network.streams);
    const auto q = [&](std::size_t l) {
        return branch.preactivation_variance.empty() ? 1.0 : branch.preactivation_variance[l];
    };
    std::vector<SlopeLaw> laws;
    bool constant = true, two_valued = true;
    for (std::size_t l = 0; l < layers; ++l) {
        laws.push_back(slope_law(branch.activation, q(l)));
        constant = constant && laws[l].exact && laws[l].value.size() == 1;
        two_valued = two_valued && laws[l].exact && laws[l].value.size() <= 2;
    }
    SiteDraws result;
    if (constant || (two_valued && layers * n <= max_enumerated)) {
        const std::size_t sites = layers * n;
        const std::size_t count = constant ? 1 : std::size_t{1} << sites;
        for (std::size_t k = 0; k < count; ++k) {
            SiteDraw draw;
            draw.slope2.resize(sites);
            for (std::size_t s = 0; s < sites; ++s) {
                const SlopeLaw& law = laws[s / n];
                const std::size_t bit = constant ? 0 : (k >> s) & 1u;
                const std::size_t which = std::min(bit, law.value.size() - 1);
                const bool repeated = law.value.size() == 1 && bit == 1;
                draw.weight *= repeated ? 0 : law.probability[which];
                draw.slope2[s] = law.value[which];
            }
            if (draw.weight > 0) result.draws.push_back(std::move(draw));
        }
        return result;
    }
    // Latin hypercube: every site takes each of K quantiles once, in its own order.
    result.exact = false;
    const std::size_t count = sample_size(layers);
    result.draws.resize(count);
    for (SiteDraw& draw : result.draws) {
        draw.weight = 1.0 / static_cast<double>(count);
        draw.slope2.resize(layers * n);
    }
    Shuffler shuffler;
    std::vector<double> column(count);
    for (std::size_t l = 0; l < layers; ++l) {
        double mean = 0;
        for (std::size_t k = 0; k < count; ++k) {
            column[k] = slope2_at(branch.activation, laws[l], q(l),
                                  (static_cast<double>(k) + 0.5) / static_cast<double>(count));
            mean += column[k] / static_cast<double>(count);
        }
        const double exact = mean_derivative2(branch.activation, q(l));
        if (mean > 0)
            for (double& value : column) value *= exact / mean;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = count; k > 1; --k) std::swap(column[k - 1], column[shuffler.below(k)]);
            for (std::size_t k = 0; k < count; ++k) result.draws[k].slope2[l * n + i] = column[k];
        }
    }
    return result;
}

SiteDraws half_of(SiteDraws draws, SiteHalf half) {
    if (half == SiteHalf::both || draws.exact) return draws;
    SiteDraws result;
    result.exact = false;
    for (std::size_t k = half == SiteHalf::first ? 0 : 1; k < draws.draws.size(); k += 2) {
        result.draws.push_back(std::move(draws.draws[k]));
        result.draws.back().weight *= 2;
    }
    return result;
}

}  // namespace spectra::dyson
