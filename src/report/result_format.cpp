#include "report/result_format.hpp"

#include "h5/file.hpp"

#include <fmt/format.h>

#include <exception>
#include <stdexcept>
#include <string>

namespace spectra::report {

bool is_result_file(const h5::File& file) {
    try {
        return file.string_attribute("", "format") == std::string(format_name);
    } catch (const std::exception&) {
        return false;
    }
}

std::optional<std::string> stored_settings(const std::filesystem::path& path) {
    return h5::File::open_read(path).string_attribute("", "settings");
}

bool is_result_file(const std::filesystem::path& path) {
    try {
        return h5::is_hdf5(path) && is_result_file(h5::File::open_read(path));
    } catch (const std::exception&) {
        return false;
    }
}

void check_result_format(const h5::File& file, const std::string& name) {
    if (!is_result_file(file)) {
        throw std::invalid_argument(name + ": not a result file of spectra (attribute format is not \"" +
                                    format_name + "\")");
    }
    const auto version = file.integer_attribute("", "format_version");
    if (!version || *version < 1) {
        throw std::invalid_argument(name + ": result file without a valid format_version");
    }
    if (*version > format_version) {
        throw std::invalid_argument(
            fmt::format("{}: format version {}, this program reads up to {}", name, *version, format_version));
    }
}

}  // namespace spectra::report
