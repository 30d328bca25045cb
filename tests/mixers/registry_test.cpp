#include "mixers/registry.hpp"

#include "mixers/mixer.hpp"
#include "random/stream.hpp"

#include <gtest/gtest.h>

#include <set>

namespace spectra::mixers {
namespace {

TEST(Registry, NamesAreUniqueAndFound) {
    std::set<std::string_view> seen;
    for (const auto& entry : registry()) {
        EXPECT_TRUE(seen.insert(entry.name).second) << entry.name;
        EXPECT_EQ(find_entry(entry.name), &entry);
        if (!entry.alias.empty()) {
            EXPECT_TRUE(seen.insert(entry.alias).second) << entry.alias;
            EXPECT_EQ(find_entry(entry.alias), &entry);
        }
        EXPECT_TRUE(entry.draw != nullptr || entry.from_raw != nullptr) << entry.name << " is of no use";
    }
    EXPECT_EQ(find_entry(""), nullptr);
    EXPECT_EQ(find_entry("caley"), nullptr);
}

TEST(Registry, EveryFamilyIsDrawnByItsEntry) {
    for (const auto& entry : registry()) {
        if (entry.draw == nullptr) {
            EXPECT_FALSE(find_family(entry.name)) << entry.name;
            continue;
        }
        EXPECT_EQ(find_family(entry.name), entry.family);
        EXPECT_EQ(name(entry.family), entry.name);
        Recipe recipe;
        recipe.family = entry.family;
        random::Stream one(3, random::Purpose::mixer, 0, 0), other(3, random::Purpose::mixer, 0, 0);
        EXPECT_EQ(draw(recipe, 4, one), entry.draw(recipe, 4, other)) << entry.name;
    }
}

TEST(Registry, RawNumbersTellTheStreams) {
    for (const auto& family : raw_names()) {
        const auto& entry = *find_entry(family);
        if (entry.raw_count == nullptr) {
            EXPECT_EQ(streams_of(family, 8), std::nullopt) << family << ": its rank is free";
            continue;
        }
        for (const int n : {2, 3, 4, 5}) {
            const auto count = entry.raw_count(static_cast<std::uint64_t>(n));
            EXPECT_EQ(streams_of(family, count), n) << family;
            const Mixer mixer = mixer_of(family, Eigen::VectorXd::Constant(static_cast<Eigen::Index>(count), 0.1), n);
            EXPECT_EQ(mixer.rows(), n) << family;
            EXPECT_TRUE(mixer.allFinite()) << family;
        }
    }
    EXPECT_EQ(streams_of("identity", 4), std::nullopt) << "it has no numbers";
}

}  // namespace
}  // namespace spectra::mixers
