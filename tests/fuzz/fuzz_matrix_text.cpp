#include "base/text.hpp"
#include "network/branch_law_file.hpp"
#include "network/from_json.hpp"
#include "network/mixer_file.hpp"
#include "target.hpp"
#include "use_mixers.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

using namespace spectra;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::text(data, size);
    fuzz::must_read_or_refuse([&] { fuzz::use(mixers_from_csv(text, "input")); });
    fuzz::must_read_or_refuse([&] { fuzz::use(mixers_from_json(parse_json(text, "input"), "input")); });
    fuzz::must_read_or_refuse([&] {
        const auto law = branch_law_from_text(text, "input");
        if (law.empty()) std::abort();
        for (const auto& set : law) {
            if (set.empty()) std::abort();
            for (const double value : set)
                if (!(value >= 0) || std::isinf(value)) std::abort();
        }
    });
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return file;
}
