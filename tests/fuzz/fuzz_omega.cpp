#include "console/values.hpp"
#include "target.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

using namespace spectra;

namespace {

void read(const std::string& value) {
    const auto points = console::to_omega("--omega", value);
    if (points.empty()) std::abort();
    for (const auto& omega : points)
        if (!std::isfinite(omega.real()) || !std::isfinite(omega.imag()) || !(omega.imag() > 0)) std::abort();
}

/// As the content of a file, which stays in memory.
void read_as_file(const std::string& text) {
    static const int file = memfd_create("omega", 0);
    if (file < 0 || ftruncate(file, 0) != 0) std::abort();
    if (pwrite(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) std::abort();
    fuzz::must_read_or_refuse([] { read("/proc/self/fd/" + std::to_string(file)); }, "--omega");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::text(data, size);
    read_as_file(text);
    // As it is typed, which no NUL can be; nor is it the name of a file.
    std::error_code ignored;
    if (text.find_first_of(std::string_view("/\0", 2)) == text.npos && !std::filesystem::exists(text, ignored))
        fuzz::must_read_or_refuse([&] { read(text); }, "--omega");
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return file;
}
