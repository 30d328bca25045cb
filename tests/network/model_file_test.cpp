#include "network/model_file.hpp"

#include "network/from_json.hpp"
#include "network/mean_field.hpp"
#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace spectra {
namespace {

using nlohmann::json;
using testing::expect_refused;
using testing::TemporaryFolder;

json valid() {
    return json::parse(R"({
        "name": "isotropic/example/L2", "streams": 2, "depth": 2,
        "mixers": [[[1, 0.5], [0, 1]], [[0, 1], [1, 0]]],
        "noise": {"kind": "isotropic", "sigma2": [0.05, 0.1]},
        "omega": [[0.3, 0.05]], "g": [[1, -1]], "mean_square_singular_value": 1.2})");
}

void refused(const json& value, std::vector<std::string> words) {
    words.emplace_back("case.json");
    expect_refused([&] { model_from_json(value, "case.json"); }, words);
}

/// valid() with the value at a JSON pointer replaced.
json with(const char* pointer, const json& value) {
    json changed = valid();
    changed[json::json_pointer(pointer)] = value;
    return changed;
}

json without(const char* key) {
    json changed = valid();
    changed.erase(key);
    return changed;
}

TEST(ModelFile, ReadsACase) {
    const Network network = model_from_json(valid(), "case.json");
    EXPECT_EQ(network.streams, 2);
    EXPECT_EQ(network.depth(), 2);
    EXPECT_EQ(network.width, 25);
    EXPECT_EQ(network.mixers[0](0, 1), 0.5) << "rows first";
    EXPECT_EQ(network.mixers[0](1, 0), 0.0);
    EXPECT_EQ(branch_name(network.branch), "isotropic");
    EXPECT_EQ(sigma2(network), (std::vector<double>{0.05, 0.1}));
}

TEST(ModelFile, OneNumberOrOneMixerServesAllLayers) {
    EXPECT_EQ(sigma2(model_from_json(with("/noise/sigma2", 0.2), "case.json")),
              (std::vector<double>{0.2, 0.2}));
    const Network network = model_from_json(with("/mixers", {{1, 2}, {3, 4}}), "case.json");
    ASSERT_EQ(network.depth(), 2);
    EXPECT_EQ(network.mixers[1](1, 0), 3);
    EXPECT_EQ(model_from_json(with("/width", 100), "case.json").width, 100);
}

TEST(ModelFile, ReadsFromDisk) {
    const TemporaryFolder folder;
    const Network network = read_model(folder.write("case.json", valid().dump()));
    EXPECT_EQ(network.mixer_name, "case.json");
    expect_refused([&] { read_model(folder.path() / "none.json"); }, {"none.json", "no such file"});
    expect_refused([&] { read_model(folder.write("bad.json", "{")); }, {"bad.json", "not JSON"});
}

TEST(ModelFile, RefusesUnknownKeysByName) {
    refused(with("/detph", 3), {"unknown key 'detph'", "must be one of streams, depth"});
    refused(with("/noise/sigma", 3), {"noise", "unknown key 'sigma'", "must be one of kind, sigma2"});
    refused({{"about", "x"}, {"cases", json::array()}}, {"cases"});
}

TEST(ModelFile, RefusesMissingKeys) {
    for (const char* key : {"streams", "depth", "mixers", "noise"}) refused(without(key), {key, "missing"});
    refused(with("/noise", {{"kind", "isotropic"}}), {"noise", "sigma2", "missing"});
    refused(with("/noise", {{"sigma2", 1}}), {"noise", "kind", "missing"});
}

TEST(ModelFile, RefusesOtherBranches) {
    for (const json& kind : {json("hyper"), json(""), json(3), json::object()})
        refused(with("/noise/kind", kind),
                {"noise", "kind", "must be one of isotropic, activation, hyper-connection, tied, aligned"});
}

// Branches

json with_noise(const json& noise) {
    return with("/noise", noise);
}

json noise_with(json noise, const char* key, const json& value) {
    noise[key] = value;
    return with_noise(noise);
}

