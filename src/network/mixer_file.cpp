#include "network/mixer_file.hpp"

#include "base/refuse.hpp"
#include "base/text.hpp"
#include "h5/file.hpp"
#include "network/from_json.hpp"
#include "network/network.hpp"
#include "weightfile/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

namespace spectra {

namespace {

using Rows = std::vector<std::vector<double>>;

/// `rows` as a square matrix; `layer` counts from 1; n = 0 allows any size.
Mixer to_mixer(const Rows& rows, std::size_t layer, std::size_t n, const std::string& where) {
    if (rows.empty() || rows.front().empty()) refuse(where, fmt::format("layer {} is empty", layer));
    const std::size_t columns = rows.front().size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].size() != columns)
            refuse(where,
                   fmt::format("layer {}, row {} has {} entries, but row 1 has {}; the matrix must be square",
                               layer, i + 1, rows[i].size(), columns));
        for (std::size_t j = 0; j < columns; ++j)
            if (!std::isfinite(rows[i][j]))
                refuse(where, fmt::format("layer {}, row {}, column {} is {}; must be a finite number", layer,
                                          i + 1, j + 1, rows[i][j]));
    }
    if (rows.size() != columns)
        refuse(where, fmt::format("layer {} is {}×{}; must be square", layer, rows.size(), columns));
    if (n != 0 && columns != n)
        refuse(where, fmt::format("layer {} is {}×{}, but layer 1 is {}×{}; layers must have the same size",
                                  layer, columns, columns, n, n));
    Mixer mixer(static_cast<Eigen::Index>(columns), static_cast<Eigen::Index>(columns));
    for (std::size_t i = 0; i < columns; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            mixer(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = rows[i][j];
    return mixer;
}

/// Layers and rows beyond the limits of a network are refused before they take memory.
void append(std::vector<Mixer>& mixers, const Rows& rows, const std::string& where) {
    if (mixers.size() == static_cast<std::size_t>(max_depth))
        refuse(where, fmt::format("has more than {} layers, which is the maximum", max_depth));
    const auto n = mixers.empty() ? std::size_t{0} : static_cast<std::size_t>(mixers.front().rows());
    mixers.push_back(to_mixer(rows, mixers.size() + 1, n, where));
}

Rows rows_from_json(const nlohmann::json& matrix, std::size_t layer, const std::string& where) {
    if (!matrix.is_array())
        refuse(where,
               fmt::format("layer {} is a JSON {}; must be an array of rows", layer, matrix.type_name()));
    Rows rows;
    rows.reserve(matrix.size());
    for (const auto& row : matrix) {
        if (!row.is_array())
            refuse(where, fmt::format("layer {}, row {} is a JSON {}; must be an array of numbers", layer,
                                      rows.size() + 1, row.type_name()));
        auto& numbers = rows.emplace_back();
        numbers.reserve(row.size());
        for (const auto& entry : row) {
            if (!entry.is_number())
                refuse(where, fmt::format("layer {}, row {}, column {} is a JSON {}; must be a finite number",
                                          layer, rows.size(), numbers.size() + 1, entry.type_name()));
            numbers.push_back(entry.get<double>());
        }
    }
    return rows;
}

/// L×n×n numbers in row-major order, not empty.
std::vector<Mixer> mixers_from_array(const std::vector<double>& values, std::size_t layers, std::size_t rows,
                                     std::size_t columns, const std::string& where) {
    std::vector<Mixer> mixers;
    mixers.reserve(std::min(layers, static_cast<std::size_t>(max_depth)));
    auto next = values.cbegin();
    for (std::size_t l = 0; l < layers; ++l) {
        Rows matrix(rows);
        for (auto& row : matrix) {
            row.assign(next, next + static_cast<std::ptrdiff_t>(columns));
            next += static_cast<std::ptrdiff_t>(columns);
        }
        append(mixers, matrix, where);
    }
    return mixers;
}

std::string lower_case_extension(const std::filesystem::path& path) {
    std::string extension = path.extension().string();
    for (char& c : extension)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return extension;
}

}  // namespace

std::vector<Mixer> mixers_from_json(const nlohmann::json& value, const std::string& where) {
    if (!value.is_array())
        refuse(where, fmt::format("is a JSON {}; must be an n×n or L×n×n array", value.type_name()));
    if (value.empty() || (value.front().is_array() && value.front().empty())) refuse(where, "is empty");
    const bool stacked = value.front().is_array() && value.front().front().is_array();
    std::vector<Mixer> mixers;
    if (!stacked) {
        append(mixers, rows_from_json(value, 1, where), where);
    } else {
        mixers.reserve(value.size());
        for (const auto& matrix : value)
            append(mixers, rows_from_json(matrix, mixers.size() + 1, where), where);
    }
    return mixers;
}

