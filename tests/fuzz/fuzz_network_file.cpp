#include "network/network_file.hpp"
#include "written_file.hpp"

using namespace spectra;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::must_read_or_refuse([&] { check(read_network(fuzz::open_hdf5(data, size), stored_network, "input")); });
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return file;
}
