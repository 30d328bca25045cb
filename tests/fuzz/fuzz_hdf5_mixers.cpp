#include "network/mixer_file.hpp"
#include "use_mixers.hpp"
#include "written_file.hpp"

using namespace spectra;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::must_read_or_refuse([&] { fuzz::use(mixers_from_hdf5(fuzz::open_hdf5(data, size), "input")); });
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return file;
}
