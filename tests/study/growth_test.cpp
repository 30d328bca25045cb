#include "study/analysis.hpp"
#include "study/observer.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace spectra {
namespace {

/// Bytes of this process that are in memory.
std::size_t resident() {
    malloc_trim(0);
    std::size_t all = 0, pages = 0;
    std::ifstream("/proc/self/statm") >> all >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Theory, simulation and a result file, of another network each time.
void analyse(int number, const std::filesystem::path& folder) {
    constexpr std::array branches{"isotropic", "hyper-connection", "tied"};
    study::Request request;
    request.mixer = number % 2 == 0 ? "bistochastic" : "cayley";
    request.branch = branches[static_cast<std::size_t>(number) % branches.size()];
    request.depth = 2 + number % 3;
    request.streams = 2;
    request.width = 4;
    request.seed = static_cast<std::uint64_t>(number);
    request.samples = 4;
    request.samples_given = true;
    request.plots.clear();
    request.out = (folder / "a").string();
    request.force = true;
    study::Observer observer;
    const auto report = study::analyse(request, "test", observer);
    ASSERT_TRUE(report);
    ASSERT_EQ(report->theories.front().summary.certified, true) << number;
}

// A minute: ctest -C Full -L full. The first hundred fill the pools of allocators and libraries.
TEST(Growth, DISABLED_AThousandAnalysesInOneProcessTakeNoMoreMemory) {
    constexpr double most = 4096;  // bytes per analysis: a page, what an allocator's pools fluctuate by
    const testing::TemporaryFolder folder;
    int number = 0;
    for (; number < 100; ++number) analyse(number, folder.path());
    const auto early = static_cast<double>(resident());
    for (; number < 1000; ++number) analyse(number, folder.path());
    const double growth = (static_cast<double>(resident()) - early) / 900;
    RecordProperty("bytes_per_analysis", std::to_string(growth));
    std::cout << "after 100: " << early / 1e6 << " MB; growth: " << growth << " bytes per analysis\n";
    EXPECT_LT(growth, most);
}

}  // namespace
}  // namespace spectra
