#include "dyson/law/density.hpp"

#include "dyson/solve/tracker.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>

namespace spectra::dyson {
namespace {

constexpr double rate = 0.5;  // of the tails of both bands, per e-fold
constexpr double lower_band = -200, upper_band = 0;

/// ½ (rate/4) / cosh²(rate (x − centre)/2): half of the mass, with tails ½ rate e^{−rate |x − centre|}.
double half_of_the_mass(double x, double centre) {
    const double c = std::cosh(std::min(300.0, rate * std::abs(x - centre) / 2));
    return rate / 8 / (c * c);
}

/// A law of two bands whose density per ln s is known, in place of a deep chain: at ω = e^x (1 + it) its
/// unknown is −(π/2) i (density(x) + t). Newton's step is wrong by noise/density, as rounding leaves it in
/// the tails of a chain of ten thousand layers. There may be more unknowns, all of them the same: one is
/// kept.
class TwoBands final : public Equation {
public:
    TwoBands(Eigen::Index unknowns, double noise, double hole = -std::numeric_limits<double>::infinity())
        : unknowns_(unknowns), noise_(noise), hole_(hole) {}

    std::unique_ptr<Equation> clone() const override { return std::make_unique<TwoBands>(*this); }
    Eigen::Index size() const override { return unknowns_; }
    Unknowns far(const Frequency& omega) const override { return exact(omega); }

    bool newton_step(const Frequency& omega, const Unknowns& m, Unknowns& delta) override {
        const Complex right = exact(omega)(0);
        const bool lost = omega.direction.imag() == 0 && omega.log_scale < hole_;
        const double error = lost ? 0.1 : noise_ / std::abs(right) * random(m(0).imag(), omega.log_scale);
        delta = Unknowns::Constant(1, std::log(right / m(0)) + error);
        return true;
    }
    Unknowns moved(const Unknowns& m, const Unknowns& delta, double fraction) const override {
        return Unknowns::Constant(1, m(0) * std::exp(fraction * delta(0)));
    }
    Unknowns mix(const std::vector<const Unknowns*>& values, const double* weights) const override {
        Complex sum = 0;
        for (std::size_t k = 0; k < values.size(); ++k) sum += weights[k] * std::log((*values[k])(0));
        return Unknowns::Constant(1, std::exp(sum));
    }
    bool admissible(const Frequency&, const Unknowns& m, double slack) const override {
        return m(0).imag() < -slack * std::abs(m(0));
    }
    bool stable_in_gap(const Frequency&, const Unknowns&) override { return false; }
    Complex scaled_green(const Frequency&, const Unknowns& m) const override { return m(0); }
    double passes() const override { return 0; }

private:
    Unknowns exact(const Frequency& omega) const {
        const double x = omega.log_scale, tilt = omega.direction.imag() / omega.direction.real();
        const double density = half_of_the_mass(x, lower_band) + half_of_the_mass(x, upper_band);
        return Unknowns::Constant(1, Complex(0, -std::numbers::pi / 2 * (density + tilt)));
    }

    /// In [−1, 1], by the bits.
    static double random(double a, double b) {
        std::uint64_t z =
            std::bit_cast<std::uint64_t>(a) * 0x9e3779b97f4a7c15u + std::bit_cast<std::uint64_t>(b);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return static_cast<double>(static_cast<std::int64_t>(z ^ (z >> 31))) * 0x1p-63;
    }

    Eigen::Index unknowns_;
    double noise_;
    double hole_;  ///< below it nothing at real ω can be solved
};

SolvedLaw solve_two_bands(const TwoBands& equation, int threads = 1) {
    SupportBounds range;
    range.log_upper = 60;
    range.log_lower = -std::numeric_limits<double>::infinity();
    range.log_seeds = {upper_band, lower_band};
    const Tracker tracker(equation.clone(), range.log_upper, {upper_band, lower_band});
    DensityOptions options;
    options.threads = threads;
    return solve_density(tracker, range, {}, options);
}

TEST(Density, OfTwoBandsWithoutRounding) {
    const SolvedLaw law = solve_two_bands(TwoBands(3, 0));
    EXPECT_TRUE(law.certified) << law.message;
    EXPECT_LT(law.mass_error, 1e-8);
    EXPECT_LT(law.cut, 1e-8);
}

// Rounding hides the tails from 1e-6 of the mass on: cut there, the power law accounts for the rest.
TEST(Density, ATailThatRoundingHidesIsCutAndAccountedFor) {
    const SolvedLaw law = solve_two_bands(TwoBands(3, 1e-12));
    EXPECT_TRUE(law.certified) << law.message;
    EXPECT_EQ(law.uncertified, 0);
    EXPECT_LT(law.mass_error, 1e-7);
    EXPECT_GT(law.cut, 1e-7);  // otherwise this tests nothing
    EXPECT_LT(law.cut, 6e-6);
    ASSERT_EQ(law.density.support.size(), 2u);
    // The law has that mass too: on average where the bands are, and below every place.
    const Spectrum spectrum = Spectrum::from_density(law.density);
    EXPECT_NEAR(spectrum.mass(), 1, 1e-7);
    EXPECT_NEAR(spectrum.expectation([](double x) { return x; }), (lower_band + upper_band) / 2, 1e-5);
    EXPECT_NEAR(spectrum.cdf((lower_band + upper_band) / 2), 0.5, 6e-6);
    EXPECT_NEAR(law.density.cumulative.back(), 1, 1e-6);
    for (std::size_t k = 0; k < law.density.log_s.size(); ++k) {
        const double x = law.density.log_s[k];
        const double exact = half_of_the_mass(x, lower_band) + half_of_the_mass(x, upper_band);
        EXPECT_NEAR(law.density.density_log[k] / exact, 1, 1e-4) << x;
    }
}

// Where it hides more, the power law takes over where points are lost, from at most a hundred-thousandth of the mass on; not
// from where more is left.
TEST(Density, ATailIsCutWherePointsAreLostIfLittleIsLeft) {
    for (const double noise : {2e-12, 6e-12, 2e-11}) {
        const SolvedLaw law = solve_two_bands(TwoBands(3, noise));
        EXPECT_TRUE(law.certified) << noise << ": " << law.message;
        EXPECT_LT(law.mass_error, 1e-7) << noise;
        EXPECT_GT(law.cut, 6e-6) << noise;
        EXPECT_LT(law.cut, 3e-5) << noise;
        const Spectrum spectrum = Spectrum::from_density(law.density);
        EXPECT_NEAR(spectrum.expectation([](double x) { return x; }), (lower_band + upper_band) / 2, 1e-4);
    }
    EXPECT_FALSE(solve_two_bands(TwoBands(3, 1e-10)).certified);
}

// A deep law of which half cannot be solved is refused after bounded work, whatever the number of threads.
TEST(Density, TheWorkOfALostLawIsBounded) {
    const TwoBands equation(20001, 0, lower_band);
    const SolvedLaw one = solve_two_bands(equation, 1);
    EXPECT_FALSE(one.certified);
    EXPECT_NE(one.message, "certified");
    EXPECT_LT(one.newton_steps, 10000) << one.message;
    const SolvedLaw two = solve_two_bands(equation, 2);
    EXPECT_EQ(one.newton_steps, two.newton_steps);
    EXPECT_EQ(one.message, two.message);
}

}  // namespace
}  // namespace spectra::dyson
