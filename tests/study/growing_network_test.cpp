#include "study/growing_network.hpp"

#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace spectra {
namespace {

using study::GrowingNetwork;
using testing::TemporaryFolder;

study::Request request_for(const std::string& mixer) {
    study::Request request;
    request.mixer = mixer;
    return request;
}

TEST(GrowingNetwork, BeginsWithTheLayersOfAShallowerOne) {
    study::Request request = request_for("bistochastic");
    request.branch = "hyper-connection";
    GrowingNetwork network(request);
    const Network deep = network.at(100), shallow = network.at(3);
    ASSERT_EQ(deep.depth(), 100);
    ASSERT_EQ(shallow.depth(), 3);
    for (std::size_t l = 0; l < 3; ++l) {
        EXPECT_EQ(deep.mixers[l], shallow.mixers[l]);
        EXPECT_EQ(std::get<HyperConnectionBranch>(deep.branch).pre[l],
                  std::get<HyperConnectionBranch>(shallow.branch).pre[l]);
    }
    EXPECT_NE(deep.mixers[0], deep.mixers[1]);
    const Network other = network.at(3, 1);
    EXPECT_NE(other.mixers[0], shallow.mixers[0]);
    EXPECT_EQ(network.at(3).mixers, shallow.mixers) << "draw 0 again";
}

TEST(GrowingNetwork, NoiseIsTotalOrPerLayer) {
    study::Request request = request_for("cayley");
    EXPECT_DOUBLE_EQ(sigma2(GrowingNetwork(request).at(20))[0], 0.05 / 20);
    EXPECT_EQ(GrowingNetwork(request).title(), "cayley, n = 4, Lσ² = 0.05, seed 1");
    request.sigma2 = std::vector<double>{0.01};
    EXPECT_DOUBLE_EQ(sigma2(GrowingNetwork(request).at(20))[7], 0.01);
    EXPECT_EQ(GrowingNetwork(request).title(), "cayley, n = 4, σ² = 0.01, seed 1");
}

TEST(GrowingNetwork, EndsWhereAFileDoes) {
    const TemporaryFolder folder;
    folder.write("one.csv", "1,0\n0,1\n");
    folder.write("two.csv", "1,0\n0,1\n\n0,2\n1,0\n");
    folder.write("model.json", R"({"streams": 1, "depth": 3, "mixers": [[[1]], [[2]], [[3]]],
                                   "noise": {"kind": "isotropic", "sigma2": [0.1, 0.2, 0.3]}})");
    const study::Request one = request_for((folder.path() / "one.csv").string());
    EXPECT_EQ(GrowingNetwork(one).max_depth(), max_depth);
    EXPECT_EQ(GrowingNetwork(one).at(7).depth(), 7);
    const study::Request two = request_for((folder.path() / "two.csv").string());
    GrowingNetwork pair(two);
    EXPECT_EQ(pair.max_depth(), 2);
    EXPECT_EQ(pair.at(2).mixers[1](0, 1), 2);
    study::Request model;
    model.model = (folder.path() / "model.json").string();
    GrowingNetwork own(model);
    EXPECT_EQ(own.max_depth(), 3);
    EXPECT_EQ(sigma2(own.at(2)), (std::vector<double>{0.1, 0.2}));
    study::Request tied = request_for("orthogonal");
    tied.branch = "tied";
    EXPECT_EQ(GrowingNetwork(tied).max_depth(), 32);
}

}  // namespace
}  // namespace spectra
