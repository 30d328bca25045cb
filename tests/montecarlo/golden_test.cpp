#include "montecarlo/run/simulate.hpp"
#include "network/from_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace spectra;
using nlohmann::json;

/// Largest relative deviation of the sampled g(ω) = ⟨ω/(ω² − s²)⟩ at Im ω = 0.2.
double deviation(const json& entry, int width, int samples) {
    montecarlo::Options options;
    options.samples = samples;
    options.threads = 2;
    auto network = model_from_json(entry, entry["name"]);
    network.width = width;
    const auto simulated = montecarlo::simulate(network, options);
    double worst = 0;
    int points = 0;
    for (std::size_t k = 0; k < entry["omega"].size(); ++k) {
        const std::complex<double> omega(entry["omega"][k][0], entry["omega"][k][1]);
        if (omega.imag() != 0.2) continue;
        ++points;
        std::complex<double> g = 0;
        for (const double log_s : simulated.log_values) g += omega / (omega * omega - std::exp(2 * log_s));
        g /= static_cast<double>(simulated.log_values.size());
        const std::complex<double> exact(entry["g"][k][0], entry["g"][k][1]);
        worst = std::max(worst, std::abs(g - exact) / std::abs(exact));
    }
    EXPECT_GE(points, 4);
    return worst;
}

// 65 is a multiple of the five singular values of the golden laws. The limit's bias, O(1/p), is 0.5 % at this
// width; six samples are as uncertain. What fluctuates more is how many of N neurons are active: four times
// as many samples.
TEST(Golden, EveryBranchHasItsLimitAtLargeWidth) {
    std::ifstream file(SPECTRA_DATA_DIR "/golden/chain.json");
    const auto golden = json::parse(file);
    int cases = 0;
    for (const auto& entry : golden["cases"]) {
        const std::string name = entry["name"];
        if (entry["depth"] > 2 || name.rfind("isotropic/", 0) == 0) continue;
        ++cases;
        const int samples = name.rfind("activation", 0) == 0 ? 24 : 6;
        EXPECT_LT(deviation(entry, 65, samples), 0.01) << name;
    }
    EXPECT_EQ(cases, 18);
}

}  // namespace
