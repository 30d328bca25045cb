#include "written_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>

using namespace spectra;

namespace {

template <class T>
std::string shown(const std::optional<T>& value) {
    return value ? fmt::format("{}", *value) : "none";
}

/// Everything that can be asked of what is at `path`.
void list(const h5::File& file, const std::string& path) {
    fmt::print("{} group {} dataset {}\n", path, file.is_group(path), file.is_dataset(path));
    for (const auto& name : file.attributes(path))
        fmt::print("  @{} text {} double {} signed {} unsigned {}\n", name, shown(file.string_attribute(path, name)),
                   shown(file.double_attribute(path, name)), shown(file.integer_attribute(path, name)),
                   shown(file.unsigned_attribute(path, name)));
    try {
        h5::Shape shape;
        const auto values = file.read_doubles(path, shape);
        const auto integers = file.read_integers(path, shape);
        const auto bytes = file.read_bytes(path, shape);
        for (std::size_t k = 0; k < values.size(); ++k) {
            fmt::print("  {}", values[k]);
            // What the library makes of an integer that is NaN depends on the processor.
            if (!std::isnan(values[k])) fmt::print(" {} {}", integers[k], bytes[k]);
        }
        fmt::print("  shape");
        for (const auto size : shape) fmt::print(" {}", size);
        fmt::print("\n");
        (void)file.columns(path);
    } catch (const std::invalid_argument& error) {
        fmt::print("  {}\n", error.what());
    }
    for (const auto& name : file.children(path)) list(file, path + "/" + name);
}

}  // namespace

/// listing FILE…: what h5::File finds in files that are written as lines.
int main(int argc, char** argv) {
    for (int k = 1; k < argc; ++k) {
        std::ifstream in(argv[k]);
        const std::string lines(std::istreambuf_iterator<char>(in), {});
        // The second time with lines that name odd paths.
        for (const std::string more : {"", "d //a//./b 2 1e300 -7.9\nD a/b x 2\nI a/b y -1\nU / z 18446744073709551615\n"
                                           "g a\nd a 1 1\ni network 1 2\nS nowhere x y\n"})
            list(fuzz::written_file(lines + "\n" + more), "");
    }
}
