#include "options.hpp"

#include "console/terminal.hpp"

#include "network/connection.hpp"
#include "network/mean_field.hpp"
#include "study/build_network.hpp"
#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

/// Words to a network, without running anything.
namespace spectra::cli {
namespace {

using namespace study;
using nlohmann::json;
using testing::expect_refused;
using List = std::vector<double>;
using Words = std::vector<std::string>;

DescribedNetwork describe(Words words) {
    Request request;
    CLI::App app;
    add_options(app, request);
    std::reverse(words.begin(), words.end());
    app.parse(words);
    try {
        check_conflicts(request);
        return describe_network(request);
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(console::message_of(error));
    }
}

/// Orthogonal mixers, three layers of two streams; `more` comes on top.
Network small(const Words& more) {
    Words words{"--mixer", "orthogonal", "--depth", "3", "--streams", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return describe(words).network;
}

template <typename B>
B branch_of(const Words& more) {
    return std::get<B>(small(more).branch);
}

void refused(const Words& more, const std::vector<std::string>& fragments) {
    expect_refused([&] { small(more); }, fragments);
}

void expect_close(const List& found, const List& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], 1e-13 * expected[k]);
}

TEST(NetworkOptions, EveryGoldenCaseIsAccepted) {
    std::ifstream file(SPECTRA_DATA_DIR "/golden/chain.json");
    const auto golden = json::parse(file);
    const testing::TemporaryFolder folder;
    std::size_t cases = 0;
    for (const auto& entry : golden["cases"]) {
        const auto path = folder.write("case.json", entry.dump());
        DescribedNetwork described;
        ASSERT_NO_THROW(described = describe({"--model", path.string()})) << entry["name"];
        EXPECT_EQ(branch_name(described.network.branch), entry["noise"]["kind"].get<std::string>())
            << entry["name"];
        EXPECT_EQ(described.short_name, "case");
        EXPECT_FALSE(described.recipe);
        ++cases;
    }
    EXPECT_EQ(cases, 71U);
}

TEST(NetworkOptions, TitlesNameTheBranch) {
    const testing::TemporaryFolder folder;
    const std::string law = folder.write("law.json", "[1, 2]").string();
    EXPECT_EQ(small({}).title, "orthogonal, L = 3, n = 2, p = 25, Lσ² = 0.05, seed 1");
    EXPECT_EQ(small({"--branch", "isotropic"}).title, small({}).title);
    const auto expect = [](const Words& words, const std::string& part) {
        const auto title = small(words).title;
        EXPECT_NE(title.find("p = 25, " + part), std::string::npos) << title;
    };
    expect({"--branch", "activation"}, "activation relu, Lσ_w²Eφ'² = 0.05, seed 1");
    expect({"--branch", "activation", "--activation", "tanh", "--noise", "2"},
           "activation tanh, Lσ_w²Eφ'² = 2, seed 1");
    expect({"--branch", "hyper-connection"}, "hyper-connection, Lσ² = 0.05");
    expect({"--branch", "hyper-connection", "--branch-law", law},
           "hyper-connection of given singular values, Lσ² = 7.5");
    expect({"--branch-law", law}, "isotropic of given singular values, Lσ² = 7.5");
    expect({"--branch", "tied"}, "tied, Lσ² = 0.05");
    expect({"--branch", "tied", "--pre", "mean"}, "tied hyper-connection, Lσ² = 0.05");
    expect({"--sigma2", "1,2,3"}, "Σσ² = 6");
}

TEST(NetworkOptions, ActivationsHaveTheNoiseAskedFor) {
    for (const auto& name : activation_names()) {
        const Words words{"--branch", "activation", "--activation", name, "--noise", "0.6"};
        const Network network = small(words);
        const auto& branch = std::get<ActivationBranch>(network.branch);
        SCOPED_TRACE(name);
        expect_close(sigma2(network), {0.2, 0.2, 0.2});
        const auto q = propagated_variances(network.mixers, branch.sigma_w2, branch.activation);
        if (depends_on_variance(branch.activation))
            expect_close(branch.preactivation_variance, q);
        else
            EXPECT_TRUE(branch.preactivation_variance.empty());
    }
    EXPECT_EQ(name(branch_of<ActivationBranch>({"--branch", "activation"}).activation), "relu");
}

TEST(NetworkOptions, ActivationsOfGivenVariances) {
    const Activation erf = activation_from_name("erf");
    const auto with = [](const Words& more) {
        Words words{"--branch", "activation", "--activation", "erf"};
        words.insert(words.end(), more.begin(), more.end());
        return branch_of<ActivationBranch>(words);
    };
    const auto weights = with({"--sigma2", "2,1,0.5"});
    EXPECT_EQ(weights.sigma_w2, (List{2, 1, 0.5})) << "σ_w² itself";
    EXPECT_EQ(weights.preactivation_variance, propagated_variances(small({}).mixers, {2, 1, 0.5}, erf));
    const auto both = with({"--sigma2", "2", "--preactivation-variance", "0.25"});
    EXPECT_EQ(both.sigma_w2, (List{2, 2, 2}));
    EXPECT_EQ(both.preactivation_variance, (List{0.25, 0.25, 0.25}));
    const auto layers = with({"--noise", "0.3", "--preactivation-variance", "0,1,2"});
    EXPECT_EQ(layers.preactivation_variance, (List{0, 1, 2}));
    expect_close(layers.sigma_w2, {0.1 / mean_derivative2(erf, 0), 0.1 / mean_derivative2(erf, 1),
                                   0.1 / mean_derivative2(erf, 2)});
    const auto relu =
        branch_of<ActivationBranch>({"--branch", "activation", "--preactivation-variance", "4"});
    EXPECT_EQ(relu.preactivation_variance, (List{4, 4, 4})) << "given, if not needed";
    expect_close(relu.sigma_w2, {0.1 / 3, 0.1 / 3, 0.1 / 3});
}

TEST(NetworkOptions, StreamWeightsAreDrawnFromTheSeed) {
    const auto hyper = [](const Words& more) {
        Words words{"--branch", "hyper-connection"};
        words.insert(words.end(), more.begin(), more.end());
        return branch_of<HyperConnectionBranch>(words);
    };
    const auto plain = hyper({"--seed", "9"});
    const auto drawn = draw_connections(2, 3, false, 9);
    EXPECT_EQ(plain.pre, drawn.pre);
    EXPECT_EQ(plain.post, drawn.post);
    EXPECT_EQ(plain.sigma2, (List{0.05 / 3, 0.05 / 3, 0.05 / 3}));
    EXPECT_NE(hyper({"--seed", "10"}).pre, drawn.pre);
    const auto shared = hyper({"--draws", "shared", "--seed", "9"});
    for (std::size_t l = 0; l < 3; ++l) {
        EXPECT_EQ(shared.pre[l], drawn.pre[0]);
        EXPECT_EQ(shared.post[l], drawn.post[0]);
    }
    const auto mean = hyper({"--pre", "mean", "--seed", "9"});
    EXPECT_EQ(mean.pre, std::vector<Eigen::VectorXd>(3, Eigen::Vector2d(0.5, 0.5)));
    EXPECT_EQ(mean.post, drawn.post) << "not changed by --pre";
    EXPECT_EQ(hyper({"--post", "mean"}).post, std::vector<Eigen::VectorXd>(3, Eigen::Vector2d(1, 1)));
    const auto given = hyper({"--pre", "0.25, 2", "--post", "-1,1e-3"});
    EXPECT_EQ(given.pre, std::vector<Eigen::VectorXd>(3, Eigen::Vector2d(0.25, 2)));
    EXPECT_EQ(given.post, std::vector<Eigen::VectorXd>(3, Eigen::Vector2d(-1, 1e-3)));
    EXPECT_EQ(hyper({"--pre", "drawn", "--seed", "9"}).pre, drawn.pre);
}

TEST(NetworkOptions, MixersOfAFileLeaveWeightsToBeDrawn) {
    const testing::TemporaryFolder folder;
    const std::string file = folder.write("one.csv", "1,0\n0,1\n").string();
    const auto described = describe({"--mixer", file, "--depth", "3", "--branch", "hyper-connection",
                                     "--draws", "shared", "--seed", "4"});
    const auto& branch = std::get<HyperConnectionBranch>(described.network.branch);
    EXPECT_EQ(branch.pre, draw_connections(2, 3, true, 4).pre);
    EXPECT_EQ(described.network.title.find("one for all"), std::string::npos);
    for (const Words& branch_words : {Words{},
                                      {"--branch", "tied", "--pre", "drawn"},
                                      {"--branch", "hyper-connection", "--pre", "mean", "--post", "mean"}}) {
        Words words{"--mixer", file, "--draws", "shared"};
        words.insert(words.end(), branch_words.begin(), branch_words.end());
        expect_refused([&] { describe(words); }, {"one.csv", "--draws"});
    }
}

TEST(NetworkOptions, TiedBranches) {
    EXPECT_EQ(branch_of<TiedBranch>({"--branch", "tied", "--noise", "0.6"}).sigma2, List(3, 0.6 / 3));
    EXPECT_EQ(branch_of<TiedBranch>({"--branch", "tied", "--sigma2", "0.4"}).sigma2, List(3, 0.4));
    EXPECT_FALSE(branch_of<TiedBranch>({"--branch", "tied"}).hyper_connection());
    const auto drawn = draw_connections(2, 1, false, 1);
    for (const Words& words :
         {Words{"--branch", "tied", "--pre", "drawn"}, {"--branch", "tied", "--post", "drawn"}}) {
        const auto tied = branch_of<TiedBranch>(words);
        EXPECT_EQ(tied.pre, std::vector<Eigen::VectorXd>(3, drawn.pre[0]));
        EXPECT_EQ(tied.post, std::vector<Eigen::VectorXd>(3, drawn.post[0]));
    }
    const auto mean = branch_of<TiedBranch>({"--branch", "tied", "--pre", "mean", "--post", "1,2"});
    EXPECT_EQ(mean.pre, std::vector<Eigen::VectorXd>(3, Eigen::Vector2d(0.5, 0.5)));
    EXPECT_EQ(mean.post, std::vector<Eigen::VectorXd>(3, Eigen::Vector2d(1, 2)));
    EXPECT_NO_THROW(describe({"--mixer", "identity", "--branch", "tied", "--depth", "1000"}))
        << "size is for the theory to judge";
}

TEST(NetworkOptions, BranchLawsComeFromFiles) {
    const testing::TemporaryFolder folder;
    const std::string one = folder.write("one.txt", "1 2 3\n").string();
    const std::string three = folder.write("three.json", "[[1], [2, 3], [4]]").string();
    const std::string two = folder.write("two.csv", "1,2\n3,4\n").string();
    EXPECT_EQ(branch_of<IsotropicBranch>({"--branch-law", one}).law, (BranchLaw{{1, 2, 3}}));
    EXPECT_EQ(branch_of<IsotropicBranch>({"--branch-law", three}).law, (BranchLaw{{1}, {2, 3}, {4}}));
    EXPECT_EQ(branch_of<HyperConnectionBranch>({"--branch", "hyper-connection", "--branch-law", one}).law,
              (BranchLaw{{1, 2, 3}}));
    refused({"--branch-law", two}, {"--branch-law", "two.csv", "2 sets", "depth 3"});
    refused({"--branch-law", (folder.path() / "none").string()}, {"none", "no such file"});
}

TEST(NetworkOptions, RefusesValuesThatDoNotFit) {
    refused({"--sigma2", "1,2"}, {"--sigma2 has 2 values for depth 3"});
    refused({"--branch", "activation", "--sigma2", "1,2"}, {"--sigma2 has 2 values for depth 3"});
    refused({"--branch", "activation", "--preactivation-variance", "1,2"},
            {"--preactivation-variance has 2 values for depth 3"});
    refused({"--branch", "tied", "--sigma2", "1,2,3"}, {"--sigma2", "3 values", "must be one"});
    refused({"--branch", "hyper-connection", "--pre", "1,2,3"}, {"--pre has 3 values for 2 streams"});
    refused({"--branch", "tied", "--post", "1"}, {"--post has 1 values for 2 streams"});
}

TEST(NetworkOptions, StreamWeightsAndBranchLawsComeFromNumpyFiles) {
    const std::string folder = SPECTRA_DATA_DIR "/npy/";
    const auto two_layers = [&](const Words& more) {
        Words words{"--mixer", "orthogonal", "--depth", "2", "--streams", "2"};
        words.insert(words.end(), more.begin(), more.end());
        return describe(words).network;
    };
    const auto hyper = std::get<HyperConnectionBranch>(
        two_layers({"--branch", "hyper-connection", "--pre", folder + "only.npz", "--post", "mean"}).branch);
    EXPECT_EQ(hyper.pre[0], Eigen::Vector2d(0.5, 0.5));
    EXPECT_EQ(hyper.pre[1], Eigen::Vector2d(0.25, 0.75)) << "one row per layer";
    EXPECT_EQ(std::get<IsotropicBranch>(two_layers({"--branch-law", folder + "little-f4.npy"}).branch).law,
              (BranchLaw{{0, 1, 2}, {3, 4, 5}}));
    refused({"--branch", "hyper-connection", "--pre", folder + "only.npz"}, {"--pre has 2 rows for 3 layers"});
    refused({"--branch", "hyper-connection", "--pre", folder + "i1.npy"}, {"--pre has 3 values for 2 streams"});
    refused({"--branch", "hyper-connection", "--post", folder + "several.npz"}, {"--post", "'a', 'b'", "'post'"});
    refused({"--branch", "hyper-connection", "--post", folder + "complex64.npy"}, {"--post", "real"});
}

TEST(NetworkOptions, NoiseThatWouldOverflowIsRefusedWithTheRange) {
    refused({"--noise", "1e300"}, {"--noise 1e+300", "exceed 1e150", "must be from 0 to 1e100 for this network"});
    EXPECT_NO_THROW(small({"--noise", "1e100"})) << "the range is what is accepted";
    refused({"--noise", "1e101"}, {"0 to 1e100"});
    refused({"--sigma2", "1,1e200,1e200"}, {"--sigma2", "1e100"});
    expect_refused([] { describe({"--mixer", "cayley", "--depth", "100", "--noise", "1e6"}); },
                   {"--noise 1000000", "0 to 1e4 "});
}

}  // namespace
}  // namespace spectra::cli
