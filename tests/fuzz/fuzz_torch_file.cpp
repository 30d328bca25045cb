#include "weightfile/zip.hpp"

#include "target.hpp"
#include "use_file.hpp"

using namespace spectra;

namespace {

/// Checksums of 0 are not compared: with them hardly a changed byte would come to the pickle.
std::string without_checksums(std::string file) {
    constexpr std::size_t place = 16;
    for (std::size_t at = file.find("PK\x01\x02"); at != file.npos; at = file.find("PK\x01\x02", at + 4))
        if (at + place + 4 <= file.size()) file.replace(at + place, 4, 4, '\0');
    return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string file = without_checksums({reinterpret_cast<const char*>(data), size});
    fuzz::must_read_or_refuse(
        [&] { fuzz::use(weightfile::TensorFile::from_bytes(weightfile::as_bytes(file), "input")); });
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return weightfile::looks_like_zip(weightfile::as_bytes(file)) ? file : "";
}
