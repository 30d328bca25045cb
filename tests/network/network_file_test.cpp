#include "network/network_file.hpp"

#include "h5/file.hpp"
#include "network/model_file.hpp"
#include "support/aligned_networks.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace spectra {
namespace {

using tests::aligned_network;

class NetworkFile : public ::testing::Test {
protected:
    std::filesystem::path write(const Network& network, const std::string& group = stored_network) {
        const auto path = folder_.path() / "network.h5";
        auto file = h5::File::create(path);
        if (group == stored_network) file.make_group("trained");
        write_network(file, group, network);
        file.close();
        return path;
    }

    std::string refusal(const std::filesystem::path& path) {
        try {
            read_model(path);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "";
    }

    spectra::testing::TemporaryFolder folder_;
};

void expect_equal(const std::vector<Triplets>& a, const std::vector<Triplets>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t l = 0; l < a.size(); ++l) {
        EXPECT_EQ(a[l].values, b[l].values);
        EXPECT_EQ(a[l].left, b[l].left);
        EXPECT_EQ(a[l].right, b[l].right);
    }
}

TEST_F(NetworkFile, HoldsEveryNumberOfAnAlignedNetwork) {
    for (const bool hyper : {true, false})
        for (const bool derivative : {false, true}) {
            tests::AlignedCase wanted;
            wanted.hyper_connection = hyper;
            wanted.derivative = derivative && hyper;
            Network network = aligned_network(wanted);
            auto& branch = std::get<AlignedBranch>(network.branch);
            branch.weights = {0, 1, 0};
            const Network back = read_model(write(network));
            EXPECT_EQ(back.streams, network.streams);
            EXPECT_EQ(back.width, network.width);
            EXPECT_EQ(back.mixer_name, "network.h5");
            ASSERT_EQ(back.mixers.size(), network.mixers.size());
            for (std::size_t l = 0; l < network.mixers.size(); ++l)
                EXPECT_EQ(back.mixers[l], network.mixers[l]);
            const auto& read = std::get<AlignedBranch>(back.branch);
            EXPECT_EQ(read.pre, branch.pre);
            EXPECT_EQ(read.post, branch.post);
            EXPECT_EQ(read.rest, branch.rest);
            EXPECT_EQ(read.weights, branch.weights);
            expect_equal(read.kept, branch.kept);
            expect_equal(read.derivative, branch.derivative);
        }
}

TEST_F(NetworkFile, KeepsEverythingOrNothing) {
    tests::AlignedCase wanted;
    wanted.rank = wanted.width;  // no rest
    const Network all = aligned_network(wanted);
    EXPECT_TRUE(std::get<AlignedBranch>(read_model(write(all)).branch).rest.front().empty());
    Network none = aligned_network({});
    auto& branch = std::get<AlignedBranch>(none.branch);
    for (std::size_t l = 0; l < branch.kept.size(); ++l) {
        branch.kept[l] = {Eigen::VectorXd(0), Eigen::MatrixXd(none.width, 0), Eigen::MatrixXd(none.width, 0)};
        branch.rest[l].assign(static_cast<std::size_t>(none.width), 0.5);
    }
    EXPECT_EQ(std::get<AlignedBranch>(read_model(write(none)).branch).kept.front().count(), 0);
}

TEST_F(NetworkFile, FilesWithoutOneAreRefused) {
    const auto path = folder_.path() / "other.h5";
    h5::File::create(path).close();
    EXPECT_EQ(refusal(path),
              path.string() + ": holds no network; a validation stores one if it is asked for triplets");
}

TEST_F(NetworkFile, ShapesThatDoNotFitAreRefused) {
    Network network = aligned_network({});
    std::get<AlignedBranch>(network.branch).kept[1].left.conservativeResize(5, Eigen::NoChange);
    const auto path = write(network);
    EXPECT_EQ(
        refusal(path),
        path.string() + ": trained/aligned_network/layers/2/kept/left has shape (2, 5); must be (2, 12)");
}

TEST_F(NetworkFile, WhatIsNoNetworkIsRefused) {
    Network network = aligned_network({});
    std::get<AlignedBranch>(network.branch).kept[0].left *= 2;
    EXPECT_NE(refusal(write(network)).find("orthonormal"), std::string::npos) << refusal(write(network));
}

}  // namespace
}  // namespace spectra