template <typename B>
B branch_of(const json& noise) {
    return std::get<B>(model_from_json(with_noise(noise), "case.json").branch);
}

const json hyper{{"kind", "hyper-connection"},
                 {"sigma2", {0.1, 0.2}},
                 {"pre", {{0.5, 0.5}, {1, 0}}},
                 {"post", {{1, 1}, {-2, 3}}}};
const json tied{{"kind", "tied"}, {"sigma2", 0.3}};
const json bernoulli{
    {"kind", "activation"}, {"law", "bernoulli"}, {"probability", 0.25}, {"sigma_w2", {1, 2}}};
const json silu{{"kind", "activation"}, {"law", "silu"}, {"sigma_w2", {1, 2}}};

TEST(ModelFile, ReadsBranchesOfAnyLaw) {
    using Law = BranchLaw;
    const auto law = [](const json& values) {
        return branch_of<IsotropicBranch>({{"kind", "isotropic"}, {"singular_values", values}}).law;
    };
    EXPECT_EQ(law({{1, 2, 3}, {0.5, 0}}), (Law{{1, 2, 3}, {0.5, 0}})) << "a set per layer";
    EXPECT_EQ(law({{1, 2, 3}}), (Law{{1, 2, 3}}));
    EXPECT_EQ(law({1, 2, 3}), (Law{{1, 2, 3}})) << "one for all";
    const Network network = model_from_json(
        with_noise({{"kind", "isotropic"}, {"singular_values", {{3, 4}, {0, 1, 2}}}}), "case.json");
    EXPECT_EQ(sigma2(network), (std::vector<double>{12.5, 5.0 / 3}));
    EXPECT_EQ(branch_law(network, 1), (std::vector<double>{0, 1, 2}));
    json noise = hyper;
    noise.erase("sigma2");
    noise["singular_values"] = {1, 2};
    EXPECT_EQ(branch_of<HyperConnectionBranch>(noise).law, (Law{{1, 2}}));
}

TEST(ModelFile, RefusesBranchesOfNoLaw) {
    const json noise{{"kind", "isotropic"}};
    const auto bad = [&](const json& values, std::vector<std::string> words) {
        words.emplace_back("singular_values");
        refused(noise_with(noise, "singular_values", values), words);
    };
    bad({{1, 2}, {1, 2}, {1, 2}}, {"3 sets", "depth 2", "one per layer"});
    bad(json::array(), {"empty"});
    bad({{1, 2}, json::array()}, {"set 2", "empty"});
    bad({{1, 2}, {1, -2}}, {"set 2, value 2", "≥ 0"});
    bad({{1, "2"}}, {"set 1, value 2", "string"});
    bad({{1, 2}, 3}, {"set 2", "number", "array"});
    bad({1, {2}}, {"set 1, value 2", "array"});
    bad("x", {"string"});
    refused(noise_with(noise, "singular_values", {1e200, 1}), {"singular values", "overflow"});
    refused(noise_with({{"kind", "isotropic"}, {"sigma2", 1}}, "singular_values", {1}),
            {"noise", "both sigma2 and singular_values"});
}

TEST(ModelFile, ReadsHyperConnections) {
    const auto branch = branch_of<HyperConnectionBranch>(hyper);
    EXPECT_EQ(branch.sigma2, (std::vector<double>{0.1, 0.2}));
    ASSERT_EQ(branch.pre.size(), 2U);
    EXPECT_EQ(branch.pre[1], Eigen::Vector2d(1, 0));
    EXPECT_EQ(branch.post[1], Eigen::Vector2d(-2, 3));
    json noise = hyper;
    noise["pre"] = {0.25, 0.75};
    noise["post"] = {{1, 2}};
    noise["sigma2"] = 0.5;
    const auto shared = branch_of<HyperConnectionBranch>(noise);
    EXPECT_EQ(shared.sigma2, (std::vector<double>{0.5, 0.5}));
    for (std::size_t l = 0; l < 2; ++l) {
        EXPECT_EQ(shared.pre[l], Eigen::Vector2d(0.25, 0.75));
        EXPECT_EQ(shared.post[l], Eigen::Vector2d(1, 2));
    }
}

