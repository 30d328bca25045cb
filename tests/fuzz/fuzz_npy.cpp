#include "network/branch_law_file.hpp"
#include "network/mixer_file.hpp"
#include "weightfile/npy.hpp"
#include "weightfile/zip.hpp"

#include "target.hpp"
#include "use_mixers.hpp"

#include <cmath>

using namespace spectra;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto input = fuzz::bytes(data, size);
    fuzz::must_read_or_refuse([&] {
        const auto array = weightfile::read_numpy(input, "input", "mixers");
        const auto count = weightfile::element_count(array.shape);
        if (!count || array.values.size() != *count * (array.complex ? 2 : 1)) std::abort();
    });
    fuzz::must_read_or_refuse([&] { fuzz::use(mixers_from_numpy(input, "input")); });
    fuzz::must_read_or_refuse([&] {
        for (const auto& set : branch_law_from_numpy(input, "input"))
            for (const double value : set)
                if (!(value >= 0) || std::isinf(value)) std::abort();
    });
    return 0;
}

std::string fuzz_input(const std::string& file) {
    const auto bytes = weightfile::as_bytes(file);
    return weightfile::looks_like_npy(bytes) || weightfile::looks_like_zip(bytes) ? file : "";
}
