#include "network/model_file.hpp"

#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

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
    refused(with("/detph", 3), {"unknown key 'detph'", "accepted: streams, depth"});
    refused(with("/noise/sigma", 3), {"noise", "unknown key 'sigma'", "accepted: kind, sigma2"});
    refused({{"about", "x"}, {"cases", json::array()}}, {"cases"});
}

TEST(ModelFile, RefusesMissingKeys) {
    for (const char* key : {"streams", "depth", "mixers", "noise"}) refused(without(key), {key, "missing"});
    refused(with("/noise", {{"kind", "isotropic"}}), {"noise", "sigma2", "missing"});
    refused(with("/noise", {{"sigma2", 1}}), {"noise", "kind", "missing"});
}

TEST(ModelFile, RefusesOtherBranches) {
    for (const char* kind : {"hyper-connection", "tied", "activation"})
        refused(with("/noise/kind", kind), {kind, "accepted: isotropic"});
    refused(with("/noise", {{"kind", "isotropic"}, {"singular_values", {{1, 2}}}}),
            {"singular_values", "accepted: isotropic"});
}

TEST(ModelFile, RefusesSizesThatDoNotFit) {
    refused(with("/depth", 3), {"2 mixers", "depth 3"});
    refused(with("/streams", 3), {"2×2", "streams is 3"});
    refused(with("/noise/sigma2", {0.1, 0.1, 0.1}), {"sigma2", "3 values", "depth 2"});
    refused(with("/noise/sigma2", json::array()), {"sigma2", "0 values"});
    refused(with("/mixers/1", {{1}}), {"mixers", "layer 2", "1×1"});
    refused(with("/mixers/1", {{1, 2}, {3}}), {"mixers", "layer 2", "row 2"});
    for (const char* key : {"/depth", "/streams", "/width"})
        for (const json& bad : {json(0), json(-1), json(1.5), json(1'000'000'000'000), json("2"),
                                json(nullptr), json(true), json(1e300), json(18446744073709551615ULL)})
            refused(with(key, bad), {key + 1, "accepted: an integer from 1 to"});
}

TEST(ModelFile, RefusesVariancesThatAreNone) {
    refused(with("/noise/sigma2/1", -0.1), {"sigma2 of layer 2", "-0.1", "0 or more"});
    refused(with("/noise/sigma2", -1), {"sigma2", "-1"});
    refused(with("/noise/sigma2/0", "x"), {"sigma2 of layer 1", "string"});
    refused(with("/noise/sigma2", nullptr), {"sigma2", "null"});
}

/// Every value of a case replaced by every type of JSON: accepted or refused, never anything else.
TEST(ModelFile, WrongTypesAnywhereAreRefused) {
    const json flat = valid().flatten();
    std::vector<std::string> pointers{""};
    for (const auto& item : flat.items())
        for (std::string pointer = item.key(); !pointer.empty(); pointer.erase(pointer.rfind('/')))
            pointers.push_back(pointer);
    const std::vector<json> values{nullptr,       true,           -1,          1e308,     "text",
                                   json::array(), json::object(), {{{{{1}}}}}, {1, "two"}};
    int refusals = 0;
    for (const auto& pointer : pointers)
        for (const auto& value : values) {
            try {
                check(model_from_json(with(pointer.c_str(), value), "case.json"));
            } catch (const std::invalid_argument& error) {
                ++refusals;
                EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
            }
        }
    EXPECT_GT(refusals, 100);
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
