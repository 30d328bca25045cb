// Processes that share the points of a law find what one process finds alone, to the last bit.

#include "parallel/rank_team.hpp"

#include "base/stop.hpp"
#include "dyson/law/theory.hpp"
#include "network/connection.hpp"
#include "support/aligned_networks.hpp"
#include "support/branches.hpp"
#include "support/fuzz_models.hpp"
#include "support/local_ranks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace spectra::dyson {
namespace {

const std::atomic<bool> goes_on{false};

Options shared_by(Team& team) {
    Options options;
    options.threads = 1;
    options.team = &team;
    return options;
}

void expect_same(const Theory& together, const Theory& alone) {
    EXPECT_EQ(together.summary.certified, alone.summary.certified);
    EXPECT_EQ(together.summary.newton_steps, alone.summary.newton_steps);
    EXPECT_EQ(together.summary.descents, alone.summary.descents);
    EXPECT_EQ(together.summary.mean_square, alone.summary.mean_square);
    EXPECT_EQ(together.curve.log_s, alone.curve.log_s);
    EXPECT_EQ(together.curve.g, alone.curve.g);
    EXPECT_EQ(together.curve.residual, alone.curve.residual);
    EXPECT_EQ(together.curve.iterations, alone.curve.iterations);
    EXPECT_EQ(together.curve.certified, alone.curve.certified);
    EXPECT_EQ(together.summary.unresolved.has_value(), alone.summary.unresolved.has_value());
    EXPECT_EQ(together.outliers.size(), alone.outliers.size());
}

void expect_same(const Network& network, Method method, Options options, const std::string& what) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, what);
    options.threads = 1;
    const Theory alone = solve(network, method, options);
    for (const int size : {1, 2, 5})
        tests::on_ranks(size, [&](parallel::Ranks& ranks) {
            parallel::RankTeam team(ranks, goes_on);
            Options shared = options;
            shared.team = &team;
            const Theory theory = solve(network, method, shared);
            if (team.is_first()) expect_same(theory, alone);
        });
}

TEST(Team, FindsTheLawOfOne) {
    const auto network = tests::draw_network(mixers::Family::bistochastic, 3, 6, 8, 0.3);
    expect_same(network, Method::operator_valued, {}, "ov");
    expect_same(network, Method::scalar, {}, "scalar");
    Options smoothed;
    smoothed.eta = 0.05;
    expect_same(network, Method::operator_valued, smoothed, "smoothed");
    // Solved as one stream, which might not be enough: all must agree on that.
    expect_same(tests::draw_network(mixers::Family::identity, 1, 4, 8, 0.5), Method::operator_valued, {},
                "one stream");
    expect_same(tests::aligned_network({.streams = 2, .width = 12, .depth = 2, .rank = 2}),
                Method::operator_valued, {}, "aligned");
    auto tied = network;
    tied.branch = tests::taking_turns(3, 6, 0.05, false);
    Options counted;
    counted.counting = true;
    expect_same(tied, Method::operator_valued, counted, "counted");
}

TEST(Team, AgreesOnWhatRoundingHides) {
    // A stream that mixers lose and hyper-connections restore far below: solved with more digits, or left unresolved.
    Network network;
    network.streams = 2;
    network.mixers.assign(2, Mixer(Eigen::Vector2d(1, 0).asDiagonal()));
    const Connections ways = draw_connections(2, 2, false, 3);
    network.branch = HyperConnectionBranch{{1e-16, 1e-16}, ways.pre, ways.post};
    const Theory solved = solve(network, Method::operator_valued, {});
    EXPECT_TRUE(solved.summary.certified && !solved.summary.unresolved) << solved.summary.message;
    expect_same(network, Method::operator_valued, {}, "solved");
    const auto model = tests::FuzzModels(1)(220);
    const Theory cut = solve(model.network, Method::operator_valued, {});
    EXPECT_TRUE(cut.summary.certified && cut.summary.unresolved) << cut.summary.message;
    expect_same(model.network, Method::operator_valued, {}, "unresolved");
}

