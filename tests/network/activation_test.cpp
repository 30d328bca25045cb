#include "network/activation.hpp"

#include "support/expect_refused.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

namespace spectra {
namespace {

using testing::expect_refused;
using Real = long double;
using Function = std::function<Real(Real)>;

/// φ and φ' written down again, in more digits.
struct Reference {
    const char* name;
    Function value, derivative;
};

Real phi_cdf(Real h) {
    return std::erfc(-h / std::numbers::sqrt2_v<Real>) / 2;
}
Real phi_density(Real h) {
    return std::exp(-h * h / 2) / std::sqrt(2 * std::numbers::pi_v<Real>);
}
Real logistic(Real h) {
    return 1 / (1 + std::exp(-h));
}

const std::vector<Reference>& references() {
    static const std::vector<Reference> all{
        {"linear", [](Real h) { return h; }, [](Real) { return 1.0L; }},
        {"relu", [](Real h) { return h > 0 ? h : 0; }, [](Real h) { return h > 0 ? 1.0L : 0.0L; }},
        {"leaky-relu", [](Real h) { return h > 0 ? h : h * 0.01; },
         [](Real h) { return h > 0 ? Real(1) : Real(0.01); }},
        {"tanh", [](Real h) { return std::tanh(h); }, [](Real h) { return 1 / std::pow(std::cosh(h), 2); }},
        {"hard-tanh", [](Real h) { return h > 1    ? 1
                                          : h < -1 ? -1
                                                   : h; },
         [](Real h) { return std::abs(h) < 1 ? 1.0L : 0.0L; }},
        {"erf", [](Real h) { return std::erf(h); },
         [](Real h) { return 2 * std::exp(-h * h) / std::sqrt(std::numbers::pi_v<Real>); }},
        {"gelu", [](Real h) { return h * phi_cdf(h); },
         [](Real h) { return phi_cdf(h) + h * phi_density(h); }},
        {"silu", [](Real h) { return h * logistic(h); },
         [](Real h) { return logistic(h) + h * logistic(h) * logistic(-h); }},
    };
    return all;
}

/// E f(h), h ~ N(0, q), by Gauss–Kronrod panels that end at every scale and kink.
Real expectation(const Function& f, double q) {
    const Real deviation = std::sqrt(Real(q));
    std::vector<Real> ends{0};
    for (Real end = deviation * 1e-3L; end < 13 * deviation; end *= 2) ends.push_back(end);
    for (Real end = 0x1p-10L; end < 128; end *= 2) ends.push_back(end);
    ends.push_back(13 * deviation);
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    const auto even = [&](Real h) {
        return (f(h) + f(-h)) * std::exp(-h * h / (2 * Real(q))) /
               (deviation * std::sqrt(2 * std::numbers::pi_v<Real>));
    };
    Real sum = 0;
    for (std::size_t k = 1; k < ends.size() && ends[k - 1] < 13 * deviation; ++k)
        sum += boost::math::quadrature::gauss_kronrod<Real, 61>::integrate(even, ends[k - 1], ends[k], 0);
    return sum;
}

constexpr double variances[] = {1e-6, 1e-4, 0.01, 0.1, 0.24, 0.26, 1, 2.5, 3.99, 4.01, 10, 22, 24, 100, 1e4};

TEST(Activation, ValuesAndSlopesAreTheirDefinitions) {
    for (const auto& reference : references()) {
        const Activation activation = activation_from_name(reference.name);
        for (const double h : {-30.0, -3.0, -0.99, -0.3, 1e-9, 0.2, 0.99, 1.5, 6.0, 40.0}) {
            const Real value_of = reference.value(h), slope = reference.derivative(h);
            EXPECT_NEAR(value(activation, h), double(value_of), 1e-15 * std::max(1.0, std::abs(h)))
                << reference.name << " at " << h;
            EXPECT_NEAR(derivative(activation, h), double(slope), 1e-15) << reference.name << " at " << h;
        }
        for (const double h : {-1000.0, 1000.0}) {
            EXPECT_TRUE(std::isfinite(value(activation, h))) << reference.name;
            EXPECT_TRUE(std::isfinite(derivative(activation, h))) << reference.name;
        }
    }
}

TEST(Activation, SlopesAreDerivatives) {
    for (const auto& name : activation_names()) {
        const Activation activation = activation_from_name(name);
        for (const double h : {-2.3, -0.7, 0.4, 1.9}) {
            const double d = 1e-5;
            EXPECT_NEAR(derivative(activation, h),
                        (value(activation, h + d) - value(activation, h - d)) / (2 * d), 1e-9)
                << name;
        }
    }
}

TEST(Activation, GaussianMeansAreThoseOfQuadrature) {
    for (const auto& reference : references()) {
        const Activation activation = activation_from_name(reference.name);
        for (const double q : variances) {
            SCOPED_TRACE(std::string(reference.name) + ", q = " + std::to_string(q));
            const auto expect = [&](double found, Real exact) {
                EXPECT_NEAR(found, double(exact), 1e-13 * std::abs(double(exact)));
            };
            const auto squared = [](const Function& f) { return [&f](Real h) { return f(h) * f(h); }; };
            expect(mean_square(activation, q), expectation(squared(reference.value), q));
            expect(mean_derivative2(activation, q), expectation(squared(reference.derivative), q));
            const Real exact = expectation(reference.value, q);
            if (std::abs(exact) < 1e-18L)
                EXPECT_EQ(mean(activation, q), 0) << "odd";
            else
                expect(mean(activation, q), exact);
        }
    }
}

/// Leading terms for q → 0, φ = φ'(0)h + ½φ''(0)h², and for q → ∞, φ → relu, sign or ½h + ½|h|.
TEST(Activation, LimitsOfTinyAndHugeVariance) {
    const auto of = [](const char* name) { return activation_from_name(name); };
    for (const double q : {1e-12, 1e-30, 1e-100}) {
        for (const char* name : {"tanh", "hard-tanh"}) {
            EXPECT_NEAR(mean_square(of(name), q) / q, 1, 3e-12 + 3 * q) << name;
            EXPECT_NEAR(mean_derivative2(of(name), q), 1, 3e-12) << name;
        }
        EXPECT_NEAR(mean_square(of("erf"), q) / q, 4 / std::numbers::pi, 1e-11);
        EXPECT_NEAR(mean_square(of("silu"), q) / q, 0.25, 1e-11);
        EXPECT_NEAR(mean(of("silu"), q) / q, 0.25, 1e-11) << "½φ''(0) = ¼";
        EXPECT_NEAR(mean(of("gelu"), q) / q, 1 / std::sqrt(2 * std::numbers::pi), 1e-11);
        EXPECT_NEAR(mean_derivative2(of("silu"), q), 0.25, 1e-11);
    }
    for (const double q : {1e12, 1e30, 1e100}) {
        const double root = std::sqrt(q), density = 1 / (root * std::sqrt(2 * std::numbers::pi));
        for (const char* name : {"tanh", "hard-tanh", "erf"})
            EXPECT_NEAR(mean_square(of(name), q), 1, 2e-6) << name;
        // ∫ φ'² dh times the density of h at zero.
        EXPECT_NEAR(mean_derivative2(of("tanh"), q) / density, 4.0 / 3, 1e-11);
        EXPECT_NEAR(mean_derivative2(of("hard-tanh"), q) / density, 2, 1e-11);
        EXPECT_NEAR(mean_derivative2(of("erf"), q) / density,
                    4 / std::numbers::pi * std::sqrt(std::numbers::pi / 2), 1e-11);
        for (const char* name : {"silu", "gelu"}) {
            EXPECT_NEAR(mean_square(of(name), q) / q, 0.5, 1e-11) << name;
            EXPECT_NEAR(mean(of(name), q) / root, 1 / std::sqrt(2 * std::numbers::pi), 1e-11) << name;
            EXPECT_NEAR(mean_derivative2(of(name), q), 0.5, 2e-6) << name;
        }
    }
    for (const auto& name : activation_names()) {
        EXPECT_EQ(mean(of(name.c_str()), 0), 0) << name;
        EXPECT_EQ(mean_square(of(name.c_str()), 0), 0) << name;
        const double slope = derivative(of(name.c_str()), 0);
        if (depends_on_variance(of(name.c_str()))) {
            EXPECT_NEAR(mean_derivative2(of(name.c_str()), 0), slope * slope, 1e-15) << name;
        }
    }
}

TEST(Activation, TwoValuedLawsAreExact) {
    const auto law = [](const Activation& a, double q) { return slope_law(a, q); };
    using List = std::vector<double>;
    EXPECT_EQ(law(activation_from_name("linear"), 3).value, List{1});
    EXPECT_EQ(law(activation_from_name("relu"), 3).value, (List{0, 1}));
    EXPECT_EQ(law(activation_from_name("relu"), 3).probability, (List{0.5, 0.5}));
    EXPECT_EQ(law(activation_from_name("leaky-relu"), 3).value, (List{1e-4, 1}));
    EXPECT_EQ(law({ActivationKind::bernoulli, 0.25}, 3).probability, (List{0.75, 0.25}));
    EXPECT_EQ(law({ActivationKind::bernoulli, 1}, 3).value, List{1});
    const auto hard = law(activation_from_name("hard-tanh"), 1);
    EXPECT_EQ(hard.value, (List{0, 1}));
    EXPECT_NEAR(hard.probability[1], 0.6826894921370859, 1e-15) << "within one deviation";
    EXPECT_EQ(law(activation_from_name("hard-tanh"), 0).value, List{1});
    for (const char* name : {"linear", "relu", "leaky-relu", "hard-tanh"})
        EXPECT_TRUE(law(activation_from_name(name), 1).exact) << name;
    for (const char* name : {"linear", "relu", "leaky-relu"}) {
        EXPECT_FALSE(depends_on_variance(activation_from_name(name)));
        EXPECT_NO_THROW(law(activation_from_name(name), std::nan("")));
    }
}

/// The Gauss rule is exact for powers of φ'² below twice its nodes, and close for what a resolvent asks.
TEST(Activation, SmoothLawsMatchTheirMoments) {
    for (const char* name : {"tanh", "erf", "gelu", "silu"}) {
        const auto& reference = *std::find_if(references().begin(), references().end(),
                                              [&](const auto& r) { return std::string(r.name) == name; });
        for (const double q : {1e-6, 0.01, 0.3, 1.0, 5.0, 30.0, 1e4}) {
            SCOPED_TRACE(std::string(name) + ", q = " + std::to_string(q));
            for (const int points : {1, 2, 5, 16}) {
                const SlopeLaw law = slope_law(activation_from_name(name), q, points);
                EXPECT_FALSE(law.exact);
                ASSERT_EQ(law.value.size(), law.probability.size());
                EXPECT_LE(law.value.size(), static_cast<std::size_t>(points));
                EXPECT_TRUE(std::is_sorted(law.value.begin(), law.value.end()));
                EXPECT_GE(law.value.front(), 0);
                EXPECT_GT(*std::min_element(law.probability.begin(), law.probability.end()), 0);
                const auto mean_of = [&](const std::function<double(double)>& f) {
                    double sum = 0;
                    for (std::size_t k = 0; k < law.value.size(); ++k)
                        sum += law.probability[k] * f(law.value[k]);
                    return sum;
                };
                EXPECT_NEAR(mean_of([](double) { return 1.0; }), 1, 1e-14);
                for (int power = 1; power < std::min(2 * points, 8); ++power) {
                    const Real exact =
                        expectation([&](Real h) { return std::pow(reference.derivative(h), 2 * power); }, q);
                    EXPECT_NEAR(mean_of([&](double v) { return std::pow(v, power); }), double(exact),
                                1e-13 * std::max(1.0, double(exact)))
                        << points << " points, power " << power;
                }
                if (points == 16) {
                    const Real exact = expectation(
                        [&](Real h) { return 1 / (0.5L + std::pow(reference.derivative(h), 2)); }, q);
                    EXPECT_NEAR(mean_of([](double v) { return 1 / (0.5 + v); }), double(exact), 1e-12);
                }
            }
        }
    }
    const SlopeLaw still = slope_law(activation_from_name("silu"), 0);
    EXPECT_EQ(still.value, std::vector<double>{0.25});
}

TEST(Activation, NamesAreReadBack) {
    EXPECT_EQ(activation_names().size(), 8U);
    for (const auto& text : activation_names()) EXPECT_EQ(name(activation_from_name(text)), text);
    EXPECT_EQ(name(Activation{ActivationKind::bernoulli, 0.5}), "bernoulli");
    for (const char* bad : {"bernoulli", "ReLU", "", "swish"})
        expect_refused(
            [&] { activation_from_name(bad); },
            {std::string("'") + bad + "'", "linear, relu, leaky-relu, tanh, hard-tanh, erf, gelu, silu"});
}

TEST(Activation, RefusesWhatIsNotDefined) {
    const Activation bernoulli{ActivationKind::bernoulli, 0.3};
    EXPECT_EQ(mean_derivative2(bernoulli, 1), 0.3);
    expect_refused([&] { value(bernoulli, 1); }, {"bernoulli"});
    expect_refused([&] { derivative(bernoulli, 1); }, {"bernoulli"});
    expect_refused([&] { mean(bernoulli, 1); }, {"bernoulli"});
    expect_refused([&] { mean_square(bernoulli, 1); }, {"bernoulli"});
    const Activation tanh = activation_from_name("tanh");
    for (const double bad : {-1e-9, std::nan(""), std::numeric_limits<double>::infinity()}) {
        expect_refused([&] { mean(tanh, bad); }, {"variance", "must be"});
        expect_refused([&] { mean_square(tanh, bad); }, {"variance", "must be"});
        expect_refused([&] { mean_derivative2(tanh, bad); }, {"variance", "must be"});
        expect_refused([&] { slope_law(tanh, bad); }, {"variance", "must be"});
    }
    expect_refused([&] { slope_law(tanh, 1, 0); }, {"points"});
}

}  // namespace
}  // namespace spectra
