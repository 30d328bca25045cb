#include "train/diagnostics.hpp"

#include <gtest/gtest.h>

namespace spectra::train {
namespace {

TEST(Diagnostics, EffectiveRankOfKnownMatrices) {
    EXPECT_NEAR(effective_rank(torch::eye(6)), 1.0, 1e-12);
    const auto rank_one = torch::ones({5, 5});
    EXPECT_NEAR(effective_rank(rank_one), 0.2, 1e-6);
    const auto two = torch::diag(torch::tensor({3.0, 3.0, 0.0, 0.0}));
    EXPECT_NEAR(effective_rank(two), 0.5, 1e-6);
}

TEST(Diagnostics, DefectsAreThoseOfTheFamily) {
    torch::manual_seed(4);
    for (const auto& [mixer, zero, positive] :
         {std::tuple{"bistochastic", "row_sum_defect", "orthogonality_defect"},
          std::tuple{"orthogonal", "orthogonality_defect", "row_sum_defect"}}) {
        auto config = matched_config("mixer", mixer);
        config.layers = 2;
        config.channels = 16;
        config.dimension = 3;
        Transformer model(config);
        {
            const torch::NoGradGuard no_grad;
            for (auto& p : model.parameters()) p.add_(0.5 * torch::randn_like(p));
        }
        bool found_zero = false, found_positive = false;
        for (const auto& d : diagnose(model, torch::randn({2, 6, 3}))) {
            if (d.name == zero) {
                found_zero = true;
                for (const double v : d.values) EXPECT_LT(v, 1e-4) << mixer;
            }
            if (d.name == positive) {
                found_positive = true;
                for (const double v : d.values) EXPECT_GT(v, 1e-3) << mixer;
            }
            EXPECT_EQ(d.values.size(), 4U) << d.name;
        }
        EXPECT_TRUE(found_zero && found_positive);
    }
}

}  // namespace
}  // namespace spectra::train
