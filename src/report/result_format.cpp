#include "report/result_format.hpp"

#include "h5/file.hpp"

#include <exception>
#include <string>

namespace spectra::report {

bool is_result_file(const h5::File& file) {
    try {
        return file.string_attribute("", "format") == std::string(format_name);
    } catch (const std::exception&) {
        return false;
    }
}

bool is_result_file(const std::filesystem::path& path) {
    try {
        return h5::is_hdf5(path) && is_result_file(h5::File::open_read(path));
    } catch (const std::exception&) {
        return false;
    }
}

}  // namespace spectra::report
