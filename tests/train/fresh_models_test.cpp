#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "train/measure.hpp"
#include "train/modules/mixer.hpp"
#include "validation/prediction.hpp"

/// Models that have learned nothing yet: theory must have their Jacobians, whatever the mixer.
namespace spectra::train {
namespace {

using validation::Part;

/// n = 4 streams of p = 64 channels, 12 connections.
ModelConfig fresh(const std::string& architecture, const std::string& mixer) {
    auto config = matched_config(architecture, mixer);
    const bool recursive = architecture == "recursive";
    config.layers = recursive ? 2 : 6;
    config.cycles = recursive ? 3 : 1;
    config.channels = 256;
    config.dimension = 16;
    config.context = 9;
    return config;
}

struct Compared {
    double wasserstein1 = NAN, mixers_alone = NAN;
    std::string doubt;
    bool tied = false;
};

Compared compared(Transformer& model, const torch::Tensor& input) {
    const auto m = measure(model, input);
    std::vector<double> logs;
    for (const double s : m.singular_values) logs.push_back(std::log(s));
    const auto measured = Spectrum::from_log_values(logs);
    const auto distance = [&](const Spectrum& law) { return agreement(law, measured).wasserstein1; };
    const auto full = validation::predict(Part::full, {validation::network_of(m, Part::full)}, 1);
    const auto mixers = validation::predict(Part::mixers, {validation::network_of(m, Part::mixers)}, 1);
    return {distance(full.law), distance(mixers.law), full.certificate.certified ? "" : full.certificate.message,
            std::holds_alternative<TiedBranch>(full.networks.front().branch)};
}

class FreshModel : public ::testing::TestWithParam<std::string> {};

TEST_P(FreshModel, HasTheJacobianOfTheory) {
    at::set_num_threads(1);
    torch::manual_seed(3);
    Transformer model(fresh("mixer", GetParam()));
    const auto c = compared(model, torch::randn({1, 4, 16}));
    EXPECT_EQ(c.doubt, "");
    EXPECT_FALSE(c.tied);
    EXPECT_LT(c.wasserstein1, 0.02);
    EXPECT_GT(c.mixers_alone, 3 * c.wasserstein1);  // the branches do count
}

INSTANTIATE_TEST_SUITE_P(EveryMixer, FreshModel, ::testing::ValuesIn(mixer_names()),
                         [](const auto& instance) {
                             auto name = instance.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(FreshRecursiveModel, HasTheJacobianOfTheoryOfTiedWeights) {
    at::set_num_threads(1);
    torch::manual_seed(3);
    Transformer model(fresh("recursive", "cayley"));
    const auto c = compared(model, torch::randn({1, 4, 16}));
    EXPECT_EQ(c.doubt, "");
    EXPECT_TRUE(c.tied);
    EXPECT_LT(c.wasserstein1, 0.02);
}

}  // namespace
}  // namespace spectra::train
