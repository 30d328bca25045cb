#include "study/invocation.hpp"

#include <gtest/gtest.h>

namespace spectra::study {
namespace {

TEST(Invocation, NamesCarryTheSettings) {
    const Settings settings{{"command", "analysis"}, {"noise", "0.5"}, {"logit_scale", "2"}, {"pre", "1/x y"}};
    EXPECT_EQ(file_name_suffix(settings, {"command"}), "-noise0.5-logit-scale2-prex_y");
    EXPECT_EQ(file_name_suffix({}, {}), "");
}

TEST(Invocation, LongValuesBecomeOneNumberThatDependsOnAllOfThem) {
    const std::string one(200, '1');
    const auto short_name = file_name_suffix({{"sigma2", one}}, {});
    EXPECT_EQ(short_name.size(), std::string("-sigma2").size() + 8);
    EXPECT_NE(short_name, file_name_suffix({{"sigma2", one + "2"}}, {}));
    Settings many;
    for (int k = 0; k < 30; ++k) many.emplace_back("field" + std::to_string(k), "value");
    EXPECT_EQ(file_name_suffix(many, {}).size(), 9u);
}

TEST(Invocation, DifferencesNameFieldsAndBothValues) {
    const Settings before{{"mixer", "cayley"}, {"noise", "0.5"}}, now{{"mixer", "cayley"}, {"seed", "2"}};
    const auto found = differences(to_json(before), now);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0], "`noise` 0.5 there, default here");
    EXPECT_EQ(found[1], "`seed` default there, 2 here");
    EXPECT_TRUE(differences(to_json(before), now, {"noise", "seed"}).empty());
    EXPECT_TRUE(differences(to_json(now), now).empty());
}

TEST(Invocation, ADeviceDoesNotTellResultsApart) {
    EXPECT_EQ(file_name_suffix({{"device", "cpu"}, {"seed", "2"}}, {}), "-seed2");
    EXPECT_TRUE(differences(to_json({{"device", "cpu"}}), {}).empty());
}

TEST(Invocation, DamagedSettingsAreOtherSettings) {
    for (const char* text : {"", "[]", "{\"noise\": 0.5}", "not JSON", "{\"noise\""})
        EXPECT_EQ(differences(text, {{"noise", "0.5"}}).size(), 1u) << text;
}

}  // namespace
}  // namespace spectra::study
