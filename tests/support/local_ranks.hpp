#pragma once

#include "linalg/blas.hpp"
#include "montecarlo/rank_threads.hpp"
#include "parallel/ranks.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace spectra::tests {

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
inline void on_ranks(int size, const std::function<void(parallel::Ranks&)>& work) {
    // In one process: a rank that is done would give BLAS its threads back while others still draw.
    const linalg::SingleThreadedBlas single_threaded;
    LocalRanks::Post post;
    post.boxes.resize(static_cast<std::size_t>(size));
    on_threads(size, [&](int rank) {
        LocalRanks ranks(post, rank);
        work(ranks);
    });
}

}  // namespace spectra::tests
