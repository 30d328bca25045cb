#pragma once

#include "base/team.hpp"
#include "parallel/ranks.hpp"

#include <atomic>
#include <vector>

namespace spectra::parallel {

/// The ranks of a run as a team. While it waits for others it throws Stopped as soon as `stop` is set or the first rank
/// has left, and on the first rank std::runtime_error if another one has left before it gave its part.
class RankTeam final : public Team {
public:
    RankTeam(Ranks& ranks, const std::atomic<bool>& stop);

    int rank() const override { return ranks_.rank(); }
    int size() const override { return ranks_.size(); }
    std::vector<std::vector<std::byte>> gather(std::vector<std::byte> own) override;
    std::vector<std::byte> spread(std::vector<std::byte> of_first) override;

private:
    /// What has come from a rank and is not taken yet: one part may arrive in several messages, and the next one before
    /// this one is taken.
    struct Box {
        std::vector<std::byte> bytes = {};
        bool left = false;
        bool has_part() const;
        std::vector<std::byte> take_part();
    };

    void send(int to, const std::vector<std::byte>& part);
    void wait_for(int from);

    Ranks& ranks_;
    const std::atomic<bool>& stop_;
    std::vector<Box> boxes_;
};

}  // namespace spectra::parallel
