// One of several processes: mpirun -n 3 ranks_test 3

#include "parallel/launch.hpp"

#include "parallel/rank_cases.hpp"

#include <cstdio>

int main(int argc, char** argv) {
    using namespace spectra;
    std::vector<std::string> failures;
    try {
        const auto ranks = parallel::open_ranks();
        const int size = ranks ? ranks->size() : 1;
        failures = tests::RankCases(ranks.get()).failures();
        if (argc != 2 || std::to_string(size) != argv[1])
            failures.push_back("there are " + std::to_string(size) + " ranks");
    } catch (const std::exception& error) {
        failures.emplace_back(error.what());
    }
    for (const auto& failure : failures) std::fprintf(stderr, "failed: %s\n", failure.c_str());
    return failures.empty() ? 0 : 1;
}
