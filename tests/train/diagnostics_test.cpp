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
            const bool whole = d.name == "rank_preservation" || d.name == "rank_decay";
            EXPECT_EQ(d.values.size(), whole                       ? 1U
                                       : d.name == "sequence_rank" ? 3U
                                       : d.name == "position_norm" ? 6U
                                                                   : 4U)
                << d.name;
        }
        EXPECT_TRUE(found_zero && found_positive);
    }
}

std::vector<double> named(const std::vector<Diagnostic>& all, const std::string& name) {
    for (const auto& d : all)
        if (d.name == name) return d.values;
    ADD_FAILURE() << name;
    return {};
}

Transformer stirred(const std::string& architecture, const std::string& mixer = "") {
    torch::manual_seed(4);
    auto config = matched_config(architecture, mixer);
    config.layers = 2;
    config.channels = 16;
    config.dimension = 3;
    Transformer model(config);
    const torch::NoGradGuard no_grad;
    for (auto& p : model.parameters()) p.add_(0.5 * torch::randn_like(p));
    return model;
}

// Row maxima, dominance and the sums of the product, matrix by matrix.
TEST(Diagnostics, MixersAreThoseOfPlainLoops) {
    auto model = stirred("mixer", "hyper");
    const torch::NoGradGuard no_grad;
    const auto x = torch::randn({2, 6, 3});
    const auto all = diagnose(model, x);
    std::size_t sublayer = 0;
    std::vector<torch::Tensor> products(12, torch::eye(4, torch::kDouble));
    model.walk(
        model.embed(x), [&](Connection& connection, const torch::Tensor& before, const torch::Tensor& after) {
            const auto matrices = connection.mixing(before).matrix.to(torch::kDouble).flatten(0, 1);
            std::vector<double> maxima;
            double dominant = 0, rows = 0, columns = 0, cosine = 0, negative = 0, fractional = 0;
            for (int64_t t = 0; t < 12; ++t) {
                const auto a = matrices[t];
                bool diagonal = true;
                for (int64_t i = 0; i < 4; ++i) {
                    maxima.push_back(a[i].max().item<double>());
                    for (int64_t j = 0; j < 4; ++j) {
                        const double entry = a[i][j].item<double>();
                        diagonal = diagonal && a[i][i].item<double>() >= entry;
                        negative += entry < -0.01 ? 1.0 / (12 * 16) : 0.0;
                        fractional += std::abs(entry) > 0.05 && std::abs(entry - 1) > 0.05 ? 1.0 / (12 * 16) : 0.0;
                    }
                }
                dominant += diagonal ? 1.0 / 12 : 0.0;
                auto& product = products[static_cast<std::size_t>(t)];
                product = torch::matmul(a, product);
                for (int64_t i = 0; i < 4; ++i) {
                    rows = std::max(rows, std::abs(product[i].sum().item<double>()));
                    columns = std::max(columns, std::abs(product.select(1, i).sum().item<double>()));
                }
                const auto mixed = torch::matmul(a, before.flatten(0, 1)[t].to(torch::kDouble).view({4, 4}));
                for (int64_t i = 0; i < 4; ++i)
                    for (int64_t j = 0; j < 4; ++j)
                        if (i != j)
                            cosine +=
                                (mixed[i].dot(mixed[j]) / mixed[i].norm() / mixed[j].norm()).item<double>() /
                                (12 * 12);
            }
            std::sort(maxima.begin(), maxima.end());
            const auto quantile = [&](double share) {  // between neighbours, as NumPy's
                const double place = share * static_cast<double>(maxima.size() - 1);
                const auto k = static_cast<std::size_t>(place);
                return maxima[k] + (place - static_cast<double>(k)) *
                                       (maxima[std::min(k + 1, maxima.size() - 1)] - maxima[k]);
            };
            EXPECT_NEAR(named(all, "row_maximum_10")[sublayer], quantile(0.1), 1e-12);
            EXPECT_NEAR(named(all, "row_maximum_median")[sublayer], quantile(0.5), 1e-12);
            EXPECT_NEAR(named(all, "row_maximum_90")[sublayer], quantile(0.9), 1e-12);
            EXPECT_NEAR(named(all, "diagonal_share")[sublayer], dominant, 1e-12);
            EXPECT_NEAR(named(all, "negative_share")[sublayer], negative, 1e-12);
            EXPECT_NEAR(named(all, "fractional_share")[sublayer], fractional, 1e-12);
            EXPECT_NEAR(named(all, "composite_row_sum")[sublayer], rows, 1e-12 * rows);
            EXPECT_NEAR(named(all, "composite_column_sum")[sublayer], columns, 1e-12 * columns);
            EXPECT_NEAR(named(all, "stream_cosine_mixed")[sublayer], cosine, 1e-5);
            EXPECT_NE(named(all, "stream_cosine")[sublayer], named(all, "stream_cosine_mixed")[sublayer]);
            static_cast<void>(after);
            ++sublayer;
        });
    EXPECT_EQ(sublayer, 4U);
}

// MGT's experiments 1 and 3.
TEST(Diagnostics, RanksAndBetasAreThoseOfTheirDefinitions) {
    auto model = stirred("mgt");
    const torch::NoGradGuard no_grad;
    const auto x = torch::randn({3, 6, 3});
    const auto all = diagnose(model, x);
    std::vector<torch::Tensor> states{model.embed(x)};
    std::size_t sublayer = 0;
    model.walk(states.front(), [&](Connection& connection, const torch::Tensor& before,
                                   const torch::Tensor& after) {
        const auto beta = connection.statistics(before).front().second.to(torch::kDouble);
        const double mean = beta.mean().item<double>();
        EXPECT_NEAR(named(all, "beta")[sublayer], mean, 1e-12);
        EXPECT_NEAR(named(all, "beta_variance")[sublayer], (beta - mean).square().mean().item<double>(),
                    1e-12);
        EXPECT_NEAR(named(all, "beta_negative")[sublayer],
                    static_cast<double>((beta < 0).sum().item<int64_t>()) / static_cast<double>(beta.numel()),
                    1e-12);
        if (++sublayer % 2 == 0) states.push_back(after);
    });
    EXPECT_GT(named(all, "beta_negative").front(), 0);
    const auto ranks = named(all, "sequence_rank");
    ASSERT_EQ(ranks.size(), states.size());
    for (std::size_t k = 0; k < states.size(); ++k) {
        double mean = 0;
        for (int64_t b = 0; b < 3; ++b) mean += effective_rank(states[k][b]) / 3;
        EXPECT_NEAR(ranks[k], mean, 1e-12);
    }
    EXPECT_NEAR(named(all, "rank_preservation").front(), ranks[2] / ranks[0], 1e-12);
    EXPECT_NEAR(named(all, "rank_decay").front(), (std::log(ranks[2]) - std::log(ranks[0])) / 2,
                1e-12);  // three points
    const auto norms = named(all, "position_norm");
    const auto prediction = model.forward(x).prediction;
    for (int64_t t = 0; t < 6; ++t) {
        double mean = 0;
        for (int64_t b = 0; b < 3; ++b) mean += prediction[b][t].norm().item<double>() / 3;
        EXPECT_NEAR(norms[static_cast<std::size_t>(t)], mean, 1e-6 * mean);
    }
}

}  // namespace
}  // namespace spectra::train
