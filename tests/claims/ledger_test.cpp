#include "claims/ledger.hpp"

#include "claims/registry.hpp"
#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <set>

namespace spectra::claims {
namespace {

using testing::expect_refused;
using testing::TemporaryFolder;

TEST(Ledger, HasAllClaimsInOrderAndEachIsWhole) {
    const auto claims = ledger();
    ASSERT_EQ(claims.size(), 150U);
    for (std::size_t k = 0; k < claims.size(); ++k) {
        EXPECT_EQ(claims[k].id, "C" + std::to_string(k + 1));
        for (const auto& defect : defects(claims[k])) ADD_FAILURE() << claims[k].id << ": " << defect;
    }
}

TEST(Ledger, QuickClaimsAreThoseWithAComputation) {
    std::set<std::string> stored, computed;
    for (const auto& claim : ledger())
        if (claim.quick) stored.insert(claim.id);
    for (const auto& claim : quick_claims()) computed.emplace(claim.id);
    EXPECT_EQ(stored, computed);
    EXPECT_EQ(computed.size(), quick_claims().size()) << "one claim twice";
    EXPECT_EQ(find_quick("C38"), nullptr);
}

TEST(Ledger, IsThatOfTheFolder) {
    const auto embedded = ledger(), read = read_ledger(SPECTRA_DATA_DIR "/claims");
    ASSERT_EQ(embedded.size(), read.size());
    for (std::size_t k = 0; k < read.size(); ++k)
        EXPECT_EQ(embedded[k].statement, read[k].statement) << read[k].id;
}

TEST(Ledger, WritesWhatItReads) {
    const TemporaryFolder folder;
    auto claim = ledger().front();
    claim.numbers.front().value = 42;
    write(claim, folder.path());
    const auto read = read_ledger(folder.path());
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read.front().numbers.front().value, 42);
    EXPECT_EQ(file_name("C9"), "C009.json");
}

TEST(Ledger, RefusesFoldersThatAreNoLedger) {
    const TemporaryFolder folder;
    expect_refused([&] { read_ledger(folder.path()); }, {folder.path().string(), "no claims"});
    expect_refused([&] { read_ledger(folder.path() / "none"); }, {"no such folder"});
    const auto claim = ledger().front();
    write(claim, folder.path());
    std::filesystem::rename(folder.path() / "C001.json", folder.path() / "C002.json");
    expect_refused([&] { read_ledger(folder.path()); }, {"C002.json", "C001.json"});
    folder.write("C002.json", R"({"id": "X"})");
    expect_refused([&] { read_ledger(folder.path()); }, {"C002.json", "source"});
}

}  // namespace
}  // namespace spectra::claims
