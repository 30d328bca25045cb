#include "validation/requirements.hpp"

#include "target.hpp"

#include <cmath>

using namespace spectra;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto read = [&] {
        const auto all = validation::parse_requirements(fuzz::text(data, size));
        if (all.empty()) std::abort();
        std::string said;
        for (const auto& r : all) said += (said.empty() ? "" : ",") + words(r);
        // What is said of them is read as the same.
        const auto same = validation::parse_requirements(said);
        if (same.size() != all.size()) std::abort();
        for (std::size_t k = 0; k < all.size(); ++k)
            if (same[k].name != all[k].name || same[k].relation != all[k].relation ||
                same[k].threshold != all[k].threshold || !std::isfinite(all[k].threshold))
                std::abort();
    };
    fuzz::must_read_or_refuse(read, "");  // the command line names the option
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return file;
}
