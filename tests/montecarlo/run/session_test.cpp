#include "montecarlo/run/session.hpp"

#include "parallel/launch.hpp"
#include "parallel/rank_cases.hpp"
#include "support/local_ranks.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using namespace spectra;

using tests::LocalRanks;
using tests::on_ranks;

TEST(Ranks, TogetherAsAlone) {
    for (const int size : {1, 2, 3}) {
        on_ranks(size, [size](parallel::Ranks& ranks) {
            for (const auto& failure : tests::RankCases(&ranks).failures())
                ADD_FAILURE() << failure << " (rank " << ranks.rank() << " of " << size << ")";
        });
    }
}

TEST(Ranks, OneThatLeavesEndsTheRun) {
    on_ranks(3, [](parallel::Ranks& ranks) {
        if (ranks.rank() == 1) return;
        montecarlo::Options options;
        options.ranks = &ranks;
        const auto network = tests::make_network(Mixer::Identity(2, 2), 2, 3, 0.1);
        if (ranks.rank() > 0) {
            EXPECT_TRUE(simulate(network, options).elsewhere);
            return;
        }
        try {
            simulate(network, options);
            ADD_FAILURE();
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "rank 1 left the run");
        }
    });
}

TEST(Ranks, ThreadsAreSharedOnAMachine) {
    on_ranks(1, [](parallel::Ranks& ranks) {
        montecarlo::Options options;
        options.threads = 5;
        options.ranks = &ranks;
        EXPECT_EQ(montecarlo::thread_count(options), 5);
        options.threads = 0;
        EXPECT_GE(montecarlo::thread_count(options), 1);
    });
    LocalRanks::Post post;
    post.boxes.resize(10'000);
    LocalRanks many(post, 1);
    montecarlo::Options options;
    options.ranks = &many;
    EXPECT_EQ(montecarlo::thread_count(options), 1);
}

class Environment : public testing::Test {
protected:
    void SetUp() override {
        for (const char* name : names) unsetenv(name);
    }
    void TearDown() override { SetUp(); }

    static constexpr const char* names[] = {
        "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE",
        "SLURM_PROCID",         "SLURM_STEP_NUM_TASKS"};
};

TEST_F(Environment, SaysHowManyWereStarted) {
    EXPECT_EQ(parallel::launch().size, 1);
    EXPECT_EQ(parallel::open_ranks(), nullptr);
    for (int k = 0; k < 6; k += 2) {
        setenv(names[k], "2", 1);
        EXPECT_EQ(parallel::launch().size, 1);
        setenv(names[k + 1], "x", 1);
        EXPECT_EQ(parallel::launch().size, 1);
        setenv(names[k + 1], "1", 1);
        EXPECT_EQ(parallel::launch().size, 1);
        setenv(names[k + 1], "4", 1);
        EXPECT_EQ(parallel::launch().rank, 2);
        EXPECT_EQ(parallel::launch().size, 4);
        SetUp();
    }
}

}  // namespace