TEST(ModelFile, RefusesHyperConnectionsByKey) {
    for (const char* key : {"sigma2", "pre", "post"}) {
        json noise = hyper;
        noise.erase(key);
        refused(with_noise(noise), {"noise", key, "missing"});
    }
    refused(noise_with(hyper, "width", 3), {"unknown key 'width'", "must be one of kind, sigma2"});
    for (const char* key : {"pre", "post"}) {
        refused(noise_with(hyper, key, {1, 2, 3}), {key, "3 entries", "2 finite numbers"});
        refused(noise_with(hyper, key, {{1, 2}, {1}}), {std::string(key) + " of layer 2", "1 entries"});
        refused(noise_with(hyper, key, {{1, 2}, {1, 2}, {1, 2}}), {key, "3 vectors", "depth 2"});
        refused(noise_with(hyper, key, {{1, 2}, {1, "2"}}),
                {std::string(key) + " of layer 2, entry 2", "string"});
        refused(noise_with(hyper, key, {{1, 2}, 3}), {std::string(key) + " of layer 2", "number"});
        refused(noise_with(hyper, key, "softmax"), {key, "string"});
        refused(noise_with(hyper, key, json::array()), {key, "0 entries"});
    }
    refused(noise_with(hyper, "sigma2", {0.1, -1}), {"sigma2 of layer 2", "≥ 0"});
}

TEST(ModelFile, ReadsTiedBranches) {
    const auto plain = branch_of<TiedBranch>(tied);
    EXPECT_EQ(plain.sigma2, (std::vector<double>{0.3, 0.3}));
    EXPECT_TRUE(plain.weights.empty());
    EXPECT_FALSE(plain.hyper_connection());
    json noise = tied;
    noise["pre"] = {0.5, 0.25};
    noise["post"] = {1, 2};
    const auto connected = branch_of<TiedBranch>(noise);
    EXPECT_TRUE(connected.hyper_connection());
    EXPECT_EQ(connected.pre, std::vector<Eigen::VectorXd>(2, Eigen::Vector2d(0.5, 0.25)));
    EXPECT_EQ(connected.post, std::vector<Eigen::VectorXd>(2, Eigen::Vector2d(1, 2)));
    EXPECT_EQ(sigma2(model_from_json(with_noise(noise), "case.json")), (std::vector<double>{0.3, 0.3}));
    noise["sigma2"] = {0.1, 0.2};
    noise["pre"] = {{1, 2}, {3, 4}};
    noise["weights"] = {2, 0};
    const auto turns = branch_of<TiedBranch>(noise);
    EXPECT_EQ(turns.sigma2, (std::vector<double>{0.1, 0.2}));
    EXPECT_EQ(turns.pre[1], Eigen::Vector2d(3, 4));
    EXPECT_EQ(turns.post[1], Eigen::Vector2d(1, 2));
    EXPECT_EQ(turns.weights, (std::vector<int>{2, 0}));
}

TEST(ModelFile, RefusesTiedBranchesByKey) {
    refused(with_noise({{"kind", "tied"}}), {"sigma2", "missing"});
    refused(noise_with(tied, "sigma2", {0.1, 0.1, 0.1}), {"sigma2 has 3 values", "one number, or one per"});
    refused(noise_with(tied, "weights", 1), {"weights is a JSON number", "must be 2 integers"});
    refused(noise_with(tied, "weights", {1}), {"weights is 1 values", "must be 2 integers"});
    for (const json& bad : {json(-1), json(0.5), json("a"), json(1e12)})
        refused(noise_with(tied, "weights", {0, bad}), {"weights", "must be 2 integers ≥ 0"});
    refused(noise_with(tied, "sigma2", -1), {"sigma2", "≥ 0"});
    refused(noise_with(tied, "pre", {1, 1}), {"post", "missing"});
    refused(noise_with(tied, "post", {1, 1}), {"pre", "missing"});
    json noise = tied;
    noise["post"] = {1, 1};
    refused(noise_with(noise, "pre", {{1, 1}, {1, 1}, {1, 1}}), {"pre has 3 vectors for depth 2"});
    refused(noise_with(noise, "pre", {1}), {"pre", "1 entries"});
    refused(noise_with(tied, "singular_values", {1}),
            {"unknown key 'singular_values'", "sigma2, pre, post, weights"});
}