std::vector<Mixer> mixers_from_csv(const std::string& text, const std::string& where) {
    if (text.find('\0') != std::string::npos) refuse(where, "is neither JSON, HDF5, NumPy nor CSV");
    std::vector<Mixer> mixers;
    Rows rows;
    std::string_view rest = text;
    for (std::size_t number = 1; !rest.empty(); ++number) {
        const auto length = std::min(rest.find('\n'), rest.size());
        const auto whole = trimmed(rest.substr(0, length));
        rest.remove_prefix(std::min(length + 1, rest.size()));
        const auto line = trimmed(whole.substr(0, whole.find('#')));
        if (!line.empty()) {
            if (rows.size() == static_cast<std::size_t>(max_streams))
                refuse(where, fmt::format("layer {} has more than {} rows; must be at most {}×{}",
                                          mixers.size() + 1, max_streams, max_streams, max_streams));
            rows.push_back(numbers_of_line(line, number, where, "JSON, HDF5, NumPy or CSV"));
        } else if (whole.empty() && !rows.empty()) {
            append(mixers, rows, where);
            rows.clear();
        }
    }
    if (!rows.empty()) append(mixers, rows, where);
    if (mixers.empty()) refuse(where, "is empty; expected one n×n matrix, or L of them");
    return mixers;
}

std::vector<Mixer> mixers_from_hdf5(const h5::File& file, const std::string& where) {
    const bool plain = file.exists("mixers");
    if (!plain && !file.exists("network/mixers"))
        refuse(where, "has no dataset 'mixers'; expected 'mixers', n×n or L×n×n");
    h5::Shape shape;
    const auto values = file.read_doubles(plain ? "mixers" : "network/mixers", shape);
    if (shape.size() != 2 && shape.size() != 3)
        refuse(where, fmt::format("dataset 'mixers' has {} dimensions; must be n×n or L×n×n", shape.size()));
    const std::size_t layers = shape.size() == 3 ? shape[0] : 1;
    const std::size_t rows = shape[shape.size() - 2];
    const std::size_t columns = shape[shape.size() - 1];
    if (values.empty()) refuse(where, "dataset 'mixers' is empty");
    return mixers_from_array(values, layers, rows, columns, where);
}

std::vector<Mixer> mixers_from_numpy(std::span<const std::byte> file, const std::string& where) {
    const auto array = weightfile::read_numpy(file, where, "mixers");
    const auto& shape = array.shape;
    if (array.complex) refuse(where, "holds complex numbers; mixers must be real");
    if (shape.size() != 2 && shape.size() != 3)
        refuse(where, fmt::format("has shape {}; must be n×n or L×n×n", weightfile::shape_text(shape)));
    if (array.values.empty())
        refuse(where, fmt::format("has shape {}: it is empty", weightfile::shape_text(shape)));
    return mixers_from_array(array.values, shape.size() == 3 ? shape[0] : 1, shape[shape.size() - 2], shape.back(),
                             where);
}

std::vector<Mixer> read_mixers(const std::filesystem::path& path) {
    const std::string where = path.string();
    if (h5::is_hdf5(path)) return mixers_from_hdf5(h5::File::open_read(path), where);
    if (weightfile::is_numpy_file(path)) return mixers_from_numpy(weightfile::MappedFile(where).bytes(), where);
    const std::string text = read_text(path);
    const std::string extension = lower_case_extension(path);
    if (extension == ".npy" || extension == ".npz") refuse(where, "is not a NumPy file");
    if (extension == ".h5" || extension == ".hdf5" || extension == ".he5")
        refuse(where, "is not an HDF5 file");

    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) refuse(where, "is empty; expected JSON, HDF5, NumPy or CSV");
    if (extension != ".json" && text[first] != '[' && text[first] != '{') return mixers_from_csv(text, where);

    const auto json = parse_json(text, where);
    if (!json.is_object()) return mixers_from_json(json, where);
    const auto mixers = json.find("mixers");
    if (mixers == json.end())
        refuse(where, "has no key 'mixers'; expected an array, or an object with that key");
    return mixers_from_json(*mixers, where + ": mixers");
}

}  // namespace spectra
