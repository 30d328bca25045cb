#include "tasks/legacy_random.hpp"
#include "support/expect_refused.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

namespace spectra::tasks {
namespace {

/// One call of the file again, value for value.
void expect_same(tasks::LegacyRandom& random, const nlohmann::json& call) {
    const auto name = call.at("call").get<std::string>();
    for (const auto& value : call.at("values")) {
        if (name == "random_sample")
            EXPECT_EQ(random.random_sample(), value.get<double>());
        else if (name == "uniform")
            EXPECT_EQ(random.uniform(call.at("low"), call.at("high")), value.get<double>());
        else if (name == "randint")
            EXPECT_EQ(random.randint(call.at("low"), call.at("high")), value.get<std::int64_t>());
        else if (name == "randn")  // a logarithm: C libraries may differ in the last bit
            EXPECT_DOUBLE_EQ(random.randn(), value.get<double>());
        else
            FAIL() << "unknown call " << name;
    }
}

TEST(LegacyRandom, GivesNumpysNumbers) {
    const auto file = nlohmann::json::parse(std::ifstream(SPECTRA_DATA_DIR "/tasks/numpy_legacy.json"));
    ASSERT_EQ(file.at("entries").size(), 18U);
    for (const auto& entry : file.at("entries")) {
        tasks::LegacyRandom random(entry.at("seed").get<std::uint32_t>());
        for (const auto& call : entry.at("calls")) {
            SCOPED_TRACE(::testing::Message() << "seed " << entry.at("seed") << ", " << call.at("call") << " "
                                              << call.value("low", 0.0) << " " << call.value("high", 0.0));
            expect_same(random, call);
        }
    }
}

TEST(LegacyRandom, FillsWithTheNormalsOfSingleCalls) {
    tasks::LegacyRandom one(7);
    tasks::LegacyRandom other(7);
    std::vector<double> normals(5);
    one.randn(normals);
    for (const double x : normals) EXPECT_EQ(x, other.randn());
    EXPECT_EQ(one, other);
    EXPECT_EQ(one.randn(), other.randn());  // the one kept
}

TEST(LegacyRandom, ComparesWhereItStands) {
    tasks::LegacyRandom random(1);
    const tasks::LegacyRandom start = random;
    EXPECT_EQ(random.randint(3, 4), 3);
    EXPECT_EQ(random, start);  // nothing to draw
    random.randn();
    const tasks::LegacyRandom with_kept = random;
    random.randn();
    EXPECT_NE(random, with_kept);
    EXPECT_NE(random, start);
    EXPECT_NE(start, tasks::LegacyRandom(2));
}

TEST(LegacyRandom, RefusesAnEmptyRange) {
    tasks::LegacyRandom random(1);
    spectra::testing::expect_refused([&] { random.randint(4, 4); }, {"randint", "4", "low must be < high"});
    spectra::testing::expect_refused([&] { random.randint(5, -5); }, {"5", "-5"});
}

}  // namespace
}  // namespace spectra::tasks
