#include "base/toml.hpp"

#include "target.hpp"

using namespace spectra;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto input = fuzz::text(data, size);
    fuzz::must_read_or_refuse([&] {
        for (const auto& entry : parse_toml(input, "input")) {
            if (entry.kind != TomlEntry::Kind::list && entry.values.size() != 1) std::abort();
            for (const auto& value : entry.values)
                if (parse_toml("k = " + toml_text(value), "input").at(0).values.at(0) != value) std::abort();
        }
    });
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return file;
}
