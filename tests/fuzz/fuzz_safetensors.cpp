#include "checkpoint/safetensors.hpp"

#include "target.hpp"
#include "use_file.hpp"

using namespace spectra;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto input = fuzz::bytes(data, size);
    fuzz::must_read_or_refuse([&] { checkpoint::read_safetensors(input, "input"); });
    if (checkpoint::looks_like_safetensors(input))
        fuzz::must_read_or_refuse([&] { fuzz::use(checkpoint::TensorFile::from_bytes(input, "input")); });
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return checkpoint::looks_like_safetensors(checkpoint::as_bytes(file)) ? file : "";
}