/// Of width 3, two streams and two layers: one triplet of every branch is kept.
json aligned_case() {
    const json unit{{"values", {2.0}}, {"left", {{0, 1, 0}}}, {"right", {{0, 0, 1}}}};
    json noise{{"kind", "aligned"},
               {"pre", {1, 0.5}},
               {"post", {1, 1}},
               {"triplets", {unit, unit}},
               {"singular_values", {{0.1, 0.2}, {0.3, 0.4}}}};
    json all = with_noise(noise);
    all["width"] = 3;
    return all;
}

TEST(ModelFile, ReadsAlignedBranches) {
    const auto network = model_from_json(aligned_case(), "case.json");
    const auto& branch = std::get<AlignedBranch>(network.branch);
    ASSERT_EQ(branch.kept.size(), 2U);
    EXPECT_EQ(branch.kept[1].values(0), 2);
    EXPECT_EQ(branch.kept[1].left(1, 0), 1);
    EXPECT_EQ(branch.kept[1].right(2, 0), 1);
    EXPECT_EQ(branch.rest, (BranchLaw{{0.1, 0.2}, {0.3, 0.4}}));
    EXPECT_TRUE(branch.derivative.empty());
    EXPECT_NEAR(sigma2(network)[0], (4 + 0.01 + 0.04) / 3, 1e-15);
    EXPECT_EQ(branch_name(network.branch), "aligned");
}

TEST(ModelFile, RefusesAlignedBranchesByKey) {
    const auto changed = [](const char* pointer, const json& value) {
        json all = aligned_case();
        all[json::json_pointer(pointer)] = value;
        return all;
    };
    refused(changed("/noise/triplets", 3), {"triplets", "a JSON number", "2 objects"});
    refused(changed("/noise/triplets/1", json::array()), {"triplets of layer 2", "a JSON array"});
    refused(changed("/noise/triplets/0/left", {{0, 1}}), {"triplets of layer 1", "left, vector 1: 2 entries", "3 numbers"});
    refused(changed("/noise/triplets/0/left", {{0, 2, 0}}), {"triplets of layer 1", "left vectors", "orthonormal"});
    refused(changed("/noise/triplets/0/values", {-1}), {"triplets of layer 1", "value -1"});
    refused(changed("/noise/triplets/0/values", {1, 2}), {"triplets of layer 1", "2 values, 1 left"});
    refused(changed("/noise/singular_values/0", {1, 2, 3}), {"layer 1 has 3 singular values beside 1 triplets", "expected 2"});
    refused(changed("/noise/singular_values/1", {1, -2}), {"layer 2", "singular value -2"});
    refused(changed("/noise/derivative", json::array()), {"derivative", "0 values", "2 objects"});
    refused(changed("/noise/sigma2", 1), {"unknown key 'sigma2'"});
    refused(changed("/width", 4), {"3 entries", "4 numbers"});
}

