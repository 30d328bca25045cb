#include "claims/jpmhc_trained.hpp"
#include "claims/mgt_trained.hpp"
#include "claims/shc_trained.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

// The rules of claims that rest on trainings not run yet, on made-up results.

namespace spectra::claims {
namespace {

using Column = std::vector<double>;

/// Results by series; the seeds differ by `jitter` in their loss.
class MadeUp {
public:
    TrainingResult& at(const std::string& series, int seed) {
        auto& result = results_[fmt::format("{}-{}", series, seed)];
        result.name = fmt::format("{}-{}", series, seed);
        return result;
    }
    void loss(const std::string& series, double loss, double jitter = 1e-3) {
        double shift = -jitter;
        for (const int seed : training_seeds) {
            at(series, seed).values["final_val_loss"] = loss + shift;
            shift += jitter;
        }
    }
    void value(const std::string& series, const std::string& name, double value) {
        for (const int seed : training_seeds) at(series, seed).values[name] = value;
    }
    void column(const std::string& series, const std::string& name, const Column& values) {
        for (const int seed : training_seeds) at(series, seed).columns[name] = values;
    }
    /// The last seed diverges.
    void diverge(const std::string& series) { at(series, 456).values = {{"diverged_at", 11}}; }
    TrainingResults all() const {
        std::vector<TrainingResult> out;
        for (const auto& [name, result] : results_) out.push_back(result);
        return TrainingResults(out);
    }

private:
    std::map<std::string, TrainingResult> results_;
};

void ranks(MadeUp& made, const std::string& model, const Column& by_depth) {
    std::size_t k = 0;
    for (const int depth : {12, 24, 48, 100})
        made.column(fmt::format("text-{}-{}", model, depth), "final_sequence_rank",
                    {0.9, 0.8, by_depth[k++]});
}

TEST(MgtTrained, PostLnLosesItsRankOrNot) {
    MadeUp made;
    ranks(made, "post-ln", {0.6, 0.4, 0.2, 0.04});
    EXPECT_EQ(mgt::post_ln_rank(made.all()).verdict, Verdict::holds);
    EXPECT_EQ(mgt::post_ln_rank(made.all()).numbers[3].value, 0.04) << "after the last block";
    ranks(made, "post-ln", {0.6, 0.2, 0.2, 0.04});
    EXPECT_EQ(mgt::post_ln_rank(made.all()).verdict, Verdict::holds_in_part) << "does not fall everywhere";
    ranks(made, "post-ln", {0.6, 0.4, 0.2, 0.06});
    EXPECT_EQ(mgt::post_ln_rank(made.all()).verdict, Verdict::holds_in_part);
    ranks(made, "post-ln", {0.6, 0.5, 0.4, 0.3});
    EXPECT_EQ(mgt::post_ln_rank(made.all()).verdict, Verdict::refuted);
    made.diverge("text-post-ln-100");
    EXPECT_EQ(mgt::post_ln_rank(made.all()).verdict, Verdict::open);
}

TEST(MgtTrained, MgtKeepsItsRankOrNot) {
    MadeUp made;
    ranks(made, "mgt", {0.4, 0.4, 0.4, 0.55});
    EXPECT_EQ(mgt::mgt_rank(made.all()).verdict, Verdict::holds) << "100 layers decide";
    made.at("text-mgt-100", 42).columns["final_sequence_rank"].back() = 0.45;
    EXPECT_EQ(mgt::mgt_rank(made.all()).verdict, Verdict::holds_in_part);
    made.at("text-mgt-100", 123).columns["final_sequence_rank"].back() = 0.3;
    EXPECT_EQ(mgt::mgt_rank(made.all()).verdict, Verdict::refuted);
}

TEST(MgtTrained, RankDecaysLessOrNot) {
    MadeUp made;
    for (const int depth : {12, 24, 48, 100})
        for (const auto& [model, rho, slope] :
             {std::tuple{"post-ln", 0.3, -0.1}, std::tuple{"mgt", 0.6, -0.01}}) {
            made.value(fmt::format("text-{}-{}", model, depth), "rank_preservation", rho);
            made.value(fmt::format("text-{}-{}", model, depth), "rank_decay", slope);
        }
    EXPECT_EQ(mgt::rank_decay(made.all()).verdict, Verdict::holds);
    made.value("text-mgt-24", "rank_decay", -0.2);
    EXPECT_EQ(mgt::rank_decay(made.all()).verdict, Verdict::holds_in_part);
    made.value("text-mgt-100", "rank_preservation", 0.3);
    EXPECT_EQ(mgt::rank_decay(made.all()).verdict, Verdict::refuted);
}

TEST(MgtTrained, SynergyIsThatOfEquation9) {
    MadeUp made;
    made.loss("text-post-ln-48", 2.0);
    made.loss("text-mgt-mhc-48", 1.9);
    made.loss("text-mgt-ddl-48", 1.8);
    made.loss("text-mgt-48", 1.5);
    const auto outcome = mgt::synergy(made.all());
    EXPECT_NEAR(outcome.numbers.back().value, (2.0 - 1.5) - (2.0 - 1.9) - (2.0 - 1.8), 1e-12);
    EXPECT_EQ(outcome.verdict, Verdict::holds);
    made.loss("text-mgt-48", 1.65, 0.1);  // S = 0.05 ± 0.06
    EXPECT_EQ(mgt::synergy(made.all()).verdict, Verdict::holds_in_part);
    made.loss("text-mgt-48", 1.75);
    EXPECT_EQ(mgt::synergy(made.all()).verdict, Verdict::refuted);
    made.diverge("text-mgt-ddl-48");
    EXPECT_EQ(mgt::synergy(made.all()).verdict, Verdict::open);
}

TEST(MgtTrained, GatesTurnNegativeWithDepthOrNot) {
    MadeUp made;
    const std::string name = "text-mgt-100";
    made.column(name, "step", {0, 250, 500});
    made.column(name, "final_beta_negative", {0, 0, 0.1, 0.1, 0.4, 0.5, 0.5, 0.5});
    const Column start(8, 0.7), ramp{0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0}, step{1, 1, 1, 1, 0, 0, 0, 0};
    const auto rows = [&](const Column& half, const Column& last) {
        Column out = start;
        out.insert(out.end(), half.begin(), half.end());
        out.insert(out.end(), last.begin(), last.end());
        made.column(name, "beta", out);
    };
    rows(ramp, step);
    auto outcome = mgt::gates_by_depth(made.all());
    EXPECT_EQ(outcome.verdict, Verdict::holds);
    EXPECT_NEAR(outcome.numbers[3].value, 16.0 / 21, 1e-12) << "0 … 7 cut in the middle: 32 of 42";
    EXPECT_EQ(outcome.numbers[4].value, 1);
    rows(step, ramp);
    EXPECT_EQ(mgt::gates_by_depth(made.all()).verdict, Verdict::holds_in_part);
    rows(ramp, {0, 0, 0, 0, 1, 1, 1, 1});
    EXPECT_EQ(mgt::gates_by_depth(made.all()).verdict, Verdict::refuted) << "β of early layers is 0";
    rows(ramp, step);
    made.column(name, "final_beta_negative", {0, 0, 0.1, 0.1, 0.1, 0.1, 0.2, 0.2});
    EXPECT_EQ(mgt::gates_by_depth(made.all()).verdict, Verdict::refuted);
}

TEST(MgtTrained, DepthHelpsOneAndHurtsTheOther) {
    MadeUp made;
    for (const auto& [depth, plain, full] :
         {std::tuple{24, 1.6, 1.7}, std::tuple{48, 1.8, 1.6}, std::tuple{100, 2.5, 1.5}}) {
        made.loss(fmt::format("text-post-ln-20m-{}", depth), plain);
        made.loss(fmt::format("text-mgt-20m-{}", depth), full);
    }
    EXPECT_EQ(mgt::depth_scaling(made.all()).verdict, Verdict::holds);
    made.diverge("text-post-ln-20m-100");
    EXPECT_EQ(mgt::depth_scaling(made.all()).verdict, Verdict::holds) << "no loss is worse than any";
    made.loss("text-mgt-20m-24", 1.4);
    EXPECT_EQ(mgt::depth_scaling(made.all()).verdict, Verdict::holds_in_part);
    made.diverge("text-mgt-20m-100");
    EXPECT_EQ(mgt::depth_scaling(made.all()).verdict, Verdict::refuted);
}

/// Two rows of three sublayers.
void cosines(MadeUp& made, const std::string& series, double cosine) {
    made.column(series, "step", {0, 100});
    if (series == "text-identity-stack")
        made.column(series, "stream_cosine", {9, 9, 9, cosine, cosine, 9});
    else
        made.column(series, "stream_cosine_mixed", {9, 9, 9, 9, cosine, cosine});
}

TEST(ShcTrained, SimilarityIsComparedAfterTheMixer) {
    MadeUp made;
    cosines(made, "text-identity-stack", 0.5);
    cosines(made, "text-bistochastic-stack", 0.55);
    cosines(made, "text-mhc-lite", 0.52);
    cosines(made, "text-shc", 0.4);
    const auto outcome = shc::bistochastic_similarity(made.all());
    EXPECT_EQ(outcome.verdict, Verdict::holds);
    EXPECT_NEAR(outcome.numbers[0].value, 0.5, 1e-12)
        << "what the sublayer before left; nothing of the first row";
    EXPECT_NEAR(outcome.numbers[1].value, 0.55, 1e-12);
    EXPECT_EQ(shc::sphere_similarity(made.all()).verdict, Verdict::holds);
    cosines(made, "text-mhc-lite", 0.7);
    EXPECT_EQ(shc::bistochastic_similarity(made.all()).verdict, Verdict::holds_in_part) << "not slightly";
    cosines(made, "text-bistochastic-stack", 0.45);
    EXPECT_EQ(shc::bistochastic_similarity(made.all()).verdict, Verdict::refuted);
    cosines(made, "text-shc", 0.6);
    EXPECT_EQ(shc::sphere_similarity(made.all()).verdict, Verdict::refuted);
    made.at("text-shc", 42).columns["stream_cosine_mixed"] = {9, 9, 9, 9, 0.1, 0.1};  // mean 0.433 ± 0.17
    EXPECT_EQ(shc::sphere_similarity(made.all()).verdict, Verdict::holds_in_part);
}

TEST(ShcTrained, EntriesAreContinuousOrConcentrated) {
    MadeUp made;
    made.column("text-shc", "final_negative_share", {0.1, 0.2});
    made.column("text-shc", "final_fractional_share", {0.3, 0.5});
    made.column("text-shc", "final_row_sum_defect", {1e-7, 1e-6});
    made.column("text-shc", "final_column_sum_defect", {1e-7, 1e-6});
    made.column("text-bistochastic-stack", "final_fractional_share", {0, 0.01});
    made.column("text-mhc-lite", "final_fractional_share", {0, 0.01});
    EXPECT_EQ(shc::trained_entries(made.all()).verdict, Verdict::holds);
    made.column("text-mhc-lite", "final_fractional_share", {0.1, 0.1});
    EXPECT_EQ(shc::trained_entries(made.all()).verdict, Verdict::holds_in_part);
    made.column("text-mhc-lite", "final_fractional_share", {0, 0});
    made.column("text-shc", "final_row_sum_defect", {1e-7, 1e-3});
    EXPECT_EQ(shc::trained_entries(made.all()).verdict, Verdict::holds_in_part);
    made.column("text-shc", "final_negative_share", {0, 0.02});
    EXPECT_EQ(shc::trained_entries(made.all()).verdict, Verdict::refuted);
}

TEST(ShcTrained, LossesAreInOrderOrNot) {
    MadeUp made;
    made.loss("text-shc", 1.5);
    made.loss("text-bistochastic-stack", 1.6);
    made.loss("text-mhc-lite", 1.6);
    made.loss("text-gpt", 1.7);
    made.loss("text-hc", 1.4);
    EXPECT_EQ(shc::losses(made.all()).verdict, Verdict::holds);
    made.diverge("text-hc");
    EXPECT_EQ(shc::losses(made.all()).verdict, Verdict::holds) << "HC decides nothing";
    made.loss("text-shc", 1.59, 0.1);
    EXPECT_EQ(shc::losses(made.all()).verdict, Verdict::holds_in_part) << "within the errors";
    made.loss("text-gpt", 1.55);
    EXPECT_EQ(shc::losses(made.all()).verdict, Verdict::holds_in_part) << "sHC is still below mHC";
    made.diverge("text-shc");
    EXPECT_EQ(shc::losses(made.all()).verdict, Verdict::refuted);
}

TEST(ShcTrained, GradientsExplodeOrNot) {
    MadeUp made;
    const Column steps{0, 100, 200, 300, 400}, calm{NAN, 90, 1, 1.2, 0.9}, wild{NAN, 1, 1, 1, 6};
    for (const char* const name : {"-shc", "-bistochastic-stack", "-mhc-lite", "-gpt", "-hc"}) {
        made.column(std::string("text") + name, "step", steps);
        made.column(std::string("text") + name, "gradient_norm", calm);
    }
    EXPECT_EQ(shc::gradient_norms(made.all()).verdict, Verdict::refuted) << "the warm-up does not count";
    EXPECT_NEAR(shc::gradient_norms(made.all()).numbers[0].value, 1.2, 1e-12);
    made.at("text-hc", 123).columns["gradient_norm"] = wild;
    EXPECT_EQ(shc::gradient_norms(made.all()).verdict, Verdict::holds) << "one seed is enough";
    made.diverge("text-shc");
    EXPECT_EQ(shc::gradient_norms(made.all()).verdict, Verdict::holds_in_part);
    made.at("text-hc", 123).columns["gradient_norm"] = calm;
    made.diverge("text-hc");
    EXPECT_EQ(shc::gradient_norms(made.all()).verdict, Verdict::holds_in_part);
}

TEST(ShcTrained, ThroughputFallsBeyondSixStreamsOrNot) {
    MadeUp made;
    const auto with = [&](double two, double six, double seven) {
        made.value("speed-mhc-lite-2", "steps_per_second", two);
        made.value("speed-mhc-lite-4", "steps_per_second", (two + six) / 2);
        made.value("speed-mhc-lite-6", "steps_per_second", six);
        made.value("speed-mhc-lite-7", "steps_per_second", seven);
        return shc::throughput_by_streams(made.all());
    };
    EXPECT_EQ(with(100, 60, 20).verdict, Verdict::holds);
    EXPECT_EQ(with(100, 60, 40).verdict, Verdict::holds_in_part) << "memory alone";
    EXPECT_EQ(with(100, 40, 10).verdict, Verdict::holds_in_part) << "it falls before";
    // 24 (7·768 + 1) (14 + 7!) and 24 (8·768 + 1) (16 + 8!) parameters and 0.12e9, 16 bytes each.
    const auto numbers = with(100, 60, 20).numbers;
    EXPECT_NEAR(numbers[4].value, 16 * (0.12e9 + 24.0 * 5377 * 5054) / 1073741824, 1e-3);
    EXPECT_NEAR(numbers[5].value, 16 * (0.12e9 + 24.0 * 6145 * 40336) / 1073741824, 1e-3);
}

TEST(JpmhcTrained, MixingCostsLittleOrNot) {
    MadeUp made;
    made.value("speed-gpt", "steps_per_second", 100);
    made.value("speed-identity-stack", "steps_per_second", 98);
    made.value("speed-jpmhc", "steps_per_second", 96);
    EXPECT_EQ(jpmhc::cost_of_mixing(made.all()).verdict, Verdict::holds);
    made.value("speed-jpmhc", "steps_per_second", 90);
    EXPECT_EQ(jpmhc::cost_of_mixing(made.all()).verdict, Verdict::holds_in_part);
    made.value("speed-jpmhc", "steps_per_second", 50);
    EXPECT_EQ(jpmhc::cost_of_mixing(made.all()).verdict, Verdict::refuted);
    EXPECT_NEAR(jpmhc::cost_of_mixing(made.all()).numbers[0].value, 2, 1e-12);
}

TEST(JpmhcTrained, StepsToTheLossThatAllReach) {
    MadeUp made;
    for (const char* const name : {"text-recursive-cayley", "text-recursive-bistochastic"}) {
        made.loss(name, 1.5, 0);
        made.column(name, "step", {0, 50, 100, 150});
    }
    made.loss("text-recursive-bistochastic", 1.8, 0);
    made.column("text-recursive-cayley", "val_loss", {4, 1.7, 1.6, 1.5});
    made.column("text-recursive-bistochastic", "val_loss", {4, 2, 1.9, 1.8});
    const auto outcome = jpmhc::recursive_convergence(made.all());
    EXPECT_EQ(outcome.verdict, Verdict::holds);
    EXPECT_EQ(outcome.numbers[0].value, 50);
    EXPECT_EQ(outcome.numbers[1].value, 150);
    made.at("text-recursive-cayley", 42).columns["val_loss"] = {4, 3, 2, 1.7};
    EXPECT_EQ(jpmhc::recursive_convergence(made.all()).verdict, Verdict::holds_in_part)
        << "not for every seed";
    made.column("text-recursive-cayley", "val_loss", {4, 3, 2, 1.7});
    EXPECT_EQ(jpmhc::recursive_convergence(made.all()).verdict, Verdict::refuted);
    made.diverge("text-recursive-bistochastic");
    EXPECT_EQ(jpmhc::recursive_convergence(made.all()).verdict, Verdict::holds);
    made.diverge("text-recursive-cayley");
    EXPECT_EQ(jpmhc::recursive_convergence(made.all()).verdict, Verdict::refuted);
}

}  // namespace
}  // namespace spectra::claims