TEST(Team, FindsPointsOfOne) {
    const auto network = tests::draw_network(mixers::Family::cayley, 2, 4, 8, 0.3);
    const std::vector<std::complex<double>> omega{{0.3, 0.05}, {1, 0.01}, {-0.2, 0.1}, {2, 1}};
    const Green alone = green(network, omega);
    for (const int size : {2, 3, 7})
        tests::on_ranks(size, [&](parallel::Ranks& ranks) {
            parallel::RankTeam team(ranks, goes_on);
            const Green shared = green(network, omega, shared_by(team));
            EXPECT_EQ(shared.g, alone.g);
            EXPECT_EQ(shared.iterations, alone.iterations);
            EXPECT_EQ(shared.certified, alone.certified);
        });
}

TEST(Team, FindsHiddenPointsOfOne) {
    auto network = tests::make_network(Mixer::Zero(2, 2), 1, 1, 1e-4);
    const auto ways = draw_connections(2, 1, false, 3);
    network.branch = HyperConnectionBranch{{1e-4}, ways.pre, ways.post};
    const std::vector<std::complex<double>> omega{{1e-13, 1e-14}, {1e-17, 1e-17}, {-1e-17, 1e-18}, {1, 1}};
    const Green alone = green(network, omega);
    EXPECT_EQ(alone.certified, std::vector<std::uint8_t>(4, 1));
    for (const int size : {2, 3})
        tests::on_ranks(size, [&](parallel::Ranks& ranks) {
            parallel::RankTeam team(ranks, goes_on);
            const Green shared = green(network, omega, shared_by(team));
            EXPECT_EQ(shared.g, alone.g);
            EXPECT_EQ(shared.residual, alone.residual);
            EXPECT_EQ(shared.iterations, alone.iterations);
            EXPECT_EQ(shared.certified, alone.certified);
        });
}

TEST(Team, LongPartsArriveWhole) {
    constexpr std::size_t size = (std::size_t{33} << 20U) + 5;  // more than two messages
    tests::on_ranks(3, [&](parallel::Ranks& ranks) {
        parallel::RankTeam team(ranks, goes_on);
        const auto own = static_cast<std::byte>(ranks.rank() + 1);
        const auto parts = team.gather(std::vector<std::byte>(ranks.rank() == 1 ? 0 : size, own));
        if (team.is_first()) {
            ASSERT_EQ(parts.size(), 3U);
            EXPECT_EQ(parts[0], std::vector<std::byte>(size, std::byte{1}));
            EXPECT_TRUE(parts[1].empty());
            EXPECT_EQ(parts[2], std::vector<std::byte>(size, std::byte{3}));
        } else {
            EXPECT_TRUE(parts.empty());
        }
        const auto all = team.spread(std::vector<std::byte>(team.is_first() ? size : 0, own));
        EXPECT_EQ(all, std::vector<std::byte>(size, std::byte{1}));
    });
}

TEST(Team, SaysWhoEnded) {
    const auto network = tests::draw_network(mixers::Family::bistochastic, 3, 6, 8, 0.3);
    tests::on_ranks(3, [&](parallel::Ranks& ranks) {
        if (ranks.rank() == 1) return;
        parallel::RankTeam team(ranks, goes_on);
        try {
            solve(network, Method::operator_valued, shared_by(team));
            ADD_FAILURE();
        } catch (const std::runtime_error& error) {
            EXPECT_EQ(ranks.rank(), 0);
            EXPECT_STREQ(error.what(), "process 1 ended before it computed its points");
        } catch (const Stopped&) {  // the first has left
            EXPECT_EQ(ranks.rank(), 2);
        }
    });
}

TEST(Team, StopsWhileItWaits) {
    const std::atomic<bool> stopped{true};
    tests::on_ranks(2, [&](parallel::Ranks& ranks) {
        parallel::RankTeam team(ranks, stopped);
        if (team.is_first()) {
            EXPECT_THROW(team.gather({}), Stopped);
        } else {
            EXPECT_THROW(team.spread({}), Stopped);
        }
    });
}

}  // namespace
}  // namespace spectra::dyson
