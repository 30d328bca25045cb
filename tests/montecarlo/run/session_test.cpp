#include "montecarlo/run/session.hpp"

#include "linalg/blas.hpp"
#include "montecarlo/rank_threads.hpp"
#include "parallel/launch.hpp"
#include "parallel/rank_cases.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace {

using namespace spectra;
using parallel::Message;

/// parallel::Ranks that are threads of this process.
class LocalRanks final : public parallel::Ranks {
public:
    struct Post {
        std::mutex mutex;
        std::vector<std::deque<parallel::Message>> boxes;
    };

    LocalRanks(Post& post, int rank) : post_(post), rank_(rank) {}
    LocalRanks(const LocalRanks&) = delete;
    LocalRanks& operator=(const LocalRanks&) = delete;
    ~LocalRanks() override {
        for (int to = 0; to < (rank_ == 0 ? size() : 1); ++to)
            if (to != rank_) deliver(to, {});
    }

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(post_.boxes.size()); }
    int local_rank() const override { return rank_; }
    int local_size() const override { return size(); }
    void send(int to, std::vector<std::byte> bytes) override {
        EXPECT_FALSE(bytes.empty());
        deliver(to, std::move(bytes));
    }
    std::optional<parallel::Message> receive() override {
        const std::scoped_lock lock(post_.mutex);
        auto& box = post_.boxes[static_cast<std::size_t>(rank_)];
        if (box.empty()) return {};
        parallel::Message out = std::move(box.front());
        box.pop_front();
        return out;
    }

private:
    void deliver(int to, std::vector<std::byte> bytes) {
        const std::scoped_lock lock(post_.mutex);
        post_.boxes[static_cast<std::size_t>(to)].push_back({rank_, std::move(bytes)});
    }

    Post& post_;
    int rank_;
};

/// Every rank in a thread.
void on_ranks(int size, const std::function<void(parallel::Ranks&)>& work) {
    // In one process: a rank that is done would give BLAS its threads back while others still draw.
    const linalg::SingleThreadedBlas single_threaded;
    LocalRanks::Post post;
    post.boxes.resize(static_cast<std::size_t>(size));
    tests::on_threads(size, [&](int rank) {
        LocalRanks ranks(post, rank);
        work(ranks);
    });
}

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