TEST(ModelFile, ReadsActivations) {
    const auto mask = branch_of<ActivationBranch>(bernoulli);
    EXPECT_EQ(mask.activation.kind, ActivationKind::bernoulli);
    EXPECT_EQ(mask.activation.probability, 0.25);
    EXPECT_EQ(mask.sigma_w2, (std::vector<double>{1, 2}));
    EXPECT_TRUE(mask.preactivation_variance.empty());
    EXPECT_EQ(sigma2(model_from_json(with_noise(bernoulli), "case.json")), (std::vector<double>{0.25, 0.5}));

    const Network network = model_from_json(with_noise(silu), "case.json");
    const auto& branch = std::get<ActivationBranch>(network.branch);
    EXPECT_EQ(name(branch.activation), "silu");
    EXPECT_EQ(branch.preactivation_variance,
              propagated_variances(network.mixers, {1, 2}, activation_from_name("silu")));
    EXPECT_EQ(branch.preactivation_variance[0], 1) << "from 1 at the input";

    json noise = silu;
    noise["preactivation_variance"] = 0.5;
    EXPECT_EQ(branch_of<ActivationBranch>(noise).preactivation_variance, (std::vector<double>{0.5, 0.5}));
    noise["preactivation_variance"] = {0.5, 2};
    noise["sigma_w2"] = 3;
    EXPECT_EQ(branch_of<ActivationBranch>(noise).preactivation_variance, (std::vector<double>{0.5, 2}));
    EXPECT_EQ(branch_of<ActivationBranch>(noise).sigma_w2, (std::vector<double>{3, 3}));
    for (const auto& law : activation_names()) {
        noise["law"] = law;
        EXPECT_EQ(name(branch_of<ActivationBranch>(noise).activation), law);
    }
}

TEST(ModelFile, RefusesActivationsByKey) {
    for (const char* key : {"law", "sigma_w2"}) {
        json noise = silu;
        noise.erase(key);
        refused(with_noise(noise), {"noise", key, "missing"});
    }
    json noise = bernoulli;
    noise.erase("probability");
    refused(with_noise(noise), {"probability", "missing"});
    for (const json& bad : {json(-0.1), json(1.5), json("half"), json()})
        refused(noise_with(bernoulli, "probability", bad), {"probability", "must be a number from 0 to 1"});
    refused(noise_with(bernoulli, "preactivation_variance", 1),
            {"unknown key 'preactivation_variance'", "kind, law, probability, sigma_w2"});
    refused(noise_with(silu, "probability", 0.5), {"unknown key 'probability'", "preactivation_variance"});
    refused(noise_with(silu, "sigma2", 0.5), {"unknown key 'sigma2'", "sigma_w2"});
    refused(noise_with(silu, "law", "swish"), {"law 'swish'", "must be one of bernoulli, linear, relu"});
    refused(noise_with(silu, "law", 3), {"law", "number", "must be one of bernoulli, linear, relu"});
    refused(noise_with(silu, "sigma_w2", {1, 2, 3}), {"sigma_w2", "3 values", "depth 2"});
    refused(noise_with(silu, "sigma_w2", {1, -2}), {"sigma_w2 of layer 2", "≥ 0"});
    refused(noise_with(silu, "preactivation_variance", {1}), {"preactivation_variance", "1 values"});
    refused(noise_with(silu, "preactivation_variance", -1), {"preactivation_variance", "≥ 0"});
    refused(noise_with(silu, "sigma_w2", 1e308),
            {"case.json", "pre-activation variance of layer 2 overflows"});
}

TEST(ModelFile, ReadsEveryGoldenCase) {
    std::ifstream file(SPECTRA_DATA_DIR "/golden/chain.json");
    const auto golden = json::parse(file);
    std::map<std::string, int> kinds;
    for (const auto& entry : golden["cases"]) {
        const std::string name = entry["name"];
        SCOPED_TRACE(name);
        Network network;
        ASSERT_NO_THROW(network = model_from_json(entry, name));
        EXPECT_EQ(branch_name(network.branch), entry["noise"]["kind"].get<std::string>());
        EXPECT_EQ(network.depth(), entry["depth"].get<int>());
        if (entry["noise"].contains("sigma2") && entry["noise"]["sigma2"].is_array()) {
            EXPECT_EQ(sigma2(network), entry["noise"]["sigma2"].get<std::vector<double>>());
        }
        if (entry["noise"].contains("singular_values")) {
            EXPECT_EQ(branch_law(network, 0),
                      entry["noise"]["singular_values"][0].get<std::vector<double>>());
        }
        ++kinds[branch_name(network.branch)];
    }
    EXPECT_EQ(kinds, (std::map<std::string, int>{
                         {"isotropic", 44}, {"hyper-connection", 16}, {"tied", 9}, {"activation", 2}}));
}

