#include "weightfile/gguf.hpp"

#include "target.hpp"
#include "use_file.hpp"

using namespace spectra;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto input = fuzz::bytes(data, size);
    if (weightfile::looks_like_gguf(input))
        fuzz::must_read_or_refuse([&] { fuzz::use(weightfile::TensorFile::from_bytes(input, "input")); });
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return weightfile::looks_like_gguf(weightfile::as_bytes(file)) ? file : "";
}