TEST(ModelFile, RefusesSizesThatDoNotFit) {
    refused(with("/depth", 3), {"2 mixers", "depth 3"});
    refused(with("/streams", 3), {"2×2", "streams is 3"});
    refused(with("/noise/sigma2", {0.1, 0.1, 0.1}), {"sigma2", "3 values", "depth 2"});
    refused(with("/noise/sigma2", json::array()), {"sigma2", "0 values"});
    refused(with("/mixers/1", {{1}}), {"mixers", "layer 2", "1×1"});
    refused(with("/mixers/1", {{1, 2}, {3}}), {"mixers", "layer 2", "row 2"});
    json deep = with("/depth", 1'000'000);
    deep["streams"] = 9;
    deep["mixers"] = std::vector(9, std::vector(9, 0.1));
    deep["noise"]["sigma2"] = 0.1;
    refused(deep, {"depth 1000000 of 9×9 mixers", "memory"});
    for (const char* key : {"/depth", "/streams", "/width"})
        for (const json& bad : {json(0), json(-1), json(1.5), json(1'000'000'000'000), json("2"),
                                json(nullptr), json(true), json(1e300), json(18446744073709551615ULL)})
            refused(with(key, bad), {key + 1, "must be an integer from 1 to"});
}

TEST(ModelFile, RefusesVariancesThatAreNone) {
    refused(with("/noise/sigma2/1", -0.1), {"sigma2 of layer 2", "-0.1", "≥ 0"});
    refused(with("/noise/sigma2", -1), {"sigma2", "-1"});
    refused(with("/noise/sigma2/0", "x"), {"sigma2 of layer 1", "string"});
    refused(with("/noise/sigma2", nullptr), {"sigma2", "null"});
}

/// Every value of a case replaced by every type of JSON: accepted or refused, never anything else.
TEST(ModelFile, WrongTypesAnywhereAreRefused) {
    const std::vector<json> values{nullptr,       true,           -1,          1e308,     "text",
                                   json::array(), json::object(), {{{{{1}}}}}, {1, "two"}};
    const json law{{"kind", "isotropic"}, {"singular_values", {{1, 2}, {3, 4}}}};
    for (const json& noise : {valid()["noise"], law, hyper, tied, bernoulli, silu}) {
        const json base = with_noise(noise);
        const json flat = base.flatten();
        std::vector<std::string> pointers{""};
        for (const auto& item : flat.items())
            for (std::string pointer = item.key(); !pointer.empty(); pointer.erase(pointer.rfind('/')))
                pointers.push_back(pointer);
        int refusals = 0;
        for (const auto& pointer : pointers)
            for (const auto& value : values) {
                json changed = base;
                changed[json::json_pointer(pointer)] = value;
                try {
                    check(model_from_json(changed, "case.json"));
                } catch (const std::invalid_argument& error) {
                    ++refusals;
                    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
                }
            }
        EXPECT_GT(refusals, 100);
    }
}

TEST(ModelFile, EveryTruncationIsRefused) {
    const TemporaryFolder folder;
    const std::string text = valid().dump();
    for (std::size_t length = 0; length < text.size(); ++length)
        EXPECT_THROW(read_model(folder.write("case.json", text.substr(0, length))), std::invalid_argument);
    EXPECT_THROW(read_model(folder.write("case.json", "{\"mixers\":" + std::string(300'000, '['))),
                 std::invalid_argument);
    EXPECT_THROW(read_model(folder.write("case.json", "{\"mixers\":" + std::string(300'000, '[') +
                                                          std::string(300'000, ']') + "}")),
                 std::invalid_argument);
}

}  // namespace
}  // namespace spectra
